"""What a command says: results on standard output, everything else on standard error."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterable
from typing import Any, TextIO

import click

from dolmen.domain.errors import DolmenError


def coloured(stream: TextIO) -> bool:
    """Colours only for a terminal, and never with NO_COLOR."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


class Output:
    """One command's mouth. With `as_json`, standard output holds exactly one JSON value."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._colour = coloured(sys.stdout)
        self._colour_errors = coloured(sys.stderr)

    def style(self, text: str, **how: Any) -> str:
        """The text in colours, when standard output shows them."""
        return click.style(text, **how) if self._colour else text

    def dim(self, text: str) -> str:
        return self.style(text, dim=True)

    def bold(self, text: str) -> str:
        return self.style(text, bold=True)

    def result(self, value: object, lines: Iterable[str]) -> None:
        """The result: the value as JSON, or the lines for people."""
        if self.as_json:
            click.echo(json.dumps(value, ensure_ascii=False, indent=2))
            return
        for line in lines:
            click.echo(line, color=self._colour)

    def note(self, text: str) -> None:
        """Something by the way; not a part of the result."""
        click.echo(text, err=True)

    def warn(self, text: str) -> None:
        mark = click.style("warning", fg="yellow") if self._colour_errors else "warning"
        click.echo(f"{mark}: {text}", err=True, color=self._colour_errors)

    def error(self, error: DolmenError) -> None:
        """What is wrong and what to do: for people, or as `{"error": {code, message, fix}}`."""
        if self.as_json:
            click.echo(json.dumps({"error": error.as_dict()}, ensure_ascii=False, default=str), err=True)
            return
        mark = click.style("error", fg="red", bold=True) if self._colour_errors else "error"
        click.echo(f"{mark}: {error.message}", err=True, color=self._colour_errors)
        if error.fix:
            click.echo(f"  fix: {error.fix}", err=True)

    def diff(self, text: str) -> list[str]:
        """The lines of a diff in their colours."""
        return [self._diff_line(line) for line in text.splitlines()]

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


def table(rows: Iterable[Iterable[str]], gap: str = "  ") -> list[str]:
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
    """The first line, cut at so many columns."""
    line = " ".join(text.split())
    if width(line) <= columns:
        return line
    kept = 0
    for n, character in enumerate(line):
        kept += width(character)
        if kept > columns - 1:
            return line[:n].rstrip() + "…"
    return line
