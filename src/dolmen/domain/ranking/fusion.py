"""Both legs joined to one ranked list, and the floor below which nothing is an answer."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from dolmen.domain.ranking.context import Setting
from dolmen.domain.ranking.words import Lexical

Id = TypeVar("Id", bound=Hashable)

POOL = 100
"""How many candidates to ask of each leg."""

WORDS, WORDS_ANYWAY = 8.0, 1.0
"""Evidence, in standard deviations of cosine, when the words of a passage cover all the information of the query: the
most, and what is left of it where the nearest passages have those words already."""
ALONE = 5.0
"""The same without vectors."""
NEAREST = 10
"""So many of the nearest passages are looked at for the words of the query."""
TELLING = 0.02
"""Words that cover hardly more than any passage covers by chance are not compared."""
EXPECTED = 1.0
"""Standard deviations above the mean that a passage without a vector yet is taken to have."""
SPREAD = 0.025
"""Deviation of cosines where the store is too small to tell."""
NARROWEST = 0.0175
"""No smaller deviation is believed: a store of near copies says little about what is near."""
CROWD = 0.4
"""The nearest of many unrelated passages is nearer than that of few: deviations for each e-fold of passages."""
CROWD_FROM, CROWD_TO = 10, 10_000
"""Measured between these; beyond them it is not extrapolated."""
UNSAID = 0.6
"""Deviations that the floor rises when no passage in sight has any word of the query: it may be gibberish."""
SLACK = 0.5
"""Deviations below the floor where a passage may still stand beside an answer."""
MIDDLE = 3.0
"""Evidence that makes a score of one half: from there on its neighbours let a candidate stand beside an answer."""
RELATIVE = 0.2
"""A candidate less than this much as likely as the best one is no answer beside it."""
CORROBORATED = 0.35
"""Coverage that lets a passage count as an answer however far its vector is."""
SAID = 0.05
"""The same where there is no vector to ask: more than common words in common."""
SURE = 0.3
"""Coverage from which an answer is not called weak."""


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
    chance: float = 0.0
    """Coverage of a passage that has words of the query by chance (`chance`)."""


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
    context: float
    """What its neighbours in the session add to that."""
    exact: bool
    weak: bool = False
    """Neither leg is sure of it: the reader should know."""


@dataclass(frozen=True, slots=True)
class _Judged(Generic[Id]):
    """A candidate before the floor."""

    id: Id
    evidence: float
    lexical: float
    vector: float | None
    exact: bool
    weak: bool
    above: float
    """How far above the floor it is, in standard deviations; not above 0 it is no answer by itself."""


def fuse(
    lexical: Mapping[Id, Lexical],
    cosines: Mapping[Id, float],
    background: Background | None = None,
    setting: Setting[Id] | None = None,
) -> list[Ranked[Id]]:
    """Joins the legs, best first, without what is no answer. An empty list means: nothing here answers this.

    The two kinds of evidence are added. The vector's is how many standard deviations the cosine lies above the query's
    mean over the store. The words' is the share of the query's information that they cover, so common words in common
    add nothing, and words that happen to be absent everywhere take nothing away. What they are worth depends on the
    question (`worth_of_words`): words that the nearest passages have anyway say little more. What stands beside a
    candidate in its session adds to it (`Setting`).

    Args:
        lexical: from `bm25`, for every candidate that has a query token, whichever leg found it.
        cosines: of every candidate that has a vector, also of those that only the text leg found. Empty when there is
            no vector leg; the words then decide alone.
        background: what the cosines are compared with; None compares them with each other.
        setting: where the candidates stand; None when none of them has a session.
    """
    judged = _by_both(lexical, cosines, background or Background()) if cosines else _by_words(lexical)
    if not any(each.above > 0 for each in judged):
        return []
    least = RELATIVE * max(_probability(each.evidence) for each in judged)
    gained = setting.lifts({each.id: each.evidence for each in judged}) if setting else {}
    ranked = []
    for each in judged:
        gain = gained.get(each.id, 0.0)
        score = _probability(each.evidence + gain)
        beside = each.above > -SLACK and _probability(each.evidence) >= least
        if each.exact or beside or (gain > 0 and score >= 0.5):
            ranked.append(Ranked(each.id, score, each.lexical, each.vector, gain, each.exact, each.weak))
    ranked.sort(key=lambda r: (not r.exact, -r.score, -lexical[r.id].score if r.id in lexical else 0.0))
    return ranked


def _by_both(lexical: Mapping[Id, Lexical], cosines: Mapping[Id, float], background: Background) -> list[_Judged[Id]]:
    scale = _scale(background, cosines, said=bool(lexical))
    worth = worth_of_words(lexical, cosines, background)
    judged = []
    for id in {**lexical, **cosines}:
        words, cosine = lexical.get(id), cosines.get(id)
        coverage, exact = (words.coverage, words.exact) if words else (0.0, False)
        nearness = None if cosine is None else scale.evidence(cosine)
        evidence = (EXPECTED if nearness is None else nearness) + worth * coverage
        weak = not exact and coverage < SURE and (cosine is None or not scale.is_sure(cosine))
        enough = exact or coverage >= (SAID if cosine is None else CORROBORATED)
        above = math.inf if enough else -math.inf if cosine is None else scale.above(cosine)
        judged.append(_Judged(id, evidence, worth * coverage, nearness, exact, weak, above))
    return judged


def worth_of_words(lexical: Mapping[Id, Lexical], cosines: Mapping[Id, float], background: Background) -> float:
    """Evidence of words that cover the whole query, from `WORDS` down to `WORDS_ANYWAY`.

    Where the nearest passages have the query's words, the vectors have understood them, and between these passages they
    must decide; where they have none of them, what the words say is new. Measured between the coverage that comes by
    chance and the best one in sight.
    """
    best = max((entry.coverage for entry in lexical.values()), default=0.0) - background.chance
    if best <= TELLING:
        return WORDS
    nearest = sorted(cosines, key=lambda id: -cosines[id])[:NEAREST]
    covered = sum(lexical[id].coverage for id in nearest if id in lexical) / len(nearest) - background.chance
    return max(WORDS_ANYWAY, WORDS * (1 - max(0.0, covered / best)))


def _by_words(lexical: Mapping[Id, Lexical]) -> list[_Judged[Id]]:
    """The text leg alone, in the order of BM25; a passage that shares only common words is no answer."""
    best = max((entry.score for entry in lexical.values()), default=0.0) or 1.0
    top = max((entry.coverage for entry in lexical.values()), default=0.0)
    return [
        _Judged(
            id,
            EXPECTED + ALONE * top * entry.score / best,
            ALONE * entry.coverage,
            None,
            entry.exact,
            weak=not entry.exact and entry.coverage < SURE,
            above=math.inf if entry.exact or entry.coverage >= SAID else -math.inf,
        )
        for id, entry in lexical.items()
    ]


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

    def above(self, cosine: float) -> float:
        """Deviations above the floor; without a floor everything is above it."""
        return math.inf if self.unrelated is None else (cosine - self.unrelated) / self.deviation

    def is_sure(self, cosine: float) -> bool:
        return self.unrelated is not None and cosine > self.unrelated + self.deviation


def _scale(background: Background, cosines: Mapping[Id, float], said: bool) -> _Scale:
    deviation = max(background.deviation or SPREAD, NARROWEST)
    mean = background.mean
    if mean is None:
        mean = background.unrelated if background.unrelated is not None else min(cosines.values())
    unrelated = background.unrelated
    if unrelated is not None:
        crowd = min(max(background.passages, CROWD_FROM), CROWD_TO) / CROWD_FROM
        unrelated += deviation * (CROWD * math.log(crowd) + (0 if said else UNSAID))
    return _Scale(mean, deviation, unrelated)
