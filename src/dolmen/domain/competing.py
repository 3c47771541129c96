"""Claims that compete: told to the reader, never decided."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|without|cannot|can't|don't|doesn't|didn't|isn't|aren't|won't|shouldn't|mustn't|instead of|"
    r"no longer|deprecated|disabled?)\b|않|없|말라|마세요|금지|아니|못 ",
    re.IGNORECASE,
)
_ALIKE = 0.5
"""Share of tokens in common (Jaccard) from which two statements speak of the same thing."""


def competing(claims: Sequence[tuple[str, str, frozenset[str]]]) -> list[tuple[str, str, str]]:
    """Pairs of (ref, text, tokens) that say nearly the same but differ in a number or in a negation.

    Returns:
        (ref, ref, why) with why one of "different values" and "one says not".
    """
    found: list[tuple[str, str, str]] = []
    for (a, text_a, tokens_a), (b, text_b, tokens_b) in combinations(claims, 2):
        common = len(tokens_a & tokens_b)
        every = len(tokens_a) + len(tokens_b) - common
        if not every or common / every < _ALIKE:
            continue
        if set(_NUMBER.findall(text_a)) != set(_NUMBER.findall(text_b)):
            found.append((a, b, "different values"))
        elif bool(_NEGATION.search(text_a)) != bool(_NEGATION.search(text_b)):
            found.append((a, b, "one says not"))
    return found
