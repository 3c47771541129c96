"""From a source to its blocks. A list item is a block of its own; everything else is one as CommonMark sees it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from dolmen.domain.note import Block, BlockType, is_statement, mark
from dolmen.domain.text import fold
from dolmen.markdown.frontmatter import body_start
from dolmen.markdown.tables import table
from dolmen.markdown.text import Lines, plain

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_TYPES: dict[str, BlockType] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "blockquote_open": "quote",
    "html_block": "html",
    "hr": "rule",
}
_LISTS = ("bullet_list_open", "ordered_list_open")


@dataclass(frozen=True, slots=True)
class Document:
    """A source and where its parts stand."""

    source: str
    body: int
    """Where the body begins, after the front matter if there is one."""
    blocks: tuple[Block, ...]
    """In the order of the source, without overlap. Between them is white space alone."""

    @property
    def marks(self) -> tuple[str, ...]:
        """What each block says, in eight hex digits."""
        return tuple(mark(block) for block in self.blocks)

    def section(self, heading: str) -> tuple[int, int] | None:
        """Where the section with that heading begins and ends: its heading line and everything below it (C-235).

        The match ignores case and white space. Of several headings with the name, the first one.
        """
        wanted = _name(heading.lstrip("#"))
        for n, block in enumerate(self.blocks):
            if block.type == "heading" and _name(title_of(block)) == wanted:
                later = self.blocks[n + 1 :]
                ends = (b.start for b in later if b.type == "heading" and b.level <= block.level)
                return block.start, next(ends, len(self.source))
        return None


@lru_cache(maxsize=16)
def parse(source: str) -> Document:
    """The blocks of a source. Any text is Markdown: nothing is refused.

    A few are remembered, since one change of a note asks for those of the same source several times.
    """
    body = body_start(source)
    return Document(source, body, tuple(_Scan(source, body).read(_parser().parse(source[body:]))))


def title_of(heading: Block) -> str:
    """The words of a heading."""
    first = heading.text.strip().split("\n")
    if len(first) > 1 and not first[0].startswith("#"):
        return " ".join(line.strip() for line in first[:-1])
    return first[0].lstrip("#").strip().rstrip("#").strip()


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt  # loaded late: most calls never see a note

    parser = MarkdownIt("commonmark").enable("table").disable(["inline", "text_join"])
    parser.block.ruler.at("table", table, {"alt": ["paragraph", "reference"]})
    return parser


class _Scan:
    """Turns the parser's tokens into blocks with places in the source."""

    def __init__(self, source: str, body: int) -> None:
        self._body = body
        self._lines = Lines(source[body:])
        self._blocks: list[Block] = []
        self._path: list[tuple[int, str]] = []
        self._covered = 0
        """The first line that no block has yet."""

    def read(self, tokens: Sequence[Token]) -> list[Block]:
        ends = _ends(tokens)
        at = 0
        while at < len(tokens):
            token = tokens[at]
            if token.type in _LISTS:
                for item in _children(tokens, ends, at):
                    self._item(tokens, ends, item)
            elif token.map and token.type in _TYPES:
                level = int(token.tag[1:]) if token.type == "heading_open" else 0
                self._add(_TYPES[token.type], *token.map, level=level)
            at = ends.get(at, at) + 1
        self._uncovered(len(self._lines))
        return self._blocks

    def _item(self, tokens: Sequence[Token], ends: dict[int, int], at: int, depth: int = 0, parent: int = -1) -> None:
        """A list item with all that is nested in it; when something nested is a statement, each by itself."""
        first, last = tokens[at].map or (0, 0)
        children = list(_children(tokens, ends, at))
        lists = [child for child in children if tokens[child].type in _LISTS]
        if not lists or lists != children[-len(lists) :] or not self._states(tokens, lists[0], ends[at], first):
            self._add("item", first, last, level=depth, parent=parent)
            return
        inner = tokens[lists[0]].map or (last, last)
        own = self._add("item", first, inner[0], level=depth, parent=parent)
        for each in lists:
            for item in _children(tokens, ends, each):
                self._item(tokens, ends, item, depth + 1, own)

    def _states(self, tokens: Sequence[Token], start: int, end: int, line: int) -> bool:
        """Whether an item between two tokens is an observation or a relation, below the line that the outer one has."""
        starts = [token.map[0] for token in tokens[start:end] if token.type == "list_item_open" and token.map]
        return min(starts) > line and any(is_statement(self._lines.line(each)) for each in starts)

    def _add(self, type: BlockType, first: int, last: int, *, level: int = 0, parent: int = -1) -> int:
        while last > first + 1 and not self._lines.line(last - 1).strip(" \t"):
            last -= 1
        self._uncovered(first)
        self._covered = last
        start, end = self._lines.start(first), self._lines.start(last)
        raw = self._lines.text[start:end]
        indent = raw[: len(raw) - len(raw.lstrip(" \t"))] if type == "item" else ""
        text = plain(raw).removesuffix("\n")
        if indent:
            text = "\n".join(line.removeprefix(indent) for line in text.split("\n"))
        block = Block(type, self._body + start, self._body + end, text, (), level, indent, parent)
        if type == "heading":
            while self._path and self._path[-1][0] >= level:
                self._path.pop()
        block = replace(block, heading=tuple(words for _, words in self._path))
        if type == "heading":
            self._path.append((level, title_of(block)))
        self._blocks.append(block)
        return len(self._blocks) - 1

    def _uncovered(self, line: int) -> None:
        """Lines that the parser took without a token, such as link definitions, are blocks too."""
        first = self._covered
        while first < line:
            if not self._lines.line(first).strip(" \t"):
                first += 1
                continue
            last = first
            while last < line and self._lines.line(last).strip(" \t"):
                last += 1
            self._covered = last  # so that adding it finds nothing before it
            self._add("definition", first, last)
            first = last


def _ends(tokens: Sequence[Token]) -> dict[int, int]:
    """Where each opening token is closed."""
    ends: dict[int, int] = {}
    open_: list[int] = []
    for at, token in enumerate(tokens):
        if token.nesting == 1:
            open_.append(at)
        elif token.nesting == -1:
            ends[open_.pop()] = at
    return ends


def _children(tokens: Sequence[Token], ends: dict[int, int], parent: int) -> Iterator[int]:
    at = parent + 1
    while at < ends[parent]:
        yield at
        at = ends.get(at, at) + 1


def _name(heading: str) -> str:
    return "".join(fold(heading).split())
