"""Notes and who keeps them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from dolmen.domain.memory import Kind
from dolmen.domain.values import Change
from dolmen.store.contract.filter import Filter

if TYPE_CHECKING:
    from dolmen.domain.note import Note, NoteRevision, NoteStatus

NoteOrder = Literal["address", "changed"]


@dataclass(frozen=True, slots=True)
class NoteLine:
    """A note in a listing: everything but what it says."""

    id: str
    scope: str
    permalink: str
    title: str
    folder: str
    kind: Kind
    label: str
    path: str
    status: NoteStatus
    agent: str
    created_at: int
    updated_at: int
    version: int


class Notes(Protocol):
    """Notes, the addresses that they had, and their revisions. Another vault's id is as good as unknown.

    Addresses are compared without regard to case (`domain.note.key`). Blocks are memories: `Memories` keeps them.
    """

    def add(self, note: Note) -> bool:
        """Adds it; False, and nothing added, when a live note has its address or had it before it was moved, also when
        another process is adding one right now."""

    def get(self, vault: str, id: str) -> Note | None: ...

    def many(self, vault: str, ids: Sequence[str]) -> dict[str, Note]: ...

    def known(self, vault: str, ids: Sequence[str]) -> set[str]:
        """Which of these ids are notes, also of those that the viewer must not see: it tells no more than that."""

    def at_address(self, vault: str, permalink: str) -> Note | None:
        """The live note with this address, else the one that had it before it was moved, else the one with it that was
        deleted last."""

    def named(self, vault: str, keys: Sequence[str]) -> dict[str, list[NoteLine]]:
        """Live notes by each key that is their address, the last part of it, an address that they had, or their title;
        those whose address it is come first."""

    def lock(self, vault: str, id: str) -> None:
        """Until the transaction ends, no other one changes the note or passes here for it; what is read of it from now
        on is its newest state."""

    def update(self, before: Note, after: Note, change: Change) -> None:
        """Replaces the state and keeps `before` as a revision. `after.version` must be `before.version + 1`. A note
        that gets another address is still found at the one that it had.

        Raises DolmenError `conflict` when the stored version is no longer `before.version`, or when another live note
        has or had the new address.
        """

    def select(
        self,
        filter: Filter,
        order: NoteOrder = "address",
        limit: int = 50,
        after: str | None = None,
        deepest: int | None = None,
    ) -> list[NoteLine]:
        """Notes that pass the filter; `after` is the id of the last one of the page before. `changed`: newest first.

        Args:
            deepest: only those whose folder has at most so many parts; 0 for those that lie in none.

        Raises DolmenError `gone` when the note `after` is no longer here.
        """

    def folders(self, filter: Filter) -> dict[str, int]:
        """How many notes that pass the filter lie in each folder itself."""

    def revisions(self, vault: str, id: str, *, every: bool = False) -> list[NoteRevision]:
        """Oldest first. Empty for a note that never changed. `every`: of a note that the viewer may see, also what it
        was when they might not, so that a purge leaves nothing behind."""

    def at(self, vault: str, id: str, at: int) -> Note | None:
        """The state that it had at that time; None when it was not yet written then."""

    def aliases(self, vault: str) -> Mapping[str, str]:
        """The addresses that notes had (as keys), with the notes' ids."""

    def stream(self, vault: str) -> Iterator[Note]:
        """Every note of the vault in the order of their ids, without holding them all."""

    def restore(self, note: Note, revisions: Sequence[NoteRevision], aliases: Sequence[str] = ()) -> bool:
        """Import: writes the row, its revisions and the addresses that it had as they are. False, and nothing written,
        when its id or its address is already taken."""

    def rewrite(self, note: Note, revisions: Sequence[NoteRevision], forget: Sequence[str] = ()) -> None:
        """Puts other words into a note and its past without leaving the old ones: for a purge. Versions stay.

        Args:
            forget: addresses that it had, as keys, which lead nowhere from now on.
        """

    def purge(self, vault: str, ids: Sequence[str]) -> None:
        """Destroys the rows, revisions, former addresses and proposals. The blocks are the caller's to purge, after."""
