"""The first stage, inside the caller's transaction: filter, words and meaning, fusion, signals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from dolmen.domain.memory import Memory
from dolmen.domain.ranking import POOL, Lexical, Ranked, fuse, order
from dolmen.domain.text import analyze
from dolmen.domain.timeframe import Range, mentioned
from dolmen.services.search.legs import COMMON, candidates
from dolmen.services.search.query import Query
from dolmen.services.search.weighing import facts_of, weighed
from dolmen.store.contract import Filter, Hit, Tx

_SPARE = 10


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
    exact: bool = False
    """It has the identifier that the question is about, and is not stale."""


@dataclass(frozen=True, slots=True)
class Result:
    """What a search found, best first, and how it went."""

    found: tuple[Found, ...]
    memories: Mapping[str, Memory]
    legs: tuple[str, ...]
    """The legs that ran: `words`, `meaning`, `reranked`."""
    notes: tuple[str, ...]
    """What went wrong, and what was done without."""
    frequencies: Mapping[str, int]
    """Per query token: passages in sight that have it."""
    ranges: tuple[Range, ...] = ()
    """The times that the question names: what is of them was lifted."""
    passages: int = 0
    """How many are in sight; 0 when nobody counted."""

    @property
    def searched(self) -> bool:
        """Whether it was ranked, not listed."""
        return "words" in self.legs and "newest" not in self.legs


NOTHING = Result((), {}, (), (), {})
"""Where nothing was asked."""


def search(tx: Tx, sight: Filter, query: Query, *, limit: int, explain: bool = False) -> Result:
    """The best memories in sight, at least `limit` where there are so many; those below the floor are no answer and are
    left out (B023)."""
    ranges = mentioned(query.text, sight.now, query.zone)
    pool = candidates(tx, sight, _without_times(tx, sight, query, ranges), limit)
    ranked = _front(
        fuse(pool.lexical, pool.cosines, pool.background, pool.setting),
        pool.hits,
        POOL if query.recent or ranges else limit + _SPARE,
    )
    memories = _memories(tx, sight, [pool.hits[r.id].memory for r in ranked])
    best: dict[str, tuple[tuple[float, ...], Found]] = {}
    for r in ranked:
        hit = pool.hits[r.id]
        memory = memories.get(hit.memory)
        if memory is None:
            continue
        facts = facts_of(memory, sight.now)
        score = weighed(r.score, memory, facts, query, ranges)
        exact = r.exact and facts.code_holds
        key = (float(not exact), *order(score, facts))
        if hit.memory not in best or key < best[hit.memory][0]:
            parts = _parts(r, pool.lexical.get(r.id), pool.cosines.get(r.id)) if explain else {}
            best[hit.memory] = (key, Found(hit.memory, r.id, score, hit.tokens, parts, r.weak, exact))
    found = [entry for _, entry in sorted(best.values(), key=lambda pair: pair[0])]
    legs = ("words",) if query.vector is None else ("words", "meaning")
    return Result(tuple(found), memories, legs, query.notes, pool.frequencies, ranges, pool.total)


def _without_times(tx: Tx, sight: Filter, query: Query, ranges: Sequence[Range]) -> Query:
    """A time that was understood says nothing against memories that do not name it in words."""
    if not ranges:
        return query
    times = {token for each in ranges for token in analyze(each.words, query=True)}
    _, named = tx.index.frequencies(sight, sorted(times), COMMON)
    return replace(query, tokens=tuple(t for t in query.tokens if t not in times or named.get(t, 0)))


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


def _memories(tx: Tx, sight: Filter, ids: list[str]) -> Mapping[str, Memory]:
    unique = list(dict.fromkeys(ids))
    if sight.as_of is not None:
        return tx.memories.at(sight.vault, unique, sight.as_of)
    return tx.memories.many(sight.vault, unique)


def _parts(ranked: Ranked[int], words: Lexical | None, cosine: float | None) -> dict[str, Any]:
    out: dict[str, Any] = {"fused": round(ranked.score, 4), "words": round(ranked.lexical, 4), "exact": ranked.exact}
    if words is not None:
        out |= {"bm25": round(words.score, 3), "coverage": round(words.coverage, 3)}
    if ranked.vector is not None and cosine is not None and math.isfinite(cosine):
        out |= {"meaning": round(ranked.vector, 4), "cosine": round(cosine, 4)}
    if ranked.context:
        out["context"] = round(ranked.context, 4)
    return out
