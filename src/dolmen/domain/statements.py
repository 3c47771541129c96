"""When does a statement add nothing to another, and when does it give the same thing another value?

By its words in their order: exact enough to hide a copy behind what says as much, and cheap enough for every answer.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from dolmen.domain.competing import says_not
from dolmen.domain.text.stem import stem

_WORD = re.compile(r"[^\W_](?:[\w.:/@+#-]*\w)?")
_WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
"""Kana and Chinese characters: written without spaces, so each counts as a word."""
_PARTICLE = re.compile(r"(?<=[가-힣])(?:은|는|이|가|을|를|의|에|에서|으로|로|와|과|도)\Z")
_FILLING = (
    "a an the is are was were be been being it its this that these those of in at we our i you your they their there "
    "then so just very also has have had do does did will would shall please note"
)
_EMPTY = frozenset(_FILLING.split())
"""Words that change nothing between two statements; `on`, `off`, `before` and their like do."""
_SETS = re.compile(r"(?<=\w )(?:is|are|was|were|becomes?|named|called|uses?|using|equals?|defaults? to)\b|[=:]|[은는] ")
"""What stands before a value."""
_SHORT = 500
"""Characters up to which a statement may say less than the other; longer ones are copies only when nothing differs."""
_SHARE = 0.6
"""Of the other's words: a statement of fewer is a different one, though it adds nothing."""
_WIDE_SHARE = 0.9


class Statement(NamedTuple):
    """A text as its telling words, in order."""

    words: tuple[str, ...]
    says_not: bool
    short: bool
    wide: bool
    value_from: int
    """Which word is the first after an `is` or `=`; past the end where there is none."""


@lru_cache(maxsize=2048)
def statement(text: str) -> Statement:
    """The words of a text that tell it from another."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    wide = _WIDE.search(folded) is not None
    words: list[str] = []
    value_from, sets = 0, _SETS.search(folded)
    for found in _WORD.finditer(folded):
        if sets is not None and found.start() < sets.end():
            value_from = len(words) + (found.group() not in _EMPTY)
        words += _telling(found.group(), wide=wide)
    return Statement(tuple(words), says_not(text), len(text) <= _SHORT, wide, value_from if sets else len(words))


def _telling(word: str, *, wide: bool) -> list[str]:
    if word in _EMPTY:
        return []
    if wide and _WIDE.search(word):
        return list(word)
    return [stem(word) if word.isascii() else _PARTICLE.sub("", word)]


def adds_nothing(one: Statement, to: Statement) -> bool:
    """Whether every telling word of the first stands in the second, in the same order, and makes up most of it."""
    if one.says_not != to.says_not or not one.words or len(one.words) > len(to.words):
        return False
    if one.words == to.words:
        return True
    share = _WIDE_SHARE if one.wide or to.wide else _SHARE
    if not (one.short and to.short) or len(one.words) < share * len(to.words):
        return False
    rest = iter(to.words)
    return all(word in rest for word in one.words)


def other_value(one: Statement, other: Statement) -> bool:
    """Whether two statements differ in a single word, and that one is what they say of their subject."""
    if len(one.words) != len(other.words) or one.says_not != other.says_not or one.wide or other.wide:
        return False
    differ = [n for n, (a, b) in enumerate(zip(one.words, other.words)) if a != b]
    return len(differ) == 1 and differ[0] > 0 and differ[0] >= max(one.value_from, other.value_from)
