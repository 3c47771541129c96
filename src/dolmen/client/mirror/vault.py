"""What a mirror asks of the vault."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Literal, Protocol

from dolmen.domain.mirroring import MirrorWrite, NoteState, Standing, Waiting

BROKEN = ("store-busy", "unavailable", "internal", "unauthorized", "rate-limited", "configuration")
"""Errors that are no note's own: nothing else works either."""


class Vault(Protocol):
    """The notes of one project. A write that names a version raises DolmenError `conflict` when the note moved on; what
    cannot be kept (a secret, too long, no text) is refused with its own code. `Waits` is raised for a write that became
    a proposal: nothing was written then."""

    @property
    def mode(self) -> Literal["read", "suggest", "write"]:
        """What may be done. With `read`, nothing is written but the folder."""

    @property
    def together(self) -> int:
        """How many writes are best handed over `ahead`; 1 where it makes no difference."""

    def expect(
        self, notes: Iterable[str], sources: Iterable[tuple[str, str, int]] = (), proposals: Iterable[str] = ()
    ) -> None:
        """Which notes, sources and proposals will be asked for next, in this order: a vault that is far away asks for
        many at once."""

    def ahead(self, writes: Iterable[MirrorWrite]) -> None:
        """Does writes that will be asked for one by one in a moment, in this order; each then tells what became of it.
        An error of one is raised there."""

    def standing(self) -> Sequence[Standing]:
        """Every live note."""

    def newest(self) -> object:
        """What is another value after a note was written; cheap. A purge need not be seen by it."""

    def read(self, id: str) -> NoteState | None:
        """A note, live or not; None when it was purged, or never here."""

    def purged(self, ids: Sequence[str]) -> Collection[str]:
        """Which of these notes were destroyed, or withdrawn from this reader, on purpose. Others that are not there may
        be lost: an older copy of the store does not know them."""

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
