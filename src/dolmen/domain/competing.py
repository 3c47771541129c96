"""Claims that compete: told to the reader, never decided."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

_WORDS = re.compile(r"(?<![^ ])[^\d ]+(?![^ ])")
"""Tokens without a digit."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|without|cannot|can't|don't|doesn't|didn't|isn't|aren't|won't|shouldn't|mustn't|instead of|"
    r"no longer|deprecated|disabled?)\b"
)
_NEGATION_BEYOND_ASCII = re.compile("않|없|말라|마세요|금지|아니|못 |[不没沒無]|ません|ない")
"""Two patterns, and a text in small letters: one for both, blind to case, takes five times as long."""
_ALIKE = 0.75
"""Share of words in common (Jaccard), numbers aside, from which two statements speak of the same thing."""
_ALIKE_NEGATED = 0.6
"""The same where one says not: the negation itself is a difference."""


def says_not(text: str) -> bool:
    """Whether a statement denies something."""
    small = text.lower()
    if _NEGATION.search(small):
        return True
    return not small.isascii() and _NEGATION_BEYOND_ASCII.search(small) is not None


def competing(claims: Sequence[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Pairs of (ref, text, tokens joined by spaces) that say nearly the same but differ in a number or in a negation.

    The port of one service and the port of another are no conflict: their words differ too.

    Returns:
        (ref, ref, why) with why one of "different values" and "one says not".
    """
    found: list[tuple[str, str, str]] = []
    read = [(ref, text, frozenset(_WORDS.findall(tokens))) for ref, text, tokens in claims]
    for (a, text_a, words_a), (b, text_b, words_b) in combinations(read, 2):
        size_a, size_b = len(words_a), len(words_b)
        fewer, more = (size_a, size_b) if size_a < size_b else (size_b, size_a)
        if fewer < _ALIKE_NEGATED * more or not more:  # most pairs, before anything is compared
            continue
        common = len(words_a & words_b)
        alike = common / (fewer + more - common)
        if alike < _ALIKE_NEGATED:
            continue
        negated = says_not(text_a) != says_not(text_b)
        if alike < (_ALIKE_NEGATED if negated else _ALIKE):
            continue
        if numbers(text_a) != numbers(text_b):
            found.append((a, b, "different values"))
        elif negated:
            found.append((a, b, "one says not"))
    return found


def numbers(text: str) -> frozenset[str]:
    """The numbers of a text as they are written."""
    return frozenset(_NUMBER.findall(text))
