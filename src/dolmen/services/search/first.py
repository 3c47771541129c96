"""The first stage, inside the caller's transaction: filter, words and meaning, fusion, signals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dolmen.domain.memory import Memory
from dolmen.domain.ranking import POOL, Background, Facts, Lexical, Ranked, bm25, fuse, order, signals
from dolmen.domain.text import weight
from dolmen.services.search.query import Query
from dolmen.store.contract import Filter, Hit, Tx

_ALONE = 64
"""Candidates whose tokens are looked at when words decide alone."""
COMMON = 1_000
"""A token in more passages than this does not choose candidates while rarer ones do; it still scores them."""
_SPARE = 10
CANDIDATES = 2_000
"""Passages that the candidate tokens may touch together: what keeps recall flat as a vault grows."""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that answers, with its best passage."""

    memory: str
    passage: int
    score: float
    tokens: str = ""
    """The passage's tokens, joined by spaces; empty when no search leg has read them."""
    parts: Mapping[str, Any] = field(default_factory=dict)
    weak: bool = False
    """Neither leg is sure of it: near the question, perhaps no answer (B023)."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a search found, best first, and how it went."""

    found: tuple[Found, ...]
    memories: Mapping[str, Memory]
    legs: tuple[str, ...]
    """The legs that ran: `words`, `meaning`."""
    notes: tuple[str, ...]
    frequencies: Mapping[str, int]
    """Per query token: passages in sight that have it."""


def search(tx: Tx, sight: Filter, query: Query, *, limit: int, explain: bool = False) -> Result:
    """The best memories in sight, at most `limit`; those below the floor are no answer and are left out (B023)."""
    total, counts = tx.index.frequencies(sight, query.tokens, COMMON) if query.tokens else (0, {})
    # Beside vectors each candidate may still matter; words alone decide among those that they put first.
    keep = max(_ALONE if query.vector is None else 2 * POOL, 2 * limit)
    chosen = choose(query.tokens, counts)
    words, average = tx.index.likeliest(sight, chosen, max(2 * POOL, 2 * limit), keep)
    lexical = bm25(query.tokens, _Tokens(words), max(total, len(words)), counts, average)
    lexical = _best(lexical, max(POOL, limit))
    hits = {hit.passage: hit for hit in words}
    cosines, background = _meaning(tx, sight, query, hits, list(lexical), max(POOL, limit), total)
    ranked = _front(fuse(lexical, cosines, background), hits, POOL if query.recent else 2 * limit + _SPARE)
    memories = _memories(tx, sight, [hits[r.id].memory for r in ranked])
    best: dict[str, tuple[tuple[float, ...], Found]] = {}
    for r in ranked:
        hit = hits[r.id]
        memory = memories.get(hit.memory)
        if memory is None:
            continue
        facts = Facts(
            age=max(0, sight.now - memory.updated_at),
            code_gone=memory.attrs.get("code") == "gone",
            code_changed=memory.attrs.get("code") == "changed",
            importance=memory.importance,
            verified=memory.verification == "verified",
        )
        score = signals(r.score, facts, recent=query.recent)
        key = (float(not r.exact), *order(score, facts))
        if hit.memory not in best or key < best[hit.memory][0]:
            parts = (
                _parts(r.lexical, lexical.get(r.id), r.vector, cosines.get(r.id), r.exact, r.score) if explain else {}
            )
            best[hit.memory] = (key, Found(hit.memory, r.id, score, hit.tokens, parts, r.weak))
    found = [entry for _, entry in sorted(best.values(), key=lambda pair: pair[0])]
    legs = ("words",) if query.vector is None else ("words", "meaning")
    return Result(tuple(found[:limit]), memories, legs, query.notes, counts)


class _Tokens(Mapping[int, list[str]]):
    """The tokens of each passage, split when it is its turn: all at once they are a megabyte of small strings, and
    getting that from the system and giving it back took a quarter of a recall."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._texts = {hit.passage: hit.tokens for hit in hits}

    def __getitem__(self, passage: int) -> list[str]:
        return self._texts[passage].split(" ")

    def __iter__(self) -> Iterator[int]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def _front(ranked: Sequence[Ranked[int]], hits: Mapping[int, Hit], most: int) -> list[Ranked[int]]:
    """The passages of the first `most` memories: signals change the order little, and each memory read costs time."""
    seen: set[str] = set()
    front: list[Ranked[int]] = []
    for entry in ranked:
        memory = hits[entry.id].memory
        if memory not in seen and len(seen) == most:
            continue
        seen.add(memory)
        front.append(entry)
    return front


def choose(tokens: tuple[str, ...], counts: Mapping[str, int]) -> list[str]:
    """The tokens that pick candidates: the rarest first, until they would touch too many passages."""
    present = sorted((t for t in tokens if counts.get(t, 0) > 0), key=lambda t: (counts[t], -weight(t)))
    chosen: list[str] = []
    touched = 0
    for token in present:
        if chosen and touched + counts[token] > CANDIDATES:
            break
        chosen.append(token)
        touched += counts[token]
    return chosen


def _best(lexical: Mapping[int, Lexical], most: int) -> dict[int, Lexical]:
    ranked = sorted(lexical.items(), key=lambda pair: (not pair[1].exact, -pair[1].score))
    return dict(ranked[:most])


def _meaning(
    tx: Tx, sight: Filter, query: Query, hits: dict[int, Hit], others: list[int], most: int, total: int
) -> tuple[dict[int, float], Background | None]:
    """Cosines of the nearest passages and of those that the words found; adds the new passages to `hits`."""
    if query.vector is None:
        return {}, None
    model = tx.index.find_model(query.model, query.dim)
    if model is None:
        return {}, None
    near = tx.index.nearest(sight, model, query.vector, most)
    cosines = {hit.passage: hit.score for hit in near}
    for hit in near:
        hits.setdefault(hit.passage, hit)
    missing = [id for id in others if id not in cosines]
    if missing:
        cosines.update(tx.index.cosines(sight.vault, model, query.vector, missing))
    mean, deviation = tx.index.background(sight, model, query.vector) or (None, None)
    return cosines, Background(mean, deviation, query.unrelated, total)


def _memories(tx: Tx, sight: Filter, ids: list[str]) -> Mapping[str, Memory]:
    unique = list(dict.fromkeys(ids))
    if sight.as_of is not None:
        return tx.memories.at(sight.vault, unique, sight.as_of)
    return tx.memories.many(sight.vault, unique)


def _parts(
    text: float, words: Lexical | None, vector: float | None, cosine: float | None, exact: bool, fused: float
) -> dict[str, Any]:
    out: dict[str, Any] = {"fused": round(fused, 4), "words": round(text, 4), "exact": exact}
    if words is not None:
        out |= {"bm25": round(words.score, 3), "coverage": round(words.coverage, 3)}
    if vector is not None and cosine is not None and math.isfinite(cosine):
        out |= {"meaning": round(vector, 4), "cosine": round(cosine, 4)}
    return out
