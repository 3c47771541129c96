"""Notes: what is to be written, and what became of it; how a note is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from dolmen.domain.memory import Memory
from dolmen.domain.note import BlockType, Note, NoteRevision
from dolmen.markdown import Property
from dolmen.services.requests.reading import HistoryEntry, View
from dolmen.services.requests.writing import NewLink, Outcome


@dataclass(frozen=True, slots=True)
class NewNote:
    """A note to be created. Only `content` is required (C-96)."""

    content: str
    """Markdown; it may bring front matter of its own."""
    kind: str = ""
    """The word for its kind: `note`, `decision`, `convention`, `state`, `reference`, …; empty: what its `type` property
    says, else `note`."""
    title: str = ""
    """Empty: the `title` property, else the first line."""
    folder: str = ""
    permalink: str = ""
    """The address exactly; refused when another note has it. Empty: derived from folder and title."""
    links: tuple[NewLink, ...] = ()
    """Become relation lines; their targets need not exist yet."""
    supersedes: tuple[str, ...] = ()
    """Notes whose claims no longer hold."""
    tags: tuple[str, ...] = ()
    project: str | None = None
    session: str | None = None
    path: str | None = None
    """Imports only: where its file lies. Not one byte of the content is changed or added then."""
    created_at: int | None = None
    """Imports only."""
    id: str | None = None
    """Imports only: the id that it has elsewhere; refused when a note here has it."""


NoteOp = Literal[
    "append", "prepend", "replace_block", "replace_note", "set_property", "delete_note", "withdraw", "retract"
]


@dataclass(frozen=True, slots=True)
class NoteEdit:
    """One of the eight operations (C-100)."""

    ref: str
    """A note, a block for `replace_block`, a proposal for `withdraw`."""
    op: NoteOp
    content: str | None = None
    key: str | None = None
    value: Property = None
    """None removes the property."""
    reason: str = ""
    expected_sha: str | None = None
    """The `sha` of the version that the writer read."""


@dataclass(frozen=True, slots=True)
class NoteWritten:
    """What became of a write to a note."""

    outcome: Outcome
    ref: str
    """Its address; of a proposed note, the one that it would get."""
    permalink: str = ""
    title: str = ""
    version: int = 0
    sha: str = ""
    added: tuple[str, ...] = ()
    """Ids of blocks."""
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    superseded: tuple[str, ...] = ()
    """Addresses of the notes whose place it takes."""
    address_in_use: Mapping[str, str] | None = None
    """`{ref, title, suggestion}` when another note had the derived address (C-99)."""
    proposal: str | None = None
    because: str = ""
    notes: tuple[str, ...] = ()
    note: Note | None = None
    """The stored state."""


@dataclass(frozen=True, slots=True)
class BlockView:
    """A block in the list of a note: its address and what is known about it, never its words again (C-236)."""

    id: str
    ref: str
    type: BlockType
    kind: str
    """The label of what it states; empty for headings and rules, which state nothing."""
    verification: str = ""
    status: str = ""
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class NoteLink:
    """An edge from or to a note."""

    source: str
    """The address of the block that states it."""
    rel: str
    to: str
    """The address of the note that it leads to, or the name of one that is not written yet."""
    resolved: bool


@dataclass(frozen=True, slots=True)
class NoteView:
    """A note, a section or a block of it."""

    note: Note
    ref: str
    sha: str
    text: str
    """Markdown: of the whole note, or of the section or block."""
    view: View = "content"
    blocks: tuple[BlockView, ...] = ()
    """Of the whole note or the section; the one block of a block ref."""
    block: str | None = None
    history: tuple[HistoryEntry, ...] = ()
    revisions: tuple[NoteRevision, ...] = ()
    links: tuple[NoteLink, ...] = ()
    """What it links to, and what links to it."""
    proposals: tuple[str, ...] = ()
    properties: Mapping[str, Property] = field(default_factory=dict)
    moved: bool = False
    """The ref named an address that the note had before."""


@dataclass(frozen=True, slots=True)
class FolderLine:
    path: str
    notes: int
    """In the folder and all below it."""


@dataclass(frozen=True, slots=True)
class NoteEntry:
    ref: str
    permalink: str
    title: str
    kind: str
    scope: str
    updated_at: int
    path: str = ""


@dataclass(frozen=True, slots=True)
class NoteListing:
    folders: tuple[FolderLine, ...]
    notes: tuple[NoteEntry, ...]
    cursor: str | None = None
    truncated: bool = False
