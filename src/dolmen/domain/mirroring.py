"""A folder of Markdown files that is kept in step with notes: what its two sides tell each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Waiting = Literal["pending", "applied", "refused"]
"""What became of a proposal: it waits, a person agreed, or nobody will (rejected or withdrawn)."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A live note as a listing shows it."""

    id: str
    version: int
    changed_at: int
    place: str
    """Where its file belongs, relative to the folder, with `/`; not checked: it may be no path at all."""
    was_file: bool = False
    """A file had that path once; else it is made of the note's address."""


@dataclass(frozen=True, slots=True)
class NoteState:
    """A note as it is now."""

    standing: Standing
    source: str
    sha: str
    live: bool
    """False for a tombstone."""
    here: bool = True
    """False for a note of another project."""
