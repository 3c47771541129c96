"""Splices: text goes in or out at one place, and every block elsewhere stays the block that it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dolmen.domain.errors import DolmenError
from dolmen.domain.note import Block, Matching, exchanged, marker
from dolmen.markdown.parsing import Document, parse
from dolmen.markdown.text import newline_of, plain, with_newlines


@dataclass(frozen=True, slots=True)
class Spliced:
    """A source after a splice: which blocks went, and which came in."""

    document: Document
    out: range
    """Places in the old version."""
    added: range
    """Places in the new version."""

    def matching(self, blocks: int) -> Matching:
        """What became of each of the old version's so many blocks."""
        return exchanged(blocks, self.out, self.added)


def append(document: Document, content: str) -> Spliced:
    """Puts Markdown at the end: a list goes on with another item, anything else follows a blank line (C-101).

    Raises:
        DolmenError: `invalid-argument` when nothing can follow: the last block swallows all that comes after it.
    """
    source, newline = document.source, newline_of(document.source)
    text = _lines(content, newline)
    ended = not source or source[-1] in "\r\n" or len(source) == document.body
    head = source if ended else source + newline
    tail = newline if ended else ""
    blank = "" if not source or _ends_blank(head) or len(source) == document.body else newline
    close = bool(document.blocks) and document.blocks[-1].type == "item" and bool(marker(content))
    kept, n = document.blocks, len(document.blocks)
    for gap in dict.fromkeys(["" if close else blank, blank]):
        spliced = parse(head + gap + text + tail)
        if _same(kept, spliced.blocks[:n]) and len(spliced.blocks) > n and spliced.body == document.body:
            return Spliced(spliced, range(n, n), range(n, len(spliced.blocks)))
    raise _swallowed("The end of the note", "is inside of a block that never ends, such as an open code fence")


def prepend(document: Document, content: str) -> Spliced:
    """Puts Markdown at the top of the body, below any front matter (C-101).

    Raises:
        DolmenError: `invalid-argument` when it would change what follows, such as an open code fence.
    """
    source, newline = document.source, newline_of(document.source)
    head, rest = source[: document.body], source[document.body :]
    text = _lines(content, newline)
    open_ = "" if not head or head[-1] in "\r\n\ufeff" else newline
    last = content.strip().split("\n")[-1]
    close = bool(document.blocks) and document.blocks[0].type == "item" and bool(marker(last))
    follows = rest[:1] in ("\r", "\n")
    blank = newline if follows or not rest.strip() else newline * 2
    n = len(document.blocks)
    for before, after in (("", newline if close and not follows else blank), ("", blank), (newline, blank)):
        spliced = parse(head + open_ + before + text + (after if rest else newline) + rest)
        first = len(spliced.blocks) - n
        below = spliced.body == document.body + len(open_)
        if first > 0 and below and _same(document.blocks, spliced.blocks[first:]):
            return Spliced(spliced, range(0), range(first))
    raise _swallowed("The content", "would swallow or change what follows it")


def replace_block(document: Document, place: int, content: str) -> Spliced:
    """Exchanges one block for others, or removes it when the content is empty; all others stay (C-101).

    A list item that is given without a bullet keeps the one that it has; a nested one keeps its indentation.

    Raises:
        DolmenError: `invalid-argument` when another block would change, or the block has nested ones.
    """
    block = document.blocks[place]
    before, after = document.blocks[:place], document.blocks[place + 1 :]
    if not content.strip() and any(each.parent == place for each in after):
        raise DolmenError(
            "invalid-argument",
            "The list item has items below it that are statements of their own.",
            "Remove those first, or use `replace_note`.",
        )
    for source in _candidates(document, block, content):
        spliced = parse(source)
        n = len(spliced.blocks) - len(before) - len(after)
        whole = n >= 1 if content.strip() else n == 0
        if not whole or spliced.body != document.body:
            continue
        if _same(before, spliced.blocks[: len(before)]) and _same(after, spliced.blocks[len(before) + n :]):
            return Spliced(spliced, range(place, place + 1), range(place, place + n))
    raise _swallowed("The content", "would change other blocks than this one")


def _candidates(document: Document, block: Block, content: str) -> Iterator[str]:
    """The ways to write it, the nearest to what was given first: as it is, then with blank lines around it."""
    source, newline = document.source, newline_of(document.source)
    head, tail = source[: block.start], source[block.end :]
    if not content.strip():
        yield head + tail
        yield head + newline + tail
        return
    text = _lines(_as_item(block, content) if block.type == "item" else content, newline)
    if block.indent:
        text = newline.join(block.indent + line if line.strip() else line for line in text.split(newline))
    ending = newline if source[block.start : block.end][-1:] in ("\r", "\n") or tail else ""
    for above, below in (("", ""), ("", newline), (newline, ""), (newline, newline)):
        yield head + above + text + (ending or (below and newline)) + below + tail


def _as_item(block: Block, content: str) -> str:
    """A list item's content with the bullet of the block, unless it brings one."""
    text = plain(content).strip("\n")
    if marker(text):
        return text
    bullet = marker(block.text)
    width = " " * len(bullet.expandtabs(4))
    first, *rest = text.split("\n")
    return "\n".join([bullet + first, *(width + line if line.strip() else "" for line in rest)])


def _lines(content: str, newline: str) -> str:
    """The content with the note's line ends, without blank lines around it."""
    text = plain(content)
    lines = text.split("\n")
    while lines and not lines[0].strip(" \t"):
        lines.pop(0)
    while lines and not lines[-1].strip(" \t"):
        lines.pop()
    return with_newlines("\n".join(lines), newline)


def _ends_blank(head: str) -> bool:
    lines = plain(head).split("\n")
    return len(lines) > 1 and not lines[-1] and not lines[-2].strip(" \t")


def _same(one: Sequence[Block], other: Sequence[Block]) -> bool:
    return len(one) == len(other) and all(
        (a.type, a.text, a.level) == (b.type, b.text, b.level) for a, b in zip(one, other)
    )


def _swallowed(what: str, how: str) -> DolmenError:
    return DolmenError(
        "invalid-argument", f"{what} {how}.", "Close what is open (a code fence, a comment), or use `replace_note`."
    )
