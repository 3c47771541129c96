"""What is already stored and says nearly the same (C-111): shown to the writer, who decides."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from dolmen.domain.memory import HANDOFF, SUMMARY, Memory
from dolmen.domain.text import analyze, shared_trigrams, trigrams, weight
from dolmen.services.indexing import Embedded
from dolmen.services.requests import Similar
from dolmen.services.runtime import Runtime
from dolmen.store.contract import Filter, Tx

if TYPE_CHECKING:
    from dolmen.models.contract import Vector

_SHOWN = 3
_CANDIDATES = 12
_COMMON = 300
"""A token in more passages than this tells two statements apart too little to look for."""
_ASKED = 16
"""Tokens whose rarity is looked up: of a text of many, the identifiers and the longest words."""
_SHARED = 0.25
"""Less than this share of its tokens in the other text, and a text cannot share half of its trigrams with it."""
_ONE_PASSAGE = 500
"""Characters up to which a text and any near copy of it are indexed whole, in one passage."""
_EXCERPT = 240
_UNRELATED = 0.8
"""The most that is taken for the cosine of unrelated texts where a vault has too few to tell: some models never give
much less, and all give more to two texts that say the same."""


def similar(
    rt: Runtime, tx: Tx, memory: Memory, embedded: Embedded, leave_out: Collection[str] = ()
) -> tuple[Similar, ...]:
    """Up to three active memories of the same scope that are close to the new one.

    Close means a calibrated cosine of at least 1 - `max_distance`, or a trigram similarity of at least
    `similar_trigrams`. Session summaries and temporary states such as handoffs are neither checked nor shown.
    """
    if _passing(memory):
        return ()
    near = Filter(vault=memory.vault, scopes=(memory.scope,), now=tx.now)
    by_meaning = _by_meaning(rt, tx, near, embedded)
    close = {id: score for id, score in by_meaning.items() if score >= 1 - rt.options.max_distance}
    candidates = _by_words(tx, near, memory.text)
    skip = {memory.id, *leave_out}
    found = tx.memories.many(memory.vault, [id for id in candidates | set(close) if id not in skip])
    scored: list[tuple[float, Memory]] = []
    own = trigrams(memory.text)
    for other in found.values():
        if _passing(other):
            continue
        alike = shared_trigrams(own, trigrams(other.text))
        if other.id in close or alike >= rt.options.similar_trigrams:
            scored.append((max(alike, close.get(other.id, 0.0)), other))
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    return tuple(Similar(other.id, other.text[:_EXCERPT], round(score, 3), other) for score, other in scored[:_SHOWN])


def _passing(memory: Memory) -> bool:
    return memory.label in (HANDOFF, SUMMARY) or (memory.kind == "state" and memory.expires_at is not None)


def _by_words(tx: Tx, near: Filter, text: str) -> set[str]:
    """Memories that share enough rare words to be compared letter by letter, which costs more than finding them."""
    tokens = dict.fromkeys(analyze(text, query=True))
    hits = tx.index.match(near, _telling(tx, near, list(tokens)), _CANDIDATES)
    if len(text) > _ONE_PASSAGE:
        return {hit.memory for hit in hits}
    enough = _SHARED * len(tokens)
    return {hit.memory for hit in hits if len(tokens.keys() & hit.tokens.split(" ")) >= enough}


def _telling(tx: Tx, near: Filter, tokens: Sequence[str]) -> list[str]:
    """The rarer tokens of a text, which a near copy would share."""
    asked = sorted(tokens, key=lambda token: (-weight(token), -len(token)))[:_ASKED]
    _, counts = tx.index.frequencies(near, asked, _COMMON)
    return sorted((t for t in asked if 0 < counts.get(t, 0) <= _COMMON), key=lambda t: counts[t])[:_CANDIDATES]


def _by_meaning(rt: Runtime, tx: Tx, near: Filter, embedded: Embedded) -> dict[str, float]:
    """Calibrated cosine per memory: 0 where two unrelated texts of the vault are, 1 for the same text."""
    if len(embedded.vectors) != 1:
        return {}
    model = tx.index.model(embedded.model, embedded.dim, tx.now)
    query: Vector = embedded.vectors[0]
    hits = tx.index.nearest(near, model, query, _CANDIDATES)
    mean, _ = tx.index.background(near, model, query) or (_of_few([hit.score for hit in hits]), 0.0)
    return {hit.memory: max(0.0, (hit.score - mean) / (1 - mean)) for hit in hits if mean < 1}


def _of_few(cosines: Sequence[float]) -> float:
    """What unrelated texts have, told from the few that there are."""
    return min((_UNRELATED, *cosines))
