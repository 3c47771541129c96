"""From what the two search legs found to one ranked list: scores, fusion, the no-answer floor, soft signals.

Pure arithmetic over numbers that a store supplies. `bm25` scores the passages of the text leg, `fuse` joins them with
the cosines of the vector leg, `signals` applies what age and code say about a memory. Measured by bench/quality.
"""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from dolmen.domain.text import weight
from dolmen.domain.values import DAY

Id = TypeVar("Id", bound=Hashable)

_NAME = re.compile(r"@|(?!(?:19|20)\d\d$)(?=.*\d)\w{4,}$")  # an identifier, a ticket, a port, a hash; not a year

K1 = 1.2
B = 0.6
POOL = 100
"""How many candidates to ask of each leg."""

WORDS = 5.0
"""Evidence, in standard deviations of cosine, when the words of a passage cover all the information of the query."""
EXPECTED = 1.0
"""Standard deviations above the mean that a passage without a vector yet is taken to have."""
SPREAD = 0.025
"""Deviation of cosines where the store is too small to tell."""
NARROWEST = 0.01
"""No smaller deviation is believed: a store of near copies says little about what is near."""
CROWD = 0.4
"""The nearest of many unrelated passages is nearer than that of few: deviations for each e-fold of passages."""
CROWD_FROM, CROWD_TO = 10, 10_000
"""Measured between these; beyond them it is not extrapolated."""
UNSAID = 0.6
"""Deviations that the floor rises when no passage in sight has any word of the query: it may be gibberish."""
MIDDLE = 3.0
"""Evidence that makes a score of one half."""
RELATIVE = 0.2
"""A candidate less than this much as likely as the best one is no answer beside it."""
CORROBORATED = 0.35
"""Coverage that lets a passage count as an answer however far its vector is."""
SAID = 0.05
"""The same where there is no vector to ask: more than common words in common."""
SURE = 0.3
"""Coverage from which an answer is not called weak."""

RARE = 0.02
"""An identifier in at most this share of the passages is what a query that names it is about."""

CODE_GONE, CODE_CHANGED = 0.05, 0.6
RECENT_HALF_LIFE = 7 * DAY
KEPT_UNSURE, KEPT_SURE = 0.2, 0.9


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
    """How near the query is to passages that do not answer it."""

    mean: float | None = None
    deviation: float | None = None
    """Of its cosine to passages in sight, a sample or all of them; None when there are too few to tell."""
    unrelated: float | None = None
    """Cosine up to which a passage has nothing to do with it, as the model knows it (`Embedder.unrelated`)."""
    passages: int = 0
    """How many passages are in sight; 0 when nobody counted."""


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
    identifiers = _identifiers(query, worth, total, frequencies)
    information = sum(worth.values()) or 1.0
    mean = average_length or (sum(map(len, passages.values())) / len(passages) if passages else 1.0) or 1.0
    found: dict[Id, Lexical] = {}
    for id, tokens in passages.items():
        said = list(filter(worth.__contains__, tokens))
        if not said:
            continue
        once = dict.fromkeys(said)
        norm = K1 * (1 - B + B * len(tokens) / mean)
        value = sum(map(worth.__getitem__, once))
        if len(once) == len(said):  # each token once, as in most passages
            score = value * (K1 + 1) / (1 + norm)
        else:
            score = sum(worth[t] * (n := said.count(t)) * (K1 + 1) / (n + norm) for t in once)
        found[id] = Lexical(score, value / information, not identifiers.isdisjoint(once))
    return found


def damped(score: float, length: int, average: float) -> float:
    """The score of a passage that has each token once, lowered as BM25 lowers it for a long one."""
    return score / (1 + K1 * (1 - B + B * length / average))


def _identifiers(
    query: Sequence[str], worth: Mapping[str, float], total: int, frequencies: Mapping[str, int]
) -> frozenset[str]:
    """The rare identifiers of a query that is about them: half or more of what its known words say (B020)."""
    rare = max(3.0, total * RARE)
    named = frozenset(t for t in query if _NAME.match(t) and 0 < frequencies.get(t, 0) <= rare)
    known = sum(value for token, value in worth.items() if frequencies.get(token, 0))
    inside = sum(worth[token] for token in query if token in named or _part_of(token, named))
    return named if inside >= 0.5 * known else frozenset()


def _part_of(token: str, identifiers: Iterable[str]) -> bool:
    return any(token in identifier[1:].split("_") for identifier in identifiers)


# ------------------------------------------------------------------------------------------------------------- fusion
@dataclass(frozen=True, slots=True)
class Ranked(Generic[Id]):
    """A candidate with its fused score and the parts that it was made of, for `explain`."""

    id: Id
    score: float
    """In (0, 1): one half where the evidence for and against is even. Comparable across queries, roughly."""
    lexical: float
    """Evidence of the words, in standard deviations: 0 to `WORDS`."""
    vector: float | None
    """Evidence of the vector, in standard deviations above the background; None when the passage has no vector."""
    exact: bool
    weak: bool = False
    """Neither leg is sure of it: the reader should know."""


