"""Where the YAML front matter of a source stands, if it has any."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError

if TYPE_CHECKING:
    import yaml

_OPEN = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\r|\n)")
_CLOSE = re.compile(r"(?:---|\.\.\.)[ \t]*(?:\r\n|\r|\n|\Z)")
_BREAK = re.compile(r"\r\n|\r|\n")
_KEY = re.compile(r"[^\s#:\[\]{}-][^:\r\n]*:(?:[ \t]|\r|\n|$)")
LIMIT = 64_000
"""Characters of front matter that are looked at."""
_MOST = 100_000
"""Values that they may say, with what an alias stands for counted each time: a few lines of aliases of aliases can say
billions."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """`source[start:end]` is the YAML between the two lines of dashes; the body begins at `body`."""

    start: int
    end: int
    body: int
    root: yaml.MappingNode | None
    """None when it is empty or no YAML."""
    error: str = ""
    """What the YAML parser said of it."""


def front_matter(source: str) -> FrontMatter | None:
    """The front matter of a source; None when its first line is no `---`, nothing closes it, or it is no mapping."""
    opened = _OPEN.match(source)
    if opened is None:
        return None
    start = at = opened.end()
    while at < len(source) and at - start <= LIMIT:
        if closed := _CLOSE.match(source, at):
            return _read(source[start:at], start, closed.end())
        broken = _BREAK.search(source, at)
        at = broken.end() if broken else len(source)
    return None


def body_start(source: str) -> int:
    """Where the body begins: after the front matter, or after a byte order mark."""
    found = front_matter(source)
    if found is not None:
        return found.body
    return 1 if source.startswith("\ufeff") else 0


def unclosed(source: str) -> bool:
    """Whether a source begins as if it had front matter, which nothing closes."""
    opened = _OPEN.match(source)
    return opened is not None and front_matter(source) is None and _KEY.match(source, opened.end()) is not None


@lru_cache(maxsize=64)
def _read(text: str, start: int, body: int) -> FrontMatter | None:
    end = start + len(text)
    try:
        root = compose(text)
    except DolmenError as error:
        return FrontMatter(start, end, body, None, error.message)
    import yaml

    if root is None:
        return FrontMatter(start, end, body, None)
    return FrontMatter(start, end, body, root) if isinstance(root, yaml.MappingNode) else None


def compose(text: str) -> yaml.Node | None:
    """The nodes of a YAML text with their places; nothing is constructed from it.

    Raises:
        DolmenError: `invalid-argument` with what the parser says.
    """
    import yaml  # loaded late: most calls never see a note

    try:
        root: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
        if root is not None and _said(root, {}) > _MOST:
            raise _broken("its aliases say too much")
        return root
    except yaml.MarkedYAMLError as error:
        place = f" in line {error.problem_mark.line + 2}" if error.problem_mark else ""
        raise _broken(f"{error.problem or error.context}{place}") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _broken("it cannot be read" if isinstance(error, RecursionError) else str(error)) from None


def _said(node: yaml.Node, known: dict[int, int]) -> int:
    """How many values a node says."""
    if id(node) not in known:
        known[id(node)] = _MOST  # as long as it is being counted: what holds itself never ends
        inner = node.value if isinstance(node.value, list) else []  # nodes, or pairs of them
        each = [part for item in inner for part in (item if isinstance(item, tuple) else (item,))]
        known[id(node)] = 1 + sum(_said(part, known) for part in each)
    return known[id(node)]


def _broken(problem: str) -> DolmenError:
    return DolmenError(
        "invalid-argument",
        f"The front matter is no YAML: {problem}.",
        "Correct it with `replace_note`.",
    )
