"""When does a statement add nothing to another, and when does it give the same thing another value?

By its words in their order: exact enough to hide a copy behind what says as much, and cheap enough for every answer.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
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
    text: str


@lru_cache(maxsize=2048)
def statement(text: str) -> Statement:
    """The words of a text that tell it from another."""
    folded = _folded(text)
    wide = not folded.isascii() and _WIDE.search(folded) is not None
    words: list[str] = []
    for word in _WORD.findall(folded):
        words += _telling(word) if wide else _plain(word)
    return Statement(tuple(words), says_not(text), len(text) <= _SHORT, wide, text)


def _value_from(one: Statement) -> int:
    """Which word is the first after an `is` or `=`; past the end where there is none."""
    folded = _folded(one.text)
    sets = _SETS.search(folded)
    if sets is None:
        return len(one.words)
    value_from = told = 0
    for found in _WORD.finditer(folded):
        if found.start() >= sets.end():
            break
        value_from = told + (found.group() not in _EMPTY)
        told += len(_telling(found.group()) if one.wide else _plain(found.group()))
    return value_from


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _telling(word: str) -> Sequence[str]:
    """Of a text with kana or Chinese characters in it."""
    return list(word) if _WIDE.search(word) and word not in _EMPTY else _plain(word)


@lru_cache(maxsize=16384)
def _plain(word: str) -> tuple[str, ...]:
    if word in _EMPTY:
        return ()
    return (stem(word) if word.isascii() else _PARTICLE.sub("", word),)


def adds_nothing(one: Statement, to: Statement) -> bool:
    """Whether every telling word of the first stands in the second, in the same order, and makes up most of it."""
    fewer, more = len(one.words), len(to.words)
    if not 0 < fewer <= more or fewer < _SHARE * more or one.says_not != to.says_not:  # most pairs end here
        return False
    if one.words == to.words:
        return True
    share = _WIDE_SHARE if one.wide or to.wide else _SHARE
    if not (one.short and to.short) or fewer < share * more:
        return False
    rest = iter(to.words)
    return all(word in rest for word in one.words)


def other_value(one: Statement, other: Statement) -> bool:
    """Whether two statements differ in a single word, and that one is what they say of their subject."""
    if len(one.words) != len(other.words) or one.says_not != other.says_not or one.wide or other.wide:
        return False
    differ = [n for n, (a, b) in enumerate(zip(one.words, other.words)) if a != b]
    return len(differ) == 1 and differ[0] > 0 and differ[0] >= max(_value_from(one), _value_from(other))
