"""How good is a ranking? The field's standard measures, for one question and for many."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

DEPTH = 10
CUTS = (1, 5, 10)
METRICS = (*(f"hit@{k}" for k in CUTS), "mrr", f"ndcg@{DEPTH}")


def hit(ranking: Sequence[str], right: Collection[str], k: int) -> float:
    """1 when a right one is among the first `k`, else 0."""
    return float(any(each in right for each in ranking[:k]))


def reciprocal_rank(ranking: Sequence[str], right: Collection[str], k: int = DEPTH) -> float:
    """1 over the place of the first right one among the first `k`; 0 when there is none."""
    return next((1 / place for place, each in enumerate(ranking[:k], 1) if each in right), 0.0)


def ndcg(ranking: Sequence[str], right: Collection[str], k: int = DEPTH) -> float:
    """Discounted cumulative gain of right and wrong, over that of the best order (Järvelin and Kekäläinen, 2002)."""
    best = sum(1 / math.log2(place + 1) for place in range(1, min(k, len(right)) + 1))
    gained = sum(1 / math.log2(place + 1) for place, each in enumerate(ranking[:k], 1) if each in right)
    return gained / best if best else 0.0


@dataclass(frozen=True, slots=True)
class Ranking:
    """What one question gave."""

    found: tuple[str, ...]
    """Best first, without repetitions."""
    right: frozenset[str]

    @property
    def place(self) -> int | None:
        """Of the first right one, from 1; None when it was not found."""
        return next((place for place, each in enumerate(self.found, 1) if each in self.right), None)


def means(rankings: Sequence[Ranking]) -> Mapping[str, float]:
    """The mean of each of `METRICS`, 0 to 1; 0 without questions."""
    count = max(1, len(rankings))
    values = {f"hit@{k}": sum(hit(each.found, each.right, k) for each in rankings) / count for k in CUTS}
    values["mrr"] = sum(reciprocal_rank(each.found, each.right) for each in rankings) / count
    values[f"ndcg@{DEPTH}"] = sum(ndcg(each.found, each.right) for each in rankings) / count
    return values
