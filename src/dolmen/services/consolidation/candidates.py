"""Pairs of memories that may say the same or contradict each other: found by their words and their vectors, no model.

A few memories are looked up in the search index one by one. Many (the first look at a vault) are compared with each
other in memory: the same rules, at a hundredth of the price for each.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dolmen.domain.memory import HANDOFF, Memory
from dolmen.domain.text import analyze, shared_trigrams, trigrams, weight
from dolmen.services.indexing import NOTHING, Embedded
from dolmen.services.runtime import Runtime
from dolmen.services.similarity import similar
from dolmen.store.contract import Tx

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dolmen.store.contract import Vector

FEW = 200
"""Up to so many changed memories are looked up one by one."""
_COMMON = 300
"""A token in more texts than this tells two of them apart too little to look for."""
_RAREST = 12
"""Tokens of a text by which others are found."""
_COMPARED = 24
"""Texts with most of those tokens that are compared letter by letter."""
_SHARED = 0.25
"""Less than this share of its tokens in the other text, and a text cannot share half of its trigrams with it."""
_NEAREST = 8
"""Neighbours by meaning that are looked at for each memory."""
_SAMPLE = 256
_LEAST = 8
"""Vectors that tell what cosine two unrelated texts have; fewer say nothing."""
_BLOCK = 1_024
"""Rows of the matrix of cosines that are held at a time."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two memories of one scope that are close, the earlier one first."""

    first: Memory
    second: Memory
    similarity: float


def comparable(memory: Memory) -> bool:
    """Whether a memory is compared at all: what is served, stands for itself and is not about to end anyway."""
    return (
        memory.status == "active"
        and memory.kind != "episode"
        and memory.label != HANDOFF
        and memory.expires_at is None
        and not memory.note
    )


def few(rt: Runtime, tx: Tx, changed: Sequence[Memory]) -> list[Pair]:
    """Close pairs of the changed memories with any other, by the search index."""
    found: dict[tuple[str, str], Pair] = {}
    known = vectors(rt, tx, changed)
    for memory in changed:
        vector = known.get(memory.id)
        embedded = NOTHING if vector is None or rt.embedder is None else _embedded(rt, vector)
        for other in similar(rt, tx, memory, embedded):
            if other.memory is not None and comparable(other.memory):
                pair = _pair(memory, other.memory, other.similarity)
                found.setdefault((pair.first.id, pair.second.id), pair)
    return list(found.values())


def many(
    rt: Runtime, everything: Iterable[Memory], known: Mapping[str, Vector], changed: frozenset[str] | None = None
) -> list[Pair]:
    """Close pairs among all comparable memories, of which at least one changed (None: all did). Takes seconds for ten
    thousand, so it is called outside of transactions.

    Args:
        known: their `vectors`.
    """
    scopes: dict[str, list[Memory]] = defaultdict(list)
    for memory in everything:
        scopes[memory.scope].append(memory)
    found: list[Pair] = []
    for memories in scopes.values():
        fresh = [n for n, memory in enumerate(memories) if changed is None or memory.id in changed]
        close: dict[tuple[int, int], float] = {}
        for a, b, likeness in (*_by_words(rt, memories, fresh), *_by_meaning(rt, memories, known, fresh)):
            key = (min(a, b), max(a, b))
            close[key] = max(likeness, close.get(key, 0.0))
        found += [_pair(memories[a], memories[b], likeness) for (a, b), likeness in close.items()]
    return found


def _pair(a: Memory, b: Memory, similarity: float) -> Pair:
    first, second = sorted((a, b), key=lambda memory: memory.id)
    return Pair(first, second, round(similarity, 3))


# ------------------------------------------------------------------------------------------------------------- by words
def _by_words(rt: Runtime, memories: Sequence[Memory], fresh: Sequence[int]) -> Iterator[tuple[int, int, float]]:
    tokens = [frozenset(analyze(memory.text)) for memory in memories]
    counts = Counter(token for each in tokens for token in each)
    rare = [_rarest(each, counts) for each in tokens]
    holders: dict[str, list[int]] = defaultdict(list)
    for n, each in enumerate(tokens):
        for token in each:
            if 1 < counts[token] <= _COMMON:
                holders[token].append(n)
    grams: dict[int, frozenset[str]] = {}
    for n in fresh:
        shared = Counter(other for token in rare[n] for other in holders[token])
        del shared[n]
        for other, _ in shared.most_common(_COMPARED):
            if len(tokens[n] & tokens[other]) < _SHARED * len(tokens[n]):
                continue
            for one in (n, other):
                if one not in grams:
                    grams[one] = trigrams(memories[one].text)
            alike = shared_trigrams(grams[n], grams[other])
            if alike >= rt.options.similar_trigrams:
                yield n, other, alike


def _rarest(tokens: frozenset[str], counts: Mapping[str, int]) -> list[str]:
    """The tokens by which a near copy of a text is found: rare ones that another text has too."""
    asked = [token for token in tokens if 1 < counts[token] <= _COMMON]
    return sorted(asked, key=lambda token: (counts[token], -weight(token), token))[:_RAREST]


# ----------------------------------------------------------------------------------------------------------- by meaning
def _by_meaning(
    rt: Runtime, memories: Sequence[Memory], known: Mapping[str, Vector], fresh: Sequence[int]
) -> Iterator[tuple[int, int, float]]:
    """Pairs by calibrated cosine, as `similarity` measures it: 0 where two unrelated texts are, 1 for the same text."""
    rows = [n for n, memory in enumerate(memories) if memory.id in known]
    asked = sorted(set(fresh) & set(rows))
    if len(rows) < _LEAST or not asked:
        return
    import numpy as np

    matrix = np.stack([known[memories[n].id] for n in rows])
    centre = matrix[:: max(1, len(rows) // _SAMPLE)].mean(axis=0)
    place = {n: at for at, n in enumerate(rows)}
    for start in range(0, len(asked), _BLOCK):
        block = [place[n] for n in asked[start : start + _BLOCK]]
        for row, cosines in zip(block, _calibrated(matrix[block] @ matrix.T, matrix[block] @ centre), strict=True):
            cosines[row] = 0.0
            near = np.flatnonzero(cosines >= 1 - rt.options.max_distance)
            for other in near[np.argsort(-cosines[near])][:_NEAREST].tolist():
                yield rows[row], rows[other], float(cosines[other])


def _calibrated(cosines: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float32]:
    calibrated: NDArray[np.float32] = (cosines - mean[:, None]) / (1 - mean[:, None])
    return calibrated


def vectors(rt: Runtime, tx: Tx, memories: Sequence[Memory]) -> dict[str, Vector]:
    """The vectors of those memories that have one of the current model."""
    embedder = rt.embedder
    if embedder is None or not embedder.dim or not memories:
        return {}
    model = tx.index.find_model(embedder.model, embedder.dim)
    return {} if model is None else tx.index.vectors(memories[0].vault, model, [memory.id for memory in memories])


def _embedded(rt: Runtime, vector: Vector) -> Embedded:
    assert rt.embedder is not None
    return Embedded(rt.embedder.model, rt.embedder.dim, (vector,))
