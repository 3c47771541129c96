"""Graph expansion (C-152): what stands one edge away from the best candidates.

Only with a reranker, which says whether such a neighbour answers; on first-stage scores it changed the order for the
worse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from dolmen.domain.lifting import NEIGHBOUR
from dolmen.domain.memory import Memory
from dolmen.services.search.first import Found, Result
from dolmen.store.contract import Filter, Tx

SEEDS = 8
"""The best candidates whose neighbours are looked for."""
_SESSIONS, _SIBLINGS = 4, 8
_MOST = 64
"""Neighbours that are read."""


@dataclass(frozen=True, slots=True)
class Joined:
    """The candidates with their neighbours, best first, and the neighbours' memories."""

    found: tuple[Found, ...]
    memories: Mapping[str, Memory]


def expanded(tx: Tx, sight: Filter, result: Result) -> Joined:
    """The candidates of a search and those that joined them. A neighbour is seen only if it passes the same filter."""
    seeds = result.found[:SEEDS]
    linked = _linked(tx, sight.vault, seeds)
    known = {found.memory for found in result.found}
    asked = [id for id in linked if id not in known][:_MOST]
    seen = {m.id: m for m in tx.memories.select(replace(sight, ids=tuple(asked)), limit=_MOST)} if asked else {}
    for sibling, score in _siblings(tx, sight, seeds, result.memories):
        if sibling.id not in known:
            seen.setdefault(sibling.id, sibling)
        linked[sibling.id] = max(score, linked.get(sibling.id, 0.0))
    joined = [replace(found, score=max(found.score, linked.get(found.memory, 0.0))) for found in result.found]
    joined += [Found(id, 0, linked[id], weak=True) for id in seen]
    joined.sort(key=lambda found: (not found.exact, -found.score))
    return Joined(tuple(joined), seen)


def _linked(tx: Tx, vault: str, seeds: Sequence[Found]) -> dict[str, float]:
    """Memories at the other end of an edge, whatever it says, with the score that they join with."""
    scores = {found.memory: found.score * NEIGHBOUR for found in seeds}
    linked: dict[str, float] = {}
    for edge in tx.links.around(vault, list(scores)):
        for near, far in ((edge.source, edge.target), (edge.target, edge.source)):
            if near in scores and far != near:
                linked[far] = max(linked.get(far, 0.0), scores[near])
    return linked


def _siblings(
    tx: Tx, sight: Filter, seeds: Sequence[Found], memories: Mapping[str, Memory]
) -> list[tuple[Memory, float]]:
    """What came from the same sessions."""
    if sight.session is not None:
        return []
    best: dict[str, float] = {}
    for found in seeds:
        if session := memories[found.memory].session:
            best.setdefault(session, found.score * NEIGHBOUR)
    return [
        (memory, score)
        for session, score in list(best.items())[:_SESSIONS]
        for memory in tx.memories.select(replace(sight, session=session), limit=_SIBLINGS)
    ]
