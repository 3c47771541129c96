"""What a mirror asks of the vault."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dolmen.domain.mirroring import NoteState, Standing, Waiting


class Vault(Protocol):
    """The notes of one project. A write that names a version raises DolmenError `conflict` when the note moved on; what
    cannot be kept (a secret, too long, no text) is refused with its own code."""

    def standing(self) -> Sequence[Standing]:
        """Every live note."""

    def newest(self) -> object:
        """What is another value after a note was written; cheap. A purge need not be seen by it."""

    def read(self, id: str) -> NoteState | None:
        """A note, live or not; None when it was purged, or never here."""

    def source(self, id: str, sha: str, after: int = 0) -> str | None:
        """What a note said in the version with that sha; None when it never did, or not `after` that version."""

    def new_ids(self, count: int) -> Sequence[str]: ...

    def create(self, id: str, path: str, source: str) -> NoteState: ...

    def change(self, id: str, source: str, seen: str) -> NoteState: ...

    def delete(self, id: str, seen: str) -> NoteState: ...

    def revive(self, id: str) -> NoteState: ...

    def refile(self, id: str, path: str) -> NoteState: ...

    def propose(self, id: str, source: str, seen: str, reason: str) -> str:
        """The id of the proposal; the same one again while it waits."""

    def proposal(self, id: str) -> Waiting: ...

    def withdraw(self, proposal: str) -> None: ...
