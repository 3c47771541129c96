"""Dolmen as a backend of membench: `store(items)`, `search(query, k)`, `close()`, on the services themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bench.quality.embeddings import Question, VectorCache
from dolmen.domain.memory import BATCH_LIMIT, CONTENT_LIMIT
from dolmen.domain.text import passages
from dolmen.models.contract import Embedder
from dolmen.services import upkeep
from dolmen.services.accounts import local_actor
from dolmen.services.journal import JournalBuffer
from dolmen.services.recall import LIMIT, recall
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory, Recall, Remembered
from dolmen.services.runtime import Options, Runtime
from dolmen.services.scoping import visible
from dolmen.services.search import prepare, search
from dolmen.store.opening import open_store

if TYPE_CHECKING:
    from dolmen.models.contract import Vector, Vectors

Leg = Literal["words", "meaning", "fused"]
LEGS: tuple[Leg, ...] = ("words", "meaning", "fused")
Item = tuple[str, str, str | None]
BUDGET = 32_000


class CachedEmbedder:
    """The embedded model with every vector kept in a file between runs."""

    def __init__(self, embedder: Embedder, folder: Path) -> None:
        self.model, self.dim, self.ready = embedder.model, embedder.dim, True
        self._cache = VectorCache(embedder, folder)
        self._questions: dict[str, Question] = {}

    def warm(self) -> None:
        """Loads when the first text is new."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return self._cache.documents(list(texts))

    def embed_query(self, text: str) -> Vector:
        return self._question(text)[0]

    def unrelated(self, text: str) -> float | None:
        return self._question(text)[1]

    def close(self) -> None:
        """Nothing that the next corpus would not need."""

    def _question(self, text: str) -> Question:
        if text not in self._questions:
            [self._questions[text]] = self._cache.questions([text])
        return self._questions[text]


class Ids:
    """Which documents a memory stands for: a long document is several memories, equal ones are one memory."""

    def __init__(self) -> None:
        self._documents: dict[str, list[str]] = defaultdict(list)
        self.split = False
        self.refused: dict[str, str] = {}
        """Documents that were not stored, and why."""

    def note(self, document: str, result: Remembered) -> None:
        if result.ref is None:
            self.refused[document] = str((result.error or {}).get("code", result.outcome))
        else:
            self._documents[result.ref].append(document)

    def best(self, refs: Iterable[str], k: int) -> list[str]:
        return list(dict.fromkeys(document for ref in refs for document in self._documents[ref]))[:k]


class Services:
    """One corpus in one fresh store."""

    def __init__(self, url: str, embedder: Embedder | None) -> None:
        store = open_store(url)
        # Embedded after everything is stored, in one go, as an import is.
        self._rt = Runtime(store, embedder, JournalBuffer(store), Options(inline_embeddings=0))
        self._by_words = replace(self._rt, embedder=None)
        self._actor = local_actor(self._rt, agent="bench")
        self.ids = Ids()

    def store(self, items: Sequence[Item]) -> None:
        pieces = [(document, piece, created) for document, text, created in items for piece in cut(text)]
        self.ids.split = len(pieces) > len(items)
        session = sessions(items)
        for at in range(0, len(pieces), BATCH_LIMIT):
            batch = pieces[at : at + BATCH_LIMIT]
            new = [
                NewMemory(content=text, source=id, created_at=microseconds(created), session=session(created))
                for id, text, created in batch
            ]
            for (document, *_), result in zip(batch, remember(self._rt, self._actor, new), strict=True):
                self.ids.note(document, result)
        upkeep.backfill(self._rt)

    def search(self, query: str, k: int, leg: Leg = "fused") -> list[str]:
        limit = min(LIMIT, 3 * k) if self.ids.split else k
        return self.ids.best(self._refs(query, limit, leg), k)

    def close(self) -> None:
        self._rt.journal.close()
        self._rt.store.close()

    def _refs(self, query: str, limit: int, leg: Leg) -> list[str]:
        if leg == "meaning":
            return self._by_meaning(query, limit)
        rt = self._rt if leg == "fused" else self._by_words
        pack = recall(rt, self._actor, Recall(query=query, limit=limit, budget_tokens=BUDGET, record=False))
        return [ref for claim in pack.claims for ref in (claim.ref, *claim.also)]

    def _by_meaning(self, query: str, limit: int) -> list[str]:
        """The same search as every recall, but for the words."""
        prepared = replace(prepare(self._rt, query), tokens=())
        with self._rt.store.read() as tx:
            found = search(tx, visible(tx, self._actor, None), prepared, limit=limit).found[:limit]
        return [each.memory for each in found]


def cut(text: str) -> list[str]:
    """The text as memories: whole where the limit allows, else in pieces."""
    if len(text) <= CONTENT_LIMIT:
        return [text] if text.strip() else []
    return [piece for start, end in passages(text, target=CONTENT_LIMIT) if (piece := text[start:end]).strip()]


def sessions(items: Sequence[Item]) -> Callable[[str | None], str | None]:
    """The session of a document, by its time: the turns of one sitting carry one time. Where most documents carry the
    same time, it is that of an import, and there are no sessions."""
    times = Counter(created for _, _, created in items)
    told = 2 * max(times.values(), default=0) <= len(items)
    return lambda created: created if told else None


def microseconds(moment: str | None) -> int | None:
    """ISO 8601, UTC when it names no zone."""
    if moment is None:
        return None
    when = datetime.fromisoformat(moment)
    return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()) * 1_000_000


NewBackend = Callable[[], Services]
