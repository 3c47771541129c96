"""Asks questions of each leg of the search and says how good the rankings were."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from dolmen.domain.access import require
from dolmen.domain.metrics import DEPTH, Ranking, means
from dolmen.domain.values import Actor
from dolmen.services.evaluation.questions import Question
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import visible
from dolmen.services.search import Query, Result, answered, prepare, search
from dolmen.store.contract import Filter, Tx

Leg = Literal["words", "meaning", "fused", "reranked"]
LEGS: tuple[Leg, ...] = get_args(Leg)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a leg did with all questions."""

    leg: Leg
    means: Mapping[str, float]
    """Per name in `metrics.METRICS`, 0 to 1."""
    milliseconds: float
    """Median per question, without the time that the question's own vector took."""
    rankings: tuple[Ranking, ...]
    """In the order of the questions."""
    failed: int = 0
    """Questions that went without a model that should have answered."""


def legs_of(rt: Runtime) -> tuple[Leg, ...]:
    """The legs that can run here: the last one is the whole search."""
    legs: list[Leg] = ["words"]
    if rt.embedder is not None and (rt.embedder.dim > 0 or rt.embedder.ready):
        legs += ["meaning", "fused"]
    if rt.reranker is not None:
        legs.append("reranked")
    return tuple(legs)


def measure(
    rt: Runtime,
    actor: Actor,
    questions: Sequence[Question],
    legs: Sequence[Leg],
    *,
    project: str | None,
    floor: bool = True,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> tuple[Measured, ...]:
    """Asks every question of every leg, as recall would, without recording it.

    Args:
        project: where to look; `*` for every project.
        floor: False also ranks what recall would not call an answer.
        progress: called with (questions asked, all), a question counting once for each leg.
    """
    require(actor, "read")
    runs: dict[Leg, list[tuple[Ranking, float, bool]]] = {leg: [] for leg in legs}
    plain = replace(rt, reranker=None)
    for n, question in enumerate(questions):
        prepare(plain, question.text)  # its vector is remembered: each leg is timed alike
        for m, leg in enumerate(legs):
            runs[leg].append(_ask(rt if leg == "reranked" else plain, actor, question, leg, project, floor=floor))
            progress(n * len(legs) + m + 1, len(questions) * len(legs))
    return tuple(_measured(leg, run) for leg, run in runs.items())


def _measured(leg: Leg, run: Sequence[tuple[Ranking, float, bool]]) -> Measured:
    rankings = tuple(ranking for ranking, _, _ in run)
    milliseconds = 1000 * statistics.median([took for _, took, _ in run]) if run else 0.0
    return Measured(leg, means(rankings), milliseconds, rankings, sum(failed for _, _, failed in run))


def _ask(
    rt: Runtime, actor: Actor, question: Question, leg: Leg, project: str | None, *, floor: bool
) -> tuple[Ranking, float, bool]:
    started = time.perf_counter()
    query = _of_leg(prepare(replace(rt, embedder=None) if leg == "words" else rt, question.text), leg, floor=floor)

    def first(tx: Tx) -> tuple[Filter, Result]:
        sight = visible(tx, actor, project)
        return sight, search(tx, sight, query, limit=max(DEPTH, rt.options.rerank_top))

    result = answered(rt, actor, query, first, lambda tx, sight, result: result)
    took = time.perf_counter() - started
    found = tuple(each.memory for each in result.found[:DEPTH])
    return Ranking(found, question.right), took, bool(result.notes)


def _of_leg(query: Query, leg: Leg, *, floor: bool) -> Query:
    if leg == "meaning":
        query = replace(query, tokens=())
    return query if floor else replace(query, unrelated=None)
