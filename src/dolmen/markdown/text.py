"""Lines of a source as CommonMark counts them, and the line ends that its writer uses."""

from __future__ import annotations

import re
from bisect import bisect_right

_BREAK = re.compile(r"\r\n|\r|\n")


class Lines:
    """Where the lines of a text begin, in characters."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(found.end() for found in _BREAK.finditer(text))]

    def __len__(self) -> int:
        return len(self.starts)

    def start(self, line: int) -> int:
        """Where a line begins; the end of the text for a line after the last one."""
        return self.starts[line] if line < len(self.starts) else len(self.text)

    def line(self, number: int) -> str:
        """A line without its break."""
        return self.text[self.start(number) : self.start(number + 1)].rstrip("\r\n")

    def at(self, offset: int) -> int:
        """The line that a character stands in."""
        return bisect_right(self.starts, offset) - 1


def newline_of(text: str) -> str:
    """The line end that the text uses: the first one in it, `\\n` when there is none."""
    found = _BREAK.search(text)
    return found[0] if found else "\n"


def with_newlines(text: str, newline: str) -> str:
    """The text with these line ends."""
    return _BREAK.sub(newline.replace("\\", "\\\\"), text)


def plain(text: str) -> str:
    """The text with `\\n` as its line ends."""
    return _BREAK.sub("\n", text) if "\r" in text else text
