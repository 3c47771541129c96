"""Fitting answers into a token budget, and saying what did not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from dolmen.domain.tokens import estimate

T = TypeVar("T")

CLAIM_OVERHEAD = 75
"""Tokens of a claim besides its words: ref, scope, kind, dates, score and the JSON around them."""
EXCERPT = 1_500
"""Characters of one memory in a pack; the rest is read by its ref (B170)."""
BUDGET_MIN, BUDGET_MAX = 200, 32_000


def clamp(budget: int) -> int:
    """A budget within what an answer can honour (C-194)."""
    return max(BUDGET_MIN, min(BUDGET_MAX, budget))


def cost(*texts: str) -> int:
    """Tokens of a claim with these texts."""
    return CLAIM_OVERHEAD + sum(estimate(text) for text in texts if text)


@dataclass(frozen=True, slots=True)
class Packed(Generic[T]):
    kept: tuple[T, ...]
    used: int
    dropped: int


def pack(items: Sequence[T], price: Callable[[T], int], budget: int) -> Packed[T]:
    """Takes items in their order while they fit; one that is too large is passed over for smaller ones behind it."""
    kept: list[T] = []
    used = 0
    for item in items:
        tokens = price(item)
        if used + tokens <= budget:
            kept.append(item)
            used += tokens
    return Packed(tuple(kept), used, len(items) - len(kept))


def excerpt(text: str, start: int, end: int, limit: int = EXCERPT) -> tuple[int, int]:
    """The stretch of a text to show when a passage of it was found: the passage, widened to whole lines around it as
    far as `limit` characters allow; the whole text when it is short."""
    if len(text) <= limit:
        return 0, len(text)
    end = min(end, start + limit)
    spare = limit - (end - start)
    left = text.rfind("\n", max(0, start - spare // 2), start) + 1 if start else 0
    if left > 0 and start - left <= spare // 2:
        start = left
    right = text.find("\n", end, end + spare // 2)
    if right > 0:
        end = right
    return start, end
