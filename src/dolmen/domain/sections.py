"""Sections of a Markdown text: a heading and everything below it, down to the next heading of its level."""

from __future__ import annotations

import re

from dolmen.domain.text import fold

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_FENCE = re.compile(r"[ ]{0,3}(```+|~~~+)")


def section(text: str, heading: str) -> str | None:
    """The heading line and everything below it; None when no heading has that name.

    The match ignores case, width and runs of spaces, with or without the leading `#`. Lines inside code fences are no
    headings.
    """
    wanted = _name(heading.lstrip("#"))
    lines = text.splitlines(keepends=True)
    start, level, fence = -1, 0, ""
    for n, line in enumerate(lines):
        mark = _FENCE.match(line)
        if mark and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1][:3]
            continue
        found = None if fence else _HEADING.fullmatch(line.rstrip("\r\n"))
        if found is None:
            continue
        if start >= 0 and len(found[1]) <= level:
            return "".join(lines[start:n])
        if start < 0 and _name(found[2]) == wanted:
            start, level = n, len(found[1])
    return "".join(lines[start:]) if start >= 0 else None


def _name(heading: str) -> str:
    return " ".join(fold(heading).split())
