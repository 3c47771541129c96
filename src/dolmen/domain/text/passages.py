"""Cutting a long text into passages that an embedding window holds (B177)."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache

_WIDE = (
    "[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uff60\uffe0-\uffe6\U0001f000-\U0003ffff]"
)
_FENCE = re.compile(r"^ {0,3}(```+|~~~+)[^\n]*$", re.MULTILINE)
# Where a text may be cut, best first. A match's end is the start of the next passage.
_CUTS = (
    re.compile(r"\n(?= {0,3}#{1,6} )"),
    re.compile(r"\n[ \t]*\n+"),
    re.compile(r"\n"),
    re.compile(r"[.!?…][)\"'”’\]]*\s+|[。！？｡．][)\"'”’」』）]*\s*"),
    re.compile(r"[\s,;、，；]+"),
)
TARGET = 1200


def passages(text: str, *, target: int = TARGET, limit: int | None = None) -> list[tuple[int, int]]:
    """Character ranges `(start, end)` that cover the text in order, without gap or overlap.

    A passage ends before a Markdown heading, else at a blank line, a line's end, a sentence's end, a space; a fenced
    code block that fits is not cut.

    Args:
        text: any text; an empty one has no passages, one within the target has one.
        target: the longest passage in characters of Latin text; a wide (CJK, Hangul, emoji) character counts two,
            because the tokenizers of embedding models spend about twice as much on it.
        limit: the most passages to return; the text after the last one is then left out, which the caller sees by
            the last end. None for all of them.
    """
    fences = _fences(text)
    ranges: list[tuple[int, int]] = []
    start = 0
    while start < len(text) and (limit is None or len(ranges) < limit):
        end = _reach(text, start, target)
        if end < len(text):
            end = _cut(text, start, end, fences)
        ranges.append((start, end))
        start = end
    return ranges


@cache
def _wide() -> re.Pattern[str]:
    """Compiled when it is first needed: that takes 3 ms."""
    return re.compile(_WIDE)


def _reach(text: str, start: int, target: int) -> int:
    """A far end of a passage whose cost stays within the target; always at least one character."""
    window = text[start : start + target]
    while (excess := len(window) + len(_wide().findall(window)) - target) > 0 and len(window) > 1:
        window = window[: -max(1, excess // 2)]
    return start + max(1, len(window))


def _cut(text: str, start: int, end: int, fences: list[tuple[int, int]]) -> int:
    """The best place to cut in the later two thirds of the reach, or its end if there is none."""
    floor = start + max(1, (end - start) // 3)
    inside = 0
    for pattern in _CUTS:
        # One character more, so that a cut which begins inside the reach may be seen whole.
        places = [min(match.end(), end) for match in pattern.finditer(text, floor, min(end + 1, len(text)))]
        for place in reversed(places):
            fence = _fence_around(fences, place)
            if fence is None:
                return place
            if fence[0] > start:
                inside = fence[0]
            elif fence[1] > end:  # a block longer than a passage has to be cut somewhere
                return place
    return inside or end


def _fence_around(fences: list[tuple[int, int]], place: int) -> tuple[int, int] | None:
    """The code block that a cut would divide."""
    at = bisect_left(fences, (place, 0)) - 1
    return fences[at] if at >= 0 and place < fences[at][1] else None


def _fences(text: str) -> list[tuple[int, int]]:
    """Ranges of fenced code blocks; an unclosed one runs to the end."""
    found: list[tuple[int, int]] = []
    opened: re.Match[str] | None = None
    for line in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if opened is None:
            opened = line
        elif line[1][0] == opened[1][0] and len(line[1]) >= len(opened[1]):
            found.append((opened.start(), line.end()))
            opened = None
    if opened is not None:
        found.append((opened.start(), len(text)))
    return found
