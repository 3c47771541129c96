"""An independent judge of what became of a Python symbol: the standard library's own parser, and the text.

Knows nothing of tree-sitter, of hashes or of git's renames. A definition is the same when its text is, but for white
space.
"""

from __future__ import annotations

import ast
import subprocess
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Verdict = Literal["same", "reformatted", "moved", "changed", "moved and changed", "renamed", "removed"]
VERDICTS: tuple[Verdict, ...] = (
    "same", "reformatted", "moved", "changed", "moved and changed", "renamed", "removed",
)  # fmt: skip
STALE: frozenset[Verdict] = frozenset({"changed", "moved and changed", "renamed", "removed"})


@dataclass(frozen=True, slots=True)
class Symbol:
    path: str
    name: str
    """Qualified: `Client.send`."""
    text: str
    """The source of all its definitions in the file, in order."""

    @property
    def bare(self) -> str:
        """The text without white space."""
        return "".join(self.text.split())

    @property
    def nameless(self) -> str:
        """The same without its own name."""
        return self.bare.replace(self.name.rpartition(".")[2], "", 1)


@dataclass(slots=True)
class Snapshot:
    """Every Python definition at a commit."""

    symbols: dict[tuple[str, str], Symbol] = field(default_factory=dict)
    unread: set[str] = field(default_factory=set)
    """Files that this Python cannot parse."""

    def judge(self, before: Symbol) -> Verdict | None:
        """What became of a symbol; None when its file cannot be read."""
        if before.path in self.unread:
            return None
        here = self.symbols.get((before.path, before.name))
        if here is not None:
            if here.text == before.text:
                return "same"
            return "reformatted" if here.bare == before.bare else "changed"
        elsewhere = [each for (_, name), each in self.symbols.items() if name == before.name]
        if any(each.bare == before.bare for each in elsewhere):
            return "moved"
        if any(each.nameless == before.nameless for each in self.symbols.values()):
            return "renamed"
        return "moved and changed" if len(elsewhere) == 1 else "removed"


def snapshot(root: Path) -> Snapshot:
    """Reads the work tree."""
    listed = subprocess.run(["git", "-C", str(root), "ls-files", "-z", "*.py"], check=True, capture_output=True)
    found = Snapshot()
    for path in filter(None, listed.stdout.decode().split("\0")):
        try:
            source = (root / path).read_text(encoding="utf-8")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(source)
        except (SyntaxError, ValueError, OSError):
            found.unread.add(path)
            continue
        lines = source.splitlines(keepends=True)
        for name, node in _definitions(tree, ""):
            first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            text = "".join(lines[first - 1 : node.end_lineno])
            before = found.symbols.get((path, name))
            found.symbols[path, name] = Symbol(path, name, (before.text if before else "") + text)
    return found


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def _definitions(node: ast.AST, within: str) -> Iterator[tuple[str, Definition]]:
    """Functions and classes, and those inside classes."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{within}{child.name}"
            yield name, child
            if isinstance(child, ast.ClassDef):
                yield from _definitions(child, f"{name}.")
        elif isinstance(child, ast.If | ast.Try | ast.With):
            yield from _definitions(child, within)
