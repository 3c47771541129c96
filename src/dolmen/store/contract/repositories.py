"""Rows and who keeps them: a port for each kind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from dolmen.domain.access import Connection, KeyGroup
from dolmen.domain.memory import Kind, Link, Memory, Revision
from dolmen.domain.values import Bounds, Change, WritePolicy
from dolmen.store.contract.filter import Filter, Order

if TYPE_CHECKING:
    from dolmen.domain.proposal import Proposal, ProposalStatus
    from dolmen.domain.ranking import Place


@dataclass(frozen=True, slots=True)
class RecallEvent:
    id: str
    vault: str
    at: int
    connection: str
    agent: str
    query: str
    refs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Feedback:
    id: str
    vault: str
    at: int
    connection: str
    agent: str
    event: str | None
    refs: tuple[str, ...]
    relevant: bool | None
    sufficient: bool | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    id: str
    vault: str
    at: int
    connection: str
    agent: str
    op: str
    detail: str = ""
    origin: str = ""


class Memories(Protocol):
    """Memories, their tags and their revisions. Another vault's id is as good as unknown."""

    def add(self, memory: Memory, content_key: str) -> bool:
        """Adds it; False, and nothing added, when an active or proposed memory of the same vault, scope, label and kind
        has the same `content_key`, also when another process is adding it right now. Blocks of notes are never in each
        other's way, nor in that of a single memory."""

    def get(self, vault: str, id: str) -> Memory | None: ...

    def many(self, vault: str, ids: Sequence[str]) -> dict[str, Memory]: ...

    def places(self, vault: str, ids: Sequence[str]) -> dict[str, Place]:
        """Where those of the memories stand that have a session: what was written before them in it, whatever became of
        that. Bounded work, however long the session is."""

    def by_content(
        self, vault: str, scope: str, label: str, kind: Kind, content_key: str, audience: str = ""
    ) -> Memory | None:
        """The active or proposed memory of the audience with this statement (the one that `add` would collide with); no
        block."""

    def saying(self, vault: str, scope: str, content_key: str, audience: str = "") -> list[Memory]:
        """Every memory of the scope with this statement, of any kind, label and status: also what was rejected."""

    def update(self, before: Memory, after: Memory, change: Change, content_key: str) -> None:
        """Replaces the state and keeps `before` as a revision. `after.version` must be `before.version + 1`.

        Raises DolmenError `conflict` when the stored version is no longer `before.version`, or when the new state would
        be a second active copy of a statement.
        """

    def note(self, vault: str, id: str, attrs: Mapping[str, Any]) -> None:
        """Replaces `attrs` without a revision: for bookkeeping such as who resumed a handoff."""

    def strip(self, vault: str, ids: Sequence[str], attr: str) -> None:
        """Takes an entry out of `attrs`, also of what the memories were before, without a revision: for words that a
        purge destroys and that were quoted there."""

    def add_blocks(self, blocks: Sequence[tuple[Memory, str]]) -> None:
        """Adds blocks of notes with their content keys, all at once: they are never in anything's way."""

    def place(self, before: Memory, after: Memory, content_key: str) -> None:
        """Replaces the state of a block without a revision and without a new version: for what it inherits from its
        note, whose own revisions tell that story. Its statement and its marks stay.

        Raises DolmenError `conflict` when the stored version is no longer `before.version`.
        """

    def blocks(self, vault: str, note: str) -> list[Memory]:
        """The memories that are blocks of the note, or were: in any status, oldest first."""

    def purge(self, vault: str, ids: Sequence[str]) -> None:
        """Destroys the rows, revisions, tags, links from and to them, idempotency keys, proposals, index entries and
        vectors, and the recalls that found them with what was said of those. `Store.scrub` then cleans the files.

        Whoever is just adding to one of them, in another transaction, is waited for, or fails: nothing stays behind."""

    def select(
        self, filter: Filter, order: Order = "newest", limit: int = 50, after: str | None = None
    ) -> list[Memory]:
        """Memories that pass the filter; `after` is the id of the last one of the page before (same order). Of equal
        ones, the later id comes first (`oldest`: last).

        Raises DolmenError `gone` when the memory `after` is no longer here.
        """

    def count(
        self, filter: Filter, by: Literal["", "kind", "status", "scope", "agent", "folder"] = ""
    ) -> dict[str, int]:
        """Numbers by the given column; with an empty `by`, one entry under the empty key."""

    def written_by(self, vault: str, connection: str) -> int:
        """How many memories a connection wrote that are not deleted."""

    def expired(self, vault: str, now: int, limit: int) -> list[Memory]:
        """Active or proposed memories whose expiry has passed, oldest first."""

    def revisions(self, vault: str, id: str) -> list[Revision]:
        """Oldest first. Empty for a memory that never changed."""

    def at(self, vault: str, ids: Sequence[str], at: int) -> dict[str, Memory]:
        """The states that the memories had at that time; those not yet written then are absent."""

    def stream(self, vault: str) -> Iterator[Memory]:
        """Every memory of the vault, oldest first, without holding them all."""

    def matching(self, vault: str, part: str, limit: int) -> list[str]:
        """Ids that start or end with `part`, which holds only `0-9a-f-`; in any status, in any order."""

    def restore(self, memory: Memory, revisions: Sequence[Revision], content_key: str) -> bool:
        """Import: writes the row and its revisions as they are. False, and nothing written, when the id or an active
        copy of the statement is already here."""


