"""Long lines for a terminal: broken between words, further lines under the first one's text."""

from __future__ import annotations

import re
from collections.abc import Callable

# A command that somebody copies stays whole: between backticks, or after a colon to the end of the line.
_WHOLE = re.compile(r"`[^`]*`|(?<=: )(?:dolmen|mkdir|git|export|curl) .*$")
_GLUE = "\ue000"


def wrapped(text: str, columns: int, width: Callable[[str], int], *, first: str = "", rest: str = "") -> list[str]:
    """The text in lines of at most so many columns, but for words and commands that are longer.

    Args:
        width: how many columns a text takes.
        first, rest: stand before the first line, and before all others.
    """
    lead = text[: len(text) - len(text.lstrip(" "))]
    lines = [first + lead]
    begun = False
    for word in _WHOLE.sub(lambda found: found[0].replace(" ", _GLUE), text).split():
        piece = word.replace(_GLUE, " ")
        if begun and width(lines[-1]) + 1 + width(piece) > columns:
            lines.append(rest + lead)
            begun = False
        lines[-1] += f" {piece}" if begun else piece
        begun = True
    return lines