def fuse(
    lexical: Mapping[Id, Lexical],
    cosines: Mapping[Id, float],
    background: Background | None = None,
) -> list[Ranked[Id]]:
    """Joins the legs, best first, without what is no answer. An empty list means: nothing here answers this.

    The two kinds of evidence are added. The vector's is how many standard deviations the cosine lies above the query's
    mean over the store. The words' is the share of the query's information that they cover, so common words in common
    add nothing, and words that happen to be absent everywhere take nothing away.

    Args:
        lexical: from `bm25`, for every candidate that has a query token.
        cosines: of every candidate that has a vector, also of those that only the text leg found. Empty when there is
            no vector leg; the words then decide alone.
        background: what the cosines are compared with; None compares them with each other.
    """
    if not cosines:
        return _by_words(lexical)
    scale = _scale(background, cosines, said=bool(lexical))
    ranked = []
    for id in {**lexical, **cosines}:
        words, cosine = lexical.get(id), cosines.get(id)
        coverage, exact = (words.coverage, words.exact) if words else (0.0, False)
        floor = scale.unrelated
        if cosine is None:
            answers = coverage >= SAID
        else:
            answers = floor is None or cosine > floor or coverage >= CORROBORATED
        if not (answers or exact):
            continue
        nearness = None if cosine is None else scale.evidence(cosine)
        evidence = (EXPECTED if nearness is None else nearness) + WORDS * coverage
        weak = not exact and coverage < SURE and (cosine is None or not scale.is_sure(cosine))
        ranked.append(Ranked(id, _probability(evidence), WORDS * coverage, nearness, exact, weak))
    ranked.sort(key=lambda r: (not r.exact, -r.score, -lexical[r.id].score if r.id in lexical else 0.0))
    return _likely(ranked)


def _by_words(lexical: Mapping[Id, Lexical]) -> list[Ranked[Id]]:
    """The text leg alone, in the order of BM25; a passage that shares only common words is no answer."""
    best = max((entry.score for entry in lexical.values()), default=0.0) or 1.0
    top = max((entry.coverage for entry in lexical.values()), default=0.0)
    ranked = [
        Ranked(
            id,
            _probability(EXPECTED + WORDS * top * entry.score / best),
            WORDS * entry.coverage,
            None,
            entry.exact,
            weak=not entry.exact and entry.coverage < SURE,
        )
        for id, entry in lexical.items()
        if entry.exact or entry.coverage >= SAID
    ]
    ranked.sort(key=lambda r: (not r.exact, -r.score))
    return _likely(ranked)


def _likely(ranked: list[Ranked[Id]]) -> list[Ranked[Id]]:
    best = max((entry.score for entry in ranked), default=0.0)
    return [entry for entry in ranked if entry.exact or entry.score >= RELATIVE * best]


def _probability(evidence: float) -> float:
    """Never quite 0 or 1, so that order survives."""
    return 1 / (1 + math.exp(min(30.0, MIDDLE - evidence)))


@dataclass(frozen=True, slots=True)
class _Scale:
    mean: float
    deviation: float
    unrelated: float | None

    def evidence(self, cosine: float) -> float:
        return (cosine - self.mean) / self.deviation

    def is_sure(self, cosine: float) -> bool:
        return self.unrelated is not None and cosine > self.unrelated + self.deviation


def _scale(background: Background | None, cosines: Mapping[Id, float], said: bool) -> _Scale:
    background = background or Background()
    deviation = max(background.deviation or SPREAD, NARROWEST)
    mean = background.mean
    if mean is None:
        mean = background.unrelated if background.unrelated is not None else min(cosines.values())
    unrelated = background.unrelated
    if unrelated is not None:
        crowd = min(max(background.passages, CROWD_FROM), CROWD_TO) / CROWD_FROM
        unrelated += deviation * (CROWD * math.log(crowd) + (0 if said else UNSAID))
    return _Scale(mean, deviation, unrelated)


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
        score *= recency(score, facts.age)
    return max(score, 1e-9)


def recency(score: float, age: int) -> float:
    """Factor for a question about recent work: 1 for what was written just now, half of the loss after seven days
    (C-155). What certainly answers loses a tenth at most, what hardly does up to four fifths: where the words ask for
    nothing but the latest, time decides, and where they name a subject, the subject does."""
    kept = KEPT_UNSURE + (KEPT_SURE - KEPT_UNSURE) * score
    return kept + (1 - kept) * math.exp2(-max(age, 0) / RECENT_HALF_LIFE)


def order(score: float, facts: Facts) -> tuple[float, float, float, int]:
    """Sort key, best first. On fused scores importance, verification and age only break ties."""
    return (-round(score, 4), -facts.importance, -float(facts.verified), facts.age)