class Scopes(Protocol):
    def names(self, vault: str) -> list[str]: ...

    def resolve(self, vault: str, name: str) -> str:
        """The name that an alias stands for; the name itself when it is none (also when it is new)."""

    def alias(self, vault: str, old: str, new: str) -> int:
        """Makes `old` an alias of `new` and moves its memories and their past; returns how many moved.

        Aliases of `old` lead to `new` from then on, and a project can be renamed back. A statement that both make stays
        active in `new`; the other copy is superseded by it, with a revision.
        """

    def unalias(self, vault: str, name: str) -> bool:
        """Makes an alias a scope of its own again; what it stood for keeps the memories. False when it is none."""

    def aliases(self, vault: str) -> dict[str, str]: ...

    def lock(self, vault: str, name: str, audience: str = "") -> None:
        """Until the transaction ends, no other one passes here for the same scope and audience; a new one is made."""


class Links(Protocol):
    def add(self, vault: str, link: Link) -> bool:
        """False when the same edge (source, rel, target) is already there; its weight is then updated. The target need
        not be here.

        Raises DolmenError `gone` when the source is not.
        """

    def remove(self, vault: str, source: str, rel: str, target: str) -> bool: ...

    def around(self, vault: str, ids: Sequence[str]) -> list[Link]:
        """Every edge that starts or ends at one of the memories."""

    def toward(self, vault: str, names: Sequence[str]) -> list[Link]:
        """Every edge that ends at one of the names, or at a part of what it names (`name#part`)."""

    def stream(self, vault: str) -> Iterator[Link]: ...


class Proposals(Protocol):
    def add(self, proposal: Proposal) -> None:
        """Raises DolmenError `gone` when the memory or the note that it is about is not here."""

    def get(self, vault: str, id: str) -> Proposal | None: ...

    def select(
        self, vault: str, status: ProposalStatus | None = "pending", connection: str | None = None, limit: int = 200
    ) -> list[Proposal]:
        """Oldest first."""

    def for_memory(self, vault: str, memory: str) -> list[Proposal]: ...

    def for_note(self, vault: str, note: str) -> list[Proposal]: ...

    def decide(self, vault: str, id: str, status: ProposalStatus, at: int, by: str, note: str) -> bool:
        """False when it is no longer pending."""

    def stream(self, vault: str) -> Iterator[Proposal]: ...

    def remove(self, vault: str, ids: Sequence[str]) -> None:
        """Destroys them, decided or not."""


