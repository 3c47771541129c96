"""The note: a Markdown document with an address, whose blocks are memories (DESIGN: words)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from dolmen.domain.memory import KINDS, Kind, Memory
from dolmen.domain.note.address import address

NoteStatus = Literal["active", "superseded", "deleted"]

SOURCE_LIMIT = 1_000_000
"""Characters of a note's Markdown (C-239)."""
NOTE = "note"
"""The label of a note that says nothing else about its kind."""
HEADED = "headed_by_person"
"""Attribute of a block's memory: a person wrote its title and headings, or had them before them when they verified
it."""

_SYNONYMS: Mapping[str, Kind] = {
    NOTE: "fact",
    "observation": "fact",
    "rule": "convention",
    "howto": "procedure",
    "how-to": "procedure",
    "bug": "error",
    "todo": "state",
    "status": "state",
}


@dataclass(frozen=True, slots=True)
class Note:
    """A note as it is now. What its source says about itself (title, kind, tags) is read from the source at each write.

    `version` counts from 1; each change leaves the state before it as a revision with the old number.
    """

    id: str
    vault: str
    scope: str
    permalink: str
    """Its address inside of the vault: `backend/auth-decision`. Everything before the last `/` is its folder."""
    title: str
    source: str
    """The Markdown, byte for byte as it was written."""
    blocks: tuple[str, ...] = ()
    """The ids of its blocks in their order: a block keeps its id as long as its words stay."""
    kind: Kind = "fact"
    label: str = NOTE
    """The word that its `type` property has."""
    path: str = ""
    """Where its file lay when it was imported, relative to the folder; empty for `<permalink>.md`."""
    status: NoteStatus = "active"
    reason: str = ""
    """Why it was deleted; kept forever."""
    superseded_by: str = ""
    """The id of the note that replaced it."""
    agent: str = "unknown"
    person: str = ""
    connection: str = "local"
    session: str = ""
    created_at: int = 0
    updated_at: int = 0
    audience: str = ""
    """Who may see it (`domain/audience`); empty for everybody of the vault. Its blocks have the same."""
    version: int = 1

    @property
    def folder(self) -> str:
        return self.permalink.rpartition("/")[0]

    @property
    def sha(self) -> str:
        return content_sha(self.source)

    def with_(self, **changes: Any) -> Note:
        """A copy with the given fields changed."""
        return replace(self, **changes)


@dataclass(frozen=True, slots=True)
class NoteRevision:
    """What a note was before a change, and the change."""

    note: Note
    """The whole state before the change; its `version` is the revision's number."""
    at: int
    op: str
    agent: str
    person: str
    connection: str
    reason: str = ""


def address_of(memory: Memory) -> str:
    """The address of a memory that is a block of a note; empty for a memory of its own."""
    permalink = memory.attrs.get("permalink")
    return address(permalink, memory.block) if memory.note and isinstance(permalink, str) else ""


def content_sha(source: str) -> str:
    """All 64 hex digits of the SHA-256 of the source as UTF-8: the token that a writer hands back (C-236)."""
    return hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()


def kind_of(label: str, otherwise: Kind) -> Kind:
    """The kind that a written word stands for; a word that stands for none leaves the note's own kind."""
    word = label.strip().lower().replace("_", "-")
    if word in KINDS:
        return next(kind for kind in KINDS if kind == word)
    return _SYNONYMS.get(word, otherwise)
