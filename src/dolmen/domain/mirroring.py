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


WriteOp = Literal["create", "change", "delete", "revive", "refile", "propose", "withdraw"]


@dataclass(frozen=True, slots=True)
class MirrorWrite:
    """What a mirror wants written. Doing it twice is as good as once, so it may be sent again after a lost answer."""

    op: WriteOp
    id: str
    """Of the note; of the proposal for `withdraw`."""
    path: str = ""
    """Of the file, for `create` and `refile`."""
    source: str = ""
    """What the file says, for `create`, `change` and `propose`."""
    seen: str = ""
    """Sha of the version that the mirror saw, for `change`, `delete` and `propose`."""
    reason: str = ""
    """For `propose`."""


class Waits(Exception):
    """A write that was not done: it became a proposal, which waits for a person."""

    def __init__(self, proposal: str) -> None:
        super().__init__(f"It waits for a person as the proposal {proposal}.")
        self.proposal = proposal
