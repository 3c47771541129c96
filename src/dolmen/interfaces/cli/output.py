"""What a command says: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

import click

from dolmen.interfaces.cli.visible import for_json, for_terminal, marked, visible
from dolmen.interfaces.cli.words import in_words
from dolmen.interfaces.cli.wrapping import wrapped

GAP = "  "
_NARROW = 24
"""Columns that the last cell of a row wants at least, before the row is written on lines of its own."""


def coloured(stream: TextIO) -> bool:
    """Colours only for a terminal, and never with NO_COLOR."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def _worded(value: Mapping[str, object]) -> dict[str, object]:
    return {
        key: in_words(item) if key in ("message", "fix") and isinstance(item, str) else item
        for key, item in value.items()
    }


class Output:
    """One command's mouth. With `as_json`, standard output holds exactly one JSON value."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.terminal = not as_json and sys.stdout.isatty()
        self.zone = "UTC"
        """The zone of the times on a terminal."""
        self._colour = coloured(sys.stdout)
        self._colour_errors = coloured(sys.stderr)

    def style(self, text: str, **how: Any) -> str:
        """The text in colours, when standard output shows them."""
        return marked(click.style(visible(text), **how)) if self._colour else text

    def dim(self, text: str) -> str:
        return self.style(text, dim=True)

    def bold(self, text: str) -> str:
        return self.style(text, bold=True)

    def result(self, value: object, lines: Iterable[str]) -> None:
        """The result: the value as JSON, or the lines for people."""
        if self.as_json:
            click.echo(for_json(json.dumps(value, ensure_ascii=False, indent=2)))
            return
        for line in lines:
            click.echo(for_terminal(line), color=self._colour)

    def note(self, text: str) -> None:
        """Something by the way; not a part of the result, so programs are spared it."""
        if not self.as_json:
            _say(text, rest="")

    def warn(self, text: str) -> None:
        if self.as_json:
            click.echo(for_json(json.dumps({"warning": text}, ensure_ascii=False)), err=True)
            return
        mark = click.style("warning", fg="yellow") if self._colour_errors else "warning"
        _say(text, f"{mark}: ", rest=" " * 9)

    def error(self, message: str, fix: str, value: Mapping[str, object]) -> None:
        """What is wrong and what to do: for people, or as `{"error": value}`."""
        if self.as_json:
            click.echo(for_json(json.dumps({"error": _worded(value)}, ensure_ascii=False, default=str)), err=True)
            return
        mark = click.style("error", fg="red", bold=True) if self._colour_errors else "error"
        _say(in_words(message), f"{mark}: ", rest=" " * 7)
        if fix:
            _say(in_words(fix), "  fix: ", rest=" " * 7)

    def lines(self, text: str, first: str = "", rest: str | None = None) -> list[str]:
        """Text of one line or more, on a terminal in lines of its width; a pipe gets each line as it is.

        Args:
            first, rest: stand before the first line, and before all others; without `rest`, `first` before all.
        """
        rest = first if rest is None else rest
        return [
            part
            for n, line in enumerate(text.splitlines())
            for part in _broken(line, first if n == 0 else rest, rest, at_terminal=self.terminal)
        ]

    def when(self, us: int) -> str:
        """A time: on a terminal in the person's zone, `2026-09-27 06:00`; else `2026-09-27T06:00:00Z`."""
        from dolmen.domain.timeframe import format_utc, local

        return local(us, self.zone) if self.terminal else format_utc(us)[:19].removesuffix("Z") + "Z"

    def in_zone(self, heading: str) -> str:
        """The heading of a column of times, which names the zone once."""
        return f"{heading} ({self.zone})"

    def listing(self, headings: Sequence[str], rows: Sequence[Sequence[str]], empty: str) -> list[str]:
        """Rows with a heading, as wide as the terminal; each on lines of its own, like the heading, where that is too
        narrow. For programs, what is not a terminal: cells between tabs, uncut."""
        if not rows:
            return [empty]
        rows = [[visible(cell) for cell in row] for row in rows]
        if not self.terminal:
            return ["\t".join(" ".join(click.unstyle(cell).split()) for cell in row) for row in rows]
        columns = shutil.get_terminal_size().columns
        fixed = [max(width(row[n]) for row in (headings, *rows)) + len(GAP) for n in range(len(headings) - 1)]
        room = columns - sum(fixed)
        if room < min(_NARROW, max(width(row[-1]) for row in rows)):
            stacked = _stacked([headings, *rows], columns, in_columns=sum(fixed) - len(GAP) <= columns)
            above, *below = stacked
            return [self.dim(line) for line in above] + [line for lines in below for line in lines]
        cut = [[*row[:-1], shorten(row[-1], room)] for row in rows]
        head, *body = table([list(headings), *cut])
        return [self.dim(head), *body]

    def diff(self, text: str) -> list[str]:
        """The lines of a diff in their colours."""
        return [self._diff_line(line) for line in visible(text).removesuffix("\n").split("\n") if text]

    def _diff_line(self, line: str) -> str:
        for start, colour in (("+", "green"), ("-", "red"), ("@", "cyan")):
            if line.startswith(start):
                return self.style(line, fg=colour)
        return line

    def progress(self, what: str) -> Progress:
        return Progress(what, shown=not self.as_json)


