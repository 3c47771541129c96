"""One set through every stage: who searches, what is asked, and the means of what came back."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

from bench.retrieval.backend import LEGS, Ids, Item, Leg
from bench.retrieval.sets import Goal

DEPTH = 10
Search = Callable[[str, int], Sequence[str]]


class Backend(Protocol):
    """One corpus of ours, searched by leg."""

    ids: Ids

    def store(self, items: Sequence[Item]) -> None: ...

    def search(self, query: str, k: int, leg: Leg = "fused") -> list[str]: ...

    def close(self) -> None: ...


@dataclass(slots=True)
class Stage:
    """What one stage did on one set."""

    metrics: list[Mapping[str, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cpu: float = 0.0

    def mean(self, metric: str) -> float:
        return sum(each[metric] for each in self.metrics) / max(1, len(self.metrics))


@dataclass(slots=True)
class Scored:
    """A set, measured."""

    name: str
    goal: Goal
    documents: int = 0
    questions: int = 0
    refused: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Documents that were not stored, by the code of the error."""
    store_cpu: float = 0.0
    """Seconds of this process for storing; through a server they are the client's."""
    stages: dict[str, Stage] = field(default_factory=lambda: defaultdict(Stage))

    def figure(self, stage: str) -> float | None:
        return self.stages[stage].mean(self.goal.metric) if stage in self.stages else None


def score(
    name: str,
    goal: Goal,
    corpora: Iterable[Any],
    membench: ModuleType,
    ours: Callable[[], Backend],
    legs: Sequence[Leg],
    peers: Mapping[str, Callable[[], Any]],
) -> Scored:
    """Runs a set; each corpus in a fresh store of each."""
    scored = Scored(name, goal)
    for corpus in corpora:
        scored.documents += len(corpus.docs)
        for peer, make in peers.items():
            _ask(scored, membench, corpus, peer, _stored(make(), corpus))
        backend = ours()
        try:
            started = time.process_time()
            backend.store(corpus.docs)
            scored.store_cpu += time.process_time() - started
            for code in backend.ids.refused.values():
                scored.refused[code] += 1
            for leg in (each for each in LEGS if each in legs):
                _ask(scored, membench, corpus, leg, _by_leg(backend, leg))
        finally:
            backend.close()
        scored.questions += sum(_counts(goal, membench, query.cat) for query in corpus.queries)
        print(f"  {name}: {corpus.name}, {len(corpus.docs)} documents", file=sys.stderr, flush=True)
    return scored


def _by_leg(backend: Backend, leg: Leg) -> Search:
    return lambda query, k: backend.search(query, k, leg)


def _stored(peer: Any, corpus: Any) -> Search:
    peer.store(corpus.docs)
    search: Search = peer.search
    return search


def _ask(scored: Scored, membench: ModuleType, corpus: Any, name: str, search: Search) -> None:
    stage = scored.stages[name]
    before = time.process_time()
    for query in corpus.queries:
        started = time.perf_counter()
        found = list(search(query.text, DEPTH))[:DEPTH]
        stage.seconds.append(time.perf_counter() - started)
        if _counts(scored.goal, membench, query.cat):
            stage.metrics.append(membench.metrics(found, query.gold))
    stage.cpu += time.process_time() - before


def _counts(goal: Goal, membench: ModuleType, category: str) -> bool:
    return goal.group == "all" or category in membench.BEAM_CORE
