"""Two changes of one text, made without knowing of each other, put together where they touch different parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST = 3_000
"""Parts of a text that are compared; the comparison is quadratic at worst."""

_Change = tuple[int, int, tuple[str, ...]]
"""`base[start:end]` became these parts."""


@dataclass(frozen=True, slots=True)
class Combined:
    """A text with two changes of it."""

    parts: tuple[str, ...]
    clash: bool
    """Both touch the same part; it is as `mine` has it."""


def merge(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...] | None:
    """The parts with both changes; None when both touch the same part, or there is too much to compare."""
    both = combine(base, mine, theirs)
    return None if both.clash else both.parts


def combine(base: Sequence[str], mine: Sequence[str], theirs: Sequence[str]) -> Combined:
    """The parts with both changes, and with mine alone where both touch the same part; mine as a whole when there is
    too much to compare.

    Blank ends of parts do not count as changes; the longer one stays, so that parts keep apart.
    """
    if max(len(base), len(mine), len(theirs)) > MOST:
        return Combined(tuple(mine), True)
    longest = _spaced(base, mine, theirs)
    out: list[str] = []
    at, clash = 0, False
    for start, end, own, other in _clusters(_changes(base, mine), _changes(base, theirs)):
        ours = _applied(longest, start, end, own)
        others = _applied(longest, start, end, other)
        clash = clash or bool(own and other and ours != others)
        out += longest[at:start]
        out += ours if own else others
        at = end
    return Combined((*out, *longest[at:]), clash)


def _clusters(
    mine: list[_Change], theirs: list[_Change]
) -> Iterator[tuple[int, int, list[_Change], list[_Change]]]:  # fmt: skip
    """Changes of both sides that touch each other, together: where they begin and end, mine, theirs."""
    known = sorted([(change, True) for change in mine] + [(change, False) for change in theirs], key=lambda e: e[0][:2])
    group: list[tuple[_Change, bool]] = []
    for change, own in known:
        if group and change[0] >= max(each[1] for each, _ in group) and change[0] != group[-1][0][0]:
            yield _cluster(group)
            group = []
        group.append((change, own))
    if group:
        yield _cluster(group)


def _cluster(group: list[tuple[_Change, bool]]) -> tuple[int, int, list[_Change], list[_Change]]:
    start, end = group[0][0][0], max(change[1] for change, _ in group)
    return start, end, [change for change, own in group if own], [change for change, own in group if not own]


def _applied(parts: Sequence[str], start: int, end: int, changes: Sequence[_Change]) -> list[str]:
    out: list[str] = []
    at = start
    for first, last, words in changes:
        out += [*parts[at:first], *words]
        at = last
    return out + list(parts[at:end])


def _keys(parts: Sequence[str]) -> list[str]:
    return [part.rstrip() for part in parts]


def _changes(base: Sequence[str], other: Sequence[str]) -> list[_Change]:
    """Parts beside each other that were exchanged for as many others are a change each."""
    found = SequenceMatcher(None, _keys(base), _keys(other), autojunk=False).get_opcodes()
    out: list[_Change] = []
    for tag, a, b, c, d in found:
        if tag == "replace" and b - a == d - c:
            out += [(a + n, a + n + 1, (other[c + n],)) for n in range(b - a)]
        elif tag != "equal":
            out.append((a, b, tuple(other[c:d])))
    return out


def _spaced(base: Sequence[str], *others: Sequence[str]) -> list[str]:
    """The parts of the base, each with the longest blank end that it has anywhere."""
    out = list(base)
    for other in others:
        matcher = SequenceMatcher(None, _keys(base), _keys(other), autojunk=False)
        for a, c, size in matcher.get_matching_blocks():
            for n in range(size):
                out[a + n] = max(out[a + n], other[c + n], key=len)
    return out