class Progress:
    """Tells on standard error how long work is coming on: in place on a terminal, else a line every few seconds."""

    def __init__(self, what: str, *, shown: bool = True) -> None:
        self._what = what
        self._shown = shown
        self._terminal = sys.stderr.isatty()
        self._next = time.monotonic() + (0.2 if self._terminal else 5.0)
        self._written = False

    def __call__(self, done: int, total: int | None = None) -> None:
        moment = time.monotonic()
        if not self._shown or moment < self._next:
            return
        self._next = moment + (0.2 if self._terminal else 5.0)
        of = f" of {total:,}" if total else ""
        line = f"{self._what}: {done:,}{of}"
        self._written = True
        click.echo(f"\r\x1b[K{line}" if self._terminal else line, err=True, nl=not self._terminal)

    def end(self) -> None:
        """Clears the line on a terminal."""
        if self._written and self._terminal:
            click.echo("\r\x1b[K", err=True, nl=False)


def _broken(line: str, first: str, rest: str, *, at_terminal: bool) -> list[str]:
    columns = shutil.get_terminal_size().columns
    if not at_terminal or width(first + line) <= columns:
        return [first + line]
    return wrapped(line, columns, width, first=first, rest=rest)


def _say(text: str, first: str = "", rest: str = "") -> None:
    """Writes to standard error: what others wrote is shown, not obeyed; `first` is this program's own."""
    shown = for_terminal(text).split("\n")
    parts = [
        part
        for n, line in enumerate(shown)
        for part in _broken(line, "" if n else first, rest, at_terminal=sys.stderr.isatty())
    ]
    click.echo("\n".join(parts), err=True, color=coloured(sys.stderr))


def _stacked(rows: Sequence[Sequence[str]], columns: int, *, in_columns: bool) -> list[list[str]]:
    """Each row on lines of its own: the short cells, below each other where they all fit, then the last, indented."""
    if in_columns:
        heads = [[line] for line in table(row[:-1] for row in rows)]
    else:
        heads = [_filled(row[:-1], columns) for row in rows]
    return [
        head + (["  " + shorten(row[-1], columns - 2)] if row[-1] else [])
        for head, row in zip(heads, rows, strict=True)
    ]


def _filled(cells: Sequence[str], columns: int) -> list[str]:
    """Cells on as few lines as they fit on."""
    lines: list[str] = []
    for cell in filter(None, cells):
        if lines and width(lines[-1]) + len(GAP) + width(cell) <= columns:
            lines[-1] += GAP + cell
        else:
            lines.append(("  " if lines else "") + cell)
    return lines


def table(rows: Iterable[Iterable[str]], gap: str = GAP) -> list[str]:
    """Rows in columns; wide characters count two. The last column is not padded."""
    cells = [list(row) for row in rows]
    if not cells:
        return []
    widths = [max(width(row[n]) for row in cells) for n in range(len(cells[0]) - 1)]
    return [
        gap.join([*(cell + " " * (size - width(cell)) for cell, size in zip(row, widths)), row[-1]]).rstrip()
        for row in cells
    ]


def width(text: str) -> int:
    """Columns that a text takes on a terminal, colours aside."""
    import unicodedata

    plain = click.unstyle(text)
    if plain.isascii():
        return len(plain)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in plain)


def shorten(text: str, columns: int) -> str:
    """The text on one line, cut at so many columns."""
    line = " ".join(text.split())
    if width(line) <= columns:
        return line
    kept = 0
    for n, character in enumerate(line):
        kept += width(character)
        if kept > columns - 1:
            return line[:n].rstrip() + "…"
    return line
