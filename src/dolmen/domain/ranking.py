"""From what the two search legs found to one ranked list: scores, fusion, the no-answer floor, soft signals.

Pure arithmetic over numbers that a store supplies. `bm25` scores the passages of the text leg, `fuse` joins them with
the cosines of the vector leg, `signals` applies what age and code say about a memory. Measured by bench/quality.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from dolmen.domain.text import weight
from dolmen.domain.values import DAY

Id = TypeVar("Id", bound=Hashable)

K1 = 1.2
B = 0.6
POOL = 100
"""How many candidates to ask of each leg."""

VECTOR_SHARE = 0.6
"""How much of a fused score the vector leg decides when both legs have something to say."""
Z_NOISE, Z_SURE = 1.0, 6.0
"""Standard deviations above the store's mean cosine: at the first a passage is background, at the second an answer."""
FLOOR = 0.2
"""A candidate below it is not an answer, unless the words of the query are in it."""

CODE_GONE, CODE_CHANGED = 0.05, 0.6
RECENT_HALF_LIFE = 7 * DAY


# ------------------------------------------------------------------------------------------------------ the text leg
@dataclass(frozen=True, slots=True)
class Lexical:
    """What the words say about one passage."""

    score: float
    """BM25, weighted by token class; comparable within one query only."""
    coverage: float
    """0 to 1: the share of the query's information (weight times rarity) that the passage's words cover."""
    exact: bool = False
    """It has the identifier that the query is about."""


@dataclass(frozen=True, slots=True)
class Background:
    """How near the query is to passages in general: over a sample of the store, or all of it."""

    mean: float
    deviation: float


def idf(total: int, frequency: int) -> float:
    """Information of a token that `frequency` of `total` passages have (BM25's, never negative)."""
    frequency = min(frequency, total)
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def bm25(
    query: Sequence[str],
    passages: Mapping[Id, Sequence[str]],
    total: int,
    frequencies: Mapping[str, int],
    average_length: float | None = None,
) -> dict[Id, Lexical]:
    """Scores candidate passages by their tokens.

    Args:
        query: distinct tokens of `analyze(query, query=True)`.
        passages: tokens of each candidate, repeats kept.
        total: number of passages in sight; at least the number of candidates.
        frequencies: for each query token, in how many of them it is. A missing one counts as absent.
        average_length: tokens of an average passage; None takes the candidates' own.

    Returns:
        One entry per candidate that has any query token.
    """
    worth = {token: weight(token) * idf(total, frequencies.get(token, 0)) for token in query}
    identifiers = _identifiers(query, worth)
    information = sum(worth.values()) or 1.0
    mean = average_length or (sum(map(len, passages.values())) / len(passages) if passages else 1.0) or 1.0
    found: dict[Id, Lexical] = {}
    for id, tokens in passages.items():
        counts = _counts(tokens, worth)
        if not counts:
            continue
        norm = K1 * (1 - B + B * len(tokens) / mean)
        score = sum(worth[t] * n * (K1 + 1) / (n + norm) for t, n in counts.items())
        coverage = sum(worth[t] for t in counts) / information
        found[id] = Lexical(score, coverage, bool(identifiers) and identifiers <= counts.keys())
    return found


def _counts(tokens: Iterable[str], wanted: Mapping[str, float]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for token in tokens:
        if token in wanted:
            counts[token] = counts.get(token, 0) + 1
    return counts


def _identifiers(query: Sequence[str], worth: Mapping[str, float]) -> frozenset[str]:
    """The identifiers and numbered names of a query that is about them: half of its information or more."""
    named = {token for token in query if token.startswith("@") or any(c.isdigit() for c in token)}
    inside = sum(worth[token] for token in named)
    return frozenset(named) if named and inside >= 0.5 * sum(worth.values()) else frozenset()


# ------------------------------------------------------------------------------------------------------------- fusion
@dataclass(frozen=True, slots=True)
class Ranked(Generic[Id]):
    """A candidate with its fused score and the parts that it was made of, for `explain`."""

    id: Id
    score: float
    """In (0, 1]; comparable across queries only roughly."""
    lexical: float
    """0 to 1: the text leg's share, before weighting."""
    vector: float | None
    """0 to 1: the vector leg's share; None when the passage has no vector."""
    exact: bool


def fuse(
    lexical: Mapping[Id, Lexical],
    cosines: Mapping[Id, float],
    background: Background | None = None,
) -> list[Ranked[Id]]:
    """Joins the legs, best first, without what is below the floor. An empty list means: nothing here answers this.

    Args:
        lexical: from `bm25`, for every candidate that has a query token.
        cosines: of every candidate that has a vector, also of those that only the text leg found.
        background: cosine of this query to passages in general; None (no vector leg, or a tiny store) lets the cosines
            count relative to the best of them.
    """
    best = max((entry.score for entry in lexical.values()), default=0.0)
    ranked = []
    for id in {**lexical, **cosines}:
        words = lexical.get(id)
        text = words.score / best * math.sqrt(words.coverage) if words and best else 0.0
        vector = _nearness(cosines[id], background, cosines) if id in cosines else None
        exact = words is not None and words.exact
        score = _join(text, vector, bool(cosines))
        if exact or score >= FLOOR or (words is not None and words.coverage >= 0.5):
            ranked.append(Ranked(id, min(1.0, max(score, 1e-6)), text, vector, exact))
    ranked.sort(key=lambda r: (not r.exact, -r.score, -r.lexical))
    return ranked


def _join(text: float, vector: float | None, any_vectors: bool) -> float:
    if not any_vectors or vector is None:
        return text
    return VECTOR_SHARE * vector + (1 - VECTOR_SHARE) * text


def _nearness(cosine: float, background: Background | None, cosines: Mapping[Id, float]) -> float:
    """0 for what any passage has, 1 for an answer."""
    if background is None or background.deviation <= 0:
        return max(0.0, cosine) / max(1e-9, *cosines.values()) if max(cosines.values()) > 0 else 0.0
    z = (cosine - background.mean) / background.deviation
    return min(1.0, max(0.0, (z - Z_NOISE) / (Z_SURE - Z_NOISE)))


# ------------------------------------------------------------------------------------------------------- soft signals
@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a memory besides its words."""

    age: int = 0
    """Microseconds since it was written or last changed."""
    code_gone: bool = False
    """Code that it refers to no longer exists (C-154)."""
    code_changed: bool = False
    """A symbol that it refers to has changed (C-154)."""
    importance: float = 0.5
    verified: bool = False


def signals(score: float, facts: Facts, *, recent: bool = False) -> float:
    """The score after the signals that may multiply a fused score; still in (0, 1].

    Args:
        score: from `fuse`, or a reranker's probability.
        facts: about the memory.
        recent: the query asks about recent work (`timeframe.temporal_intent`), C-155.
    """
    if facts.code_gone:
        score *= CODE_GONE
    elif facts.code_changed:
        score *= CODE_CHANGED
    if recent:
        score *= recency(facts.age)
    return max(score, 1e-9)


def recency(age: int) -> float:
    """1 for what was written just now, down to a half: half of the preference is gone after seven days (C-155)."""
    return 0.5 + 0.5 * math.exp2(-max(age, 0) / RECENT_HALF_LIFE)


def order(score: float, facts: Facts) -> tuple[float, float, float, int]:
    """Sort key, best first. On fused scores importance, verification and age only break ties."""
    return (-round(score, 4), -facts.importance, -float(facts.verified), facts.age)
