"""Writes the reference pages that follow from tables in the code: `python docs/generate.py` (`--check` only compares).

A page is registered in GENERATORS with the function that gives its text. tests/docs holds the committed pages to it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parent
MARK = "<!-- Made by docs/generate.py from the code: change it there. -->"
"""The first line of every generated page."""

GENERATORS: dict[str, Callable[[], str]] = {}
"""The page, below docs/, and what makes its text after MARK."""


def page(name: str) -> str:
    """The whole text of a generated page."""
    return f"{MARK}\n\n{GENERATORS[name]().strip()}\n"


def main(arguments: list[str]) -> int:
    """Write every page, or with --check name those that differ; exit code 1 when there are any."""
    stale = [name for name in GENERATORS if not (DOCS / name).is_file() or (DOCS / name).read_text() != page(name)]
    for name in stale:
        print(f"{'differs' if '--check' in arguments else 'written'}: docs/{name}")
        if "--check" not in arguments:
            (DOCS / name).parent.mkdir(parents=True, exist_ok=True)
            (DOCS / name).write_text(page(name))
    return int(bool(stale) and "--check" in arguments)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
