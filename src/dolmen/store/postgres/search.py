"""The search index of the PostgreSQL engine: `tsvector` and GIN for tokens, pgvector for meaning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dolmen.store.contract import Filter, IndexHealth, Pending
from dolmen.store.postgres.meaning import MeaningSearch, SharedVectors
from dolmen.store.postgres.passages import PassageWriter
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.postgres.sight import Sights
from dolmen.store.postgres.words import Common, WordSearch
from dolmen.store.repositories.numbers import ScopeNumbers

if TYPE_CHECKING:
    from dolmen.store.contract import Vector


class SharedIndex:
    """What a process remembers of the index between transactions; nothing in it has to be right."""

    def __init__(self) -> None:
        self.common: Common = {}
        self.vectors = SharedVectors()


class PostgresIndex(PassageWriter):
    """Implements `contract.Index` and `indexing.EngineIndex`, for one transaction."""

    def __init__(self, session: PostgresSession, numbers: ScopeNumbers, shared: SharedIndex) -> None:
        super().__init__(session, numbers)
        self._sights = Sights(session, numbers)
        self._words = WordSearch(session, self._sights, shared.common)
        self.frequencies, self.match = self._words.frequencies, self._words.match
        self.likeliest = self._words.likeliest
        self._meaning = MeaningSearch(session, self._sights, shared.vectors)
        self.model, self.find_model = self._meaning.model, self._meaning.find_model
        self.nearest, self.background = self._meaning.nearest, self._meaning.background
        self.set_vectors = self._meaning.set_vectors

    def changed(self) -> None:
        self._sights.forget()
        self._words.forget()

    def cosines(self, vault: str, model: int, query: Vector, passages: Sequence[int]) -> dict[int, float]:
        return self._meaning.cosines(vault, model, query, list(passages))

    def vectors(self, vault: str, model: int, memories: Sequence[str]) -> dict[str, Vector]:
        return self._meaning.of_memories(vault, model, list(memories))

    def pending(self, model: int, limit: int) -> list[Pending]:
        rows = self._session.all(self._sql["pending"], {"model": model, "limit": limit})
        return [
            Pending(vault=vault, passage=id, memory=memory, text=(text or "")[start:end])
            for id, memory, vault, start, end, text in rows
        ]

    def health(self, filter: Filter, model: int | None) -> IndexHealth:
        sight = self._sights.look(filter)
        asked = {"vault": filter.vault, "scopes": list(sight.scopes)}
        totals: dict[int, int] = dict(self._session.all(self._sql["totals"], asked))
        others = [each for each in totals if each != model]
        oldest = self._session.one(self._sql["oldest_pending"], {**asked, "others": others}) if others else None
        return IndexHealth(
            passages=sum(totals.values()),
            embedded=totals.get(model or 0, 0) if model else 0,
            oldest_pending_at=oldest[0] if oldest else None,
            models=dict(self._session.all(self._sql["models"], asked)),
        )

    def spans(self, vault: str, passages: Sequence[int]) -> dict[int, tuple[int, int]]:
        rows = self._session.all(self._sql["spans"], {"vault": vault, "ids": list(passages)}) if passages else []
        return {id: (start, end) for id, start, end in rows}
