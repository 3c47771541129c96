"""What share of the wanted documents came back, and which figure is looked at on which set."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

CORE = frozenset(  # what search alone can be asked for; the other questions of BEAM need standing memories
    {
        "contradiction_resolution",
        "information_extraction",
        "knowledge_update",
        "multi_session_reasoning",
        "temporal_reasoning",
    }
)


@dataclass(frozen=True, slots=True)
class Figure:
    """The figure of one set."""

    metric: str  # R, any or NDCG
    depth: int
    core: bool = False  # only the questions of the categories in CORE

    @property
    def label(self) -> str:
        return f"{self.metric}@{self.depth}"


_FIGURES = {
    "locomo-turn": Figure("R", 10),
    "locomo-session": Figure("R", 5),
    "lme500c": Figure("any", 5),
    "beam100k": Figure("R", 10, core=True),
    "beam500k": Figure("R", 10, core=True),
    "scifact": Figure("NDCG", 10),
    "cosqa": Figure("R", 10),
    "commits": Figure("R", 10),
}


def figure(name: str) -> Figure:
    """The figure of a set; recall in the first five where nothing else is customary."""
    return _FIGURES.get(name, Figure("R", 5))


def measure(found: Sequence[str], gold: Mapping[str, float], wanted: Figure) -> float:
    """The figure for one question: ids best first against the wanted ones with their gains."""
    top = list(dict.fromkeys(found))[: wanted.depth]
    hits = sum(id in gold for id in top)
    match wanted.metric:
        case "R":
            return hits / len(gold)
        case "any":
            return float(hits > 0)
        case _:
            ideal = sorted(gold.values(), reverse=True)[: wanted.depth]
            return _gain([gold.get(id, 0.0) for id in top]) / _gain(ideal)


def _gain(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 2) for rank, gain in enumerate(gains))