class Accounts(Protocol):
    """Vaults, persons and connections."""

    def vaults(self) -> list[tuple[str, str]]:
        """(id, name) pairs."""

    def add_vault(self, id: str, name: str, owner: str, owner_name: str) -> bool:
        """With its first person, the owner. False, and nothing happens, when the vault is already there, or another of
        that name."""

    def made_at(self, vault: str) -> int:
        """When the vault was made: tells vaults of several stores apart that have the same id. 0 for an unknown one."""

    def owner(self, vault: str) -> str:
        """The id of its first owner; empty for an unknown vault."""

    def add_connection(self, connection: Connection, secret_hash: str) -> None: ...

    def by_secret(self, secret_hash: str) -> Connection | None:
        """The only read that does not name a vault: it finds out which vault a credential opens. Persons that were
        removed take their connections with them; revoked and expired ones are returned, the caller says why."""

    def with_mates(self, connection: Connection) -> Connection:
        """With the keys whose memories it sees, for one that is kept apart."""

    def connections(self, vault: str) -> list[Connection]: ...

    def groups(self, vault: str) -> list[KeyGroup]: ...

    def add_group(self, vault: str, id: str, name: str) -> bool:
        """False when there is one of that name."""

    def remove_group(self, vault: str, id: str) -> bool:
        """Its keys stay, each for itself."""

    def join_group(self, vault: str, group: str, connection: str) -> bool: ...

    def leave_group(self, vault: str, group: str, connection: str) -> bool: ...

    def rename_vault(self, vault: str, name: str) -> bool: ...

    def remove_vault(self, vault: str) -> bool:
        """Destroys everything of it but its search index, which is cleared before (`Index.clear`), and its people, as
        far as they are in no other vault (`People.leave`)."""

    def revoke(self, vault: str, id: str, at: int) -> bool: ...

    def hold(self, vault: str, id: str) -> bool:
        """Until the transaction ends, no other one passes here for the same connection, nor revokes or changes it.
        False when there is none, or it was revoked."""

    def bound(self, vault: str, id: str, bounds: Bounds, write_policy: WritePolicy | None) -> bool:
        """Replaces the limits and the write policy of a connection; False when there is none."""

    def touch(self, vault: str, id: str, at: int) -> None: ...

    def setting(self, vault: str, key: str) -> str | None: ...

    def set(self, vault: str, key: str, value: str) -> None: ...

    def settings(self, vault: str) -> dict[str, str]:
        """Everything that was `set`."""


class Journal(Protocol):
    """What happened: recall events, feedback, audit."""

    def events(self, events: Iterable[RecallEvent]) -> None: ...

    def event(self, vault: str, id: str) -> RecallEvent | None: ...

    def recalled(self, vault: str) -> Iterator[RecallEvent]:
        """Every recall, oldest first, without holding them all."""

    def feedback(self, entry: Feedback) -> None:
        """Nothing happens when an entry with its id is already there."""

    def feedbacks(self, vault: str) -> Iterator[Feedback]: ...

    def audit(self, entries: Iterable[AuditEntry]) -> None: ...

    def answered(self, vault: str, connection: str, since: int) -> int:
        """How many requests of a connection were answered since then. The rows that one request wrote have one time."""

    def audited(self, vault: str, limit: int = 100) -> list[AuditEntry]:
        """Newest first."""

    def purged(self, vault: str, ids: Sequence[str]) -> set[str]:
        """Which of these ids were destroyed whole, as the audit has it."""

    def trim(self, vault: str, before: int) -> int:
        """Forgets recall events older than that which no feedback names; returns how many."""

    def remove(self, vault: str, events: Sequence[str], feedbacks: Sequence[str]) -> None:
        """Destroys recalls and feedback by their ids."""


class Keys(Protocol):
    """Idempotency keys (B152)."""

    def find(self, vault: str, connection: str, key: str) -> str | None:
        """The memory id that the first call with this key stored."""

    def put(self, vault: str, connection: str, key: str, memory: str, at: int) -> bool:
        """False when the key is already taken, also by a concurrent call; the first one stays. The memory is here, or
        added later in the same transaction; a key whose memory was not added after all is free."""


class Leases(Protocol):
    """Long work that one process at a time does."""

    def take(self, name: str, owner: str, now: int, until: int) -> bool:
        """True when it was free, run out, or already the owner's."""

    def release(self, name: str, owner: str) -> None: ...
