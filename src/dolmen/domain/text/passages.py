"""Cutting a long text into passages that an embedding window holds."""

from __future__ import annotations

import re

_WIDE = re.compile("[\u1100-\u11ff\u2e80-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U000323af]")
_SENTENCE_END = re.compile(r"[.!?。！？…]+[)\"'”’」』]*\s+|[。！？]+[)\"'”’」』]*|\n")


def passages(text: str, *, target: int = 1200, limit: int | None = None) -> list[tuple[int, int]]:
    """Character ranges `(start, end)` that cover the text in order.

    Args:
        text: any text; Markdown headings and fenced code are kept together where they fit.
        target: about the longest passage, in characters of Latin text; a wide (CJK, Hangul) character counts two.
        limit: the most passages to return; the last one then ends where its own text ends. None for all.
    """
    if not text:
        return []
    ranges: list[tuple[int, int]] = []
    start = 0
    while start < len(text) and (limit is None or len(ranges) < limit):
        end = _reach(text, start, target)
        if end < len(text):
            end = _boundary(text, start, end)
        ranges.append((start, end))
        start = end
    return ranges


def _reach(text: str, start: int, target: int) -> int:
    """The furthest end whose cost stays within the target."""
    window = text[start : start + target]
    wide = len(_WIDE.findall(window))
    if len(window) + wide <= target:
        return start + len(window)
    cost, position = 0, start
    for character in window:
        cost += 2 if _WIDE.match(character) else 1
        if cost > target:
            break
        position += 1
    return max(position, start + 1)


def _boundary(text: str, start: int, end: int) -> int:
    floor = start + (end - start) // 3
    for mark in ("\n#", "\n\n"):
        found = text.rfind(mark, floor, end)
        if found > floor:
            return found + (1 if mark == "\n#" else 2)
    last = max((m.end() for m in _SENTENCE_END.finditer(text, floor, end)), default=0)
    if last > floor:
        return last
    space = text.rfind(" ", floor, end)
    return space + 1 if space > floor else end
