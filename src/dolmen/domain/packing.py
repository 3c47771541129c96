"""Fitting answers into a token budget, and saying what did not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from json.encoder import encode_basestring as encode
from typing import Generic, TypeVar

from dolmen.domain.errors import DolmenError
from dolmen.domain.tokens import estimate

T = TypeVar("T")

CLAIM_OVERHEAD = 80
"""Tokens of a claim besides its words: ref, kind, agent, dates, score and the JSON around them (counted: 77)."""
REF_OVERHEAD = 30
"""Tokens of one more ref, with what stands around it."""
_SHORT = 60
EXCERPT = 1_500
"""Characters of one memory in a pack; the rest is read by its ref (B170)."""
BUDGET_MIN, BUDGET_MAX = 200, 32_000


def clamp(budget: int) -> int:
    """A budget within what an answer can honour (C-194)."""
    return max(BUDGET_MIN, min(BUDGET_MAX, budget))


def asked(budget: int) -> int:
    """The budget that an agent named.

    Raises:
        DolmenError: `invalid-argument` when nothing fits into it.
    """
    if budget > 0:
        return budget
    raise DolmenError(
        "invalid-argument",
        f"budget_tokens is {budget}: no answer fits into that.",
        f"Use {BUDGET_MIN} to {BUDGET_MAX}, or leave it out.",
    )


def taken_as(asked: int, budget: int) -> tuple[str, ...]:
    """What an answer says when its budget is not the one that was named."""
    return () if asked == budget else (f"budget_tokens {asked} was taken as {budget}",)


def cost(*texts: str) -> int:
    """Tokens of texts as they stand in an answer: inside JSON, where quotes and line ends take two characters."""
    return sum([_short(text) if len(text) < _SHORT else estimate(encode(text)) for text in texts if text])


@lru_cache(maxsize=1024)
def _short(text: str) -> int:
    """Names of scopes, agents and tags come again and again."""
    return estimate(encode(text))


@dataclass(frozen=True, slots=True)
class Packed(Generic[T]):
    kept: tuple[T, ...]
    used: int
    dropped: int


def pack(items: Sequence[T], price: Callable[[T], int], budget: int) -> Packed[T]:
    """Takes items in their order as long as they fit, and stops at the first that does not, so that the next page can
    go on there and nothing is passed over."""
    used = 0
    for n, item in enumerate(items):
        tokens = price(item)
        if used + tokens > budget:
            return Packed(tuple(items[:n]), used, len(items) - n)
        used += tokens
    return Packed(tuple(items), used, 0)


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
