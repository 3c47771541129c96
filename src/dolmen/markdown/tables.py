"""Where a table stands, without its cells: those are three tokens each for the parser, and no block of a note."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.rules_block import StateBlock

_SEPARATOR = re.compile(r"(?<!\\)\|")
_BLANK = "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
"""What CommonMark takes for white space."""
_MOST_MISSING = 1 << 16
"""Cells that rows may leave out together; then the table ends (https://github.com/markdown-it/markdown-it/issues/1000)."""


def table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The rule of markdown-it for GFM tables, with the opening and the closing token alone."""
    from markdown_it import rules_block

    if not rules_block.table(state, start, end, True):
        return False
    if silent:
        return True
    before, state.parentType = state.parentType, "table"
    token = state.push("table_open", "table", 1)
    last = _end(state, start, end)
    token.map = [start, last]
    state.push("table_close", "table", -1)
    state.parentType, state.line = before, last
    return True


def _end(state: StateBlock, start: int, end: int) -> int:
    """The line behind the last row."""
    ending = state.md.block.ruler.getRules("blockquote")
    columns, missing = _columns(_line(state, start)), 0
    for line in range(start + 2, end):
        if state.sCount[line] < state.blkIndent or any(rule(state, line, end, True) for rule in ending):
            return line
        text = _line(state, line)
        if not text or state.is_code_block(line):
            return line
        missing += columns - _columns(text)
        if missing > _MOST_MISSING:
            return line
    return max(end, start + 2)


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]].strip(_BLANK)


def _columns(row: str) -> int:
    """Cells of a row; a bar at its start or end makes none."""
    bars = [match.start() for match in _SEPARATOR.finditer(row)]
    if not bars:
        return 1 if row else 0
    return len(bars) + 1 - (bars[0] == 0) - (bars[-1] == len(row) - 1)
