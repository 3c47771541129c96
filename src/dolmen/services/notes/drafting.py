"""Drafts: a note as it would be after a change, worked out before any transaction begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dolmen.domain.memory import HANDOFF, SUMMARY, TAGS_LIMIT, TITLE_LIMIT, Kind
from dolmen.domain.note import (
    NOTE,
    Block,
    Matching,
    Note,
    identify,
    key,
    kind_of,
    read_item,
    read_text,
    states_something,
    tag_list,
    title_from,
)
from dolmen.domain.note.lines import Line
from dolmen.markdown import Document, Properties, parse, read_properties, title_of

_RESERVED = (HANDOFF, SUMMARY)
"""Labels under which sessions look for their own memories."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What one block says, as its memory holds it."""

    block: str
    text: str
    kind: Kind
    label: str
    tags: tuple[str, ...]
    title: str
    """The note's title and the headings above it."""
    heading: str
    """The nearest heading."""
    links: tuple[tuple[str, str], ...]
    """(relation, name of the target)."""


@dataclass(frozen=True, slots=True)
class Draft:
    note: Note
    statements: Mapping[str, Statement]
    """By the ids of their blocks, in the order of the note."""
    reworded: Mapping[str, str]
    """Id of a block -> id of the block whose statement it makes in other words."""


def document_of(note: Note) -> tuple[Document, tuple[str, ...]]:
    """The blocks of a note and their ids."""
    document = parse(note.source)
    if len(document.blocks) == len(note.blocks):
        return document, note.blocks
    return document, identify(document.marks)  # read by another version of the parser


def draft_new(note: Note, document: Document) -> Draft:
    """A note whose blocks are all new."""
    ids = identify(document.marks)
    return _draft(note.with_(source=document.source, blocks=ids), document, read_properties(document.source), {})


def draft_change(before: Note, old: tuple[str, ...], document: Document, matching: Matching) -> Draft:
    """The next version of a note.

    Args:
        old: the ids of the blocks that it has now.
        matching: which of the new document's blocks is which of those.
    """
    kept: list[str | None] = [None] * len(document.blocks)
    for a, c in matching.same:
        kept[c] = old[a]
    ids = identify(document.marks, kept)
    # A block that says what the replaced one said, and so has its id, is that one; the other words are new then.
    reworded = {ids[c]: old[a] for a, c in matching.changed if old[a] not in ids}
    properties = read_properties(document.source)
    title = properties.text("title")[:TITLE_LIMIT] or _followed(before, document)
    after = before.with_(source=document.source, blocks=ids, title=title, version=before.version + 1)
    return _draft(after, document, properties, reworded)


def _draft(note: Note, document: Document, properties: Properties, reworded: Mapping[str, str]) -> Draft:
    label = properties.text("type")[:64] or note.label or NOTE
    label = NOTE if label in _RESERVED else label
    note = note.with_(label=label, kind=kind_of(label, "fact"))
    tags = tag_list(properties.values.get("tags"))
    statements = {
        id: _statement(note, id, block, tags)
        for id, block in zip(note.blocks, document.blocks, strict=True)
        if states_something(block)
    }
    return Draft(note, statements, reworded)


def _statement(note: Note, id: str, block: Block, tags: tuple[str, ...]) -> Statement:
    line = read_item(block.text) if block.type == "item" else _text(block)
    label = note.label if line.label in _RESERVED else line.label or note.label
    path = [note.title, *(words for words in block.heading if words and key(words) != key(note.title))]
    return Statement(
        block=id,
        text=line.text,
        kind="relation" if line.relation else kind_of(label, note.kind),
        label=label,
        tags=tuple(dict.fromkeys((*line.tags, *tags)))[:TAGS_LIMIT],
        title=_shortened(" › ".join(path)),
        heading=block.heading[-1] if block.heading else "",
        links=line.links,
    )


def _text(block: Block) -> Line:
    return Line(block.text) if block.type in ("code", "html", "definition") else read_text(block.text)


def _shortened(path: str) -> str:
    return path if len(path) <= TITLE_LIMIT else path[: TITLE_LIMIT - 1] + "…"


def first_heading(document: Document) -> str:
    """The words of the heading that the note begins with; empty when it begins otherwise."""
    if not document.blocks or document.blocks[0].type != "heading":
        return ""
    return " ".join(title_of(document.blocks[0]).split())[:TITLE_LIMIT]


def first_line(document: Document) -> str:
    """A title from the first words of the body (C-97)."""
    for block in document.blocks:
        for line in block.text.splitlines():
            if words := title_from(line):
                return words
    return ""


def _followed(before: Note, document: Document) -> str:
    """A title that was never set stays, unless it was that of the first heading: then it goes with the heading."""
    heading = first_heading(document)
    if not heading or before.title == heading:
        return before.title
    return heading if before.title == first_heading(parse(before.source)) else before.title
