"""Draws docs/pictures/demo.svg from what `dolmen demo` really prints: `python docs/picture.py`."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import tempfile
import unicodedata
from html import escape
from pathlib import Path

PICTURE = Path(__file__).parent / "pictures" / "demo.svg"
COLUMNS, LINES = 104, 34
CELL, ROW, EDGE = 8.4, 20, 22
COLOURS = {"31": "#f38ba8", "32": "#a6e3a1", "33": "#f9e2af", "34": "#89b4fa", "35": "#cba6f7", "36": "#94e2d5"}
_STYLE = re.compile(r"\x1b\[([0-9;]*)m")


def printed() -> list[str]:
    """The lines of `dolmen demo` on a terminal of its own, colours included, wrapped at its width."""
    home = tempfile.mkdtemp(prefix="dolmen-picture-")
    environment = {
        **os.environ,
        "XDG_DATA_HOME": home,
        "COLUMNS": str(COLUMNS),
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
    }
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "dolmen", "demo"]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, env=environment) as process:
        os.close(slave)
        raw = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # the terminal of an ended program
                break
            if not piece:
                break
            raw += piece
    if process.returncode:
        raise SystemExit(f"dolmen demo ended with {process.returncode}")
    text = raw.decode("utf-8").replace("\r\n", "\n").replace(home, "~/.local/share")
    return [part for line in text.split("\n") for part in _wrapped(line)]


def _wrapped(line: str) -> list[str]:
    """A line cut into rows between its words; colours go on in the next row."""
    rows, row, width, style = [], "", 0, ""
    indent = "  " if line.startswith("  ") else ""
    for piece in re.findall(r"\x1b\[[0-9;]*m|\s+|[^\s\x1b]+", line):
        if _STYLE.fullmatch(piece):
            style = "" if piece in ("\x1b[0m", "\x1b[m") else style + piece
            row += piece
            continue
        cells = sum(map(_width, piece))
        if width + cells > COLUMNS and width > len(indent):
            rows.append(row)
            row, width = indent + style, len(indent)
            if piece.isspace():
                continue
        row += piece
        width += cells
    return [*rows, row]


def _width(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def drawn(lines: list[str]) -> str:
    """The lines as a terminal window in SVG."""
    width, height = COLUMNS * CELL + 2 * EDGE, len(lines) * ROW + 2 * EDGE + 24
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" role="img" '
        'aria-label="dolmen demo answers questions in English and Korean">',
        "<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'Noto Sans Mono CJK KR',monospace;"
        "fill:#cdd6f4;white-space:pre}.b{font-weight:700}.d{fill:#7f849c}</style>",
        f'<rect width="{width:.0f}" height="{height:.0f}" rx="10" fill="#1e1e2e"/>',
        *(
            f'<circle cx="{22 + 20 * n}" cy="20" r="6" fill="{c}"/>'
            for n, c in enumerate(("#f38ba8", "#f9e2af", "#a6e3a1"))
        ),
    ]
    for n, line in enumerate(lines):
        y = EDGE + 24 + n * ROW + 14
        out += _row(line, y)
    return "\n".join([*out, "</svg>", ""])


def _row(line: str, y: float) -> list[str]:
    out, column, codes = [], 0, set[str]()
    for n, piece in enumerate(_STYLE.split(line)):
        if n % 2:
            codes = set() if piece in ("", "0") else codes | set(piece.split(";"))
        elif piece.strip():
            shown = piece.rstrip()
            lead = len(shown) - len(shown.lstrip())
            x = EDGE + (column + lead) * CELL
            style = (' class="b"' if "1" in codes else "") + (' class="d"' if "2" in codes else "")
            colour = next((f' fill="{COLOURS[c]}"' for c in codes if c in COLOURS), "")
            cells = sum(map(_width, shown.lstrip()))
            fit = f' textLength="{cells * CELL:.1f}" lengthAdjust="spacingAndGlyphs"'
            out.append(f'<text x="{x:.1f}" y="{y:.0f}"{style}{colour}{fit}>{escape(shown.lstrip())}</text>')
        column += sum(map(_width, piece)) if not n % 2 else 0
    return out


def main() -> None:
    lines = ["\x1b[2m$\x1b[0m \x1b[1mdolmen demo\x1b[0m", *printed()]
    while lines and not lines[-1].strip():
        lines.pop()
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(drawn(lines[:LINES]), encoding="utf-8")


if __name__ == "__main__":
    main()
