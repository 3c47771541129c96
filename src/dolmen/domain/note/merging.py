"""Two changes of one text, made without knowing of each other, put together where they touch different parts."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import pairwise

MOST = 3_000
"""Parts of a text that are compared; the comparison is quadratic at worst."""

_Change = tuple[int, int, tuple[str, ...]]
"""`base[start:end]` became these parts."""


def merge(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...] | None:
    """The parts with both changes; None when both touch the same part, or there is too much to compare.

    Blank ends of parts do not count as changes; the longer one stays, so that parts keep apart.
    """
    if max(len(base), len(mine), len(theirs)) > MOST:
        return None
    changes = sorted({*_changes(base, mine), *_changes(base, theirs)})
    for (start, end, _), (after, _, _) in pairwise(changes):
        if after < end or after == start:
            return None
    longest = _spaced(base, mine, theirs)
    out: list[str] = []
    at = 0
    for start, end, parts in changes:
        out += [longest[n] for n in range(at, start)]
        out += parts
        at = end
    out += [longest[n] for n in range(at, len(base))]
    return tuple(out)


def _keys(parts: Sequence[str]) -> list[str]:
    return [part.rstrip() for part in parts]


def _changes(base: Sequence[str], other: Sequence[str]) -> list[_Change]:
    found = SequenceMatcher(None, _keys(base), _keys(other), autojunk=False).get_opcodes()
    return [(a, b, tuple(other[c:d])) for tag, a, b, c, d in found if tag != "equal"]


def _spaced(base: Sequence[str], *others: Sequence[str]) -> list[str]:
    """The parts of the base, each with the longest blank end that it has anywhere."""
    out = list(base)
    for other in others:
        matcher = SequenceMatcher(None, _keys(base), _keys(other), autojunk=False)
        for a, c, size in matcher.get_matching_blocks():
            for n in range(size):
                out[a + n] = max(out[a + n], other[c + n], key=len)
    return out
