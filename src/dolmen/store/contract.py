"""What the rest of Dolmen asks of a store. Small ports; the comments are law, and one suite holds every engine to them.

A store is opened by any number of threads and processes at once. `read()` and `write()` give a transaction:

    with store.write() as tx:          # commits at the end, rolls back on any exception
        tx.memories.add(memory)

A write is durable when the `with` block has ended without an exception: it survives a killed process and a power cut.
`tx.now` is fixed when the transaction begins; `tx.new_id()` gives a fresh UUIDv7. Transactions are short: no model
call, no network call, no waiting for a person happens inside one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from dolmen.domain.access import Connection
from dolmen.domain.memory import Kind, Link, Memory, Revision, Status
from dolmen.domain.proposal import Proposal, ProposalStatus
from dolmen.domain.values import Change

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

EngineName = Literal["sqlite", "postgres"]


# --------------------------------------------------------------------------------------------------- the scope filter
@dataclass(frozen=True, slots=True)
class Filter:
    """What a read may see: built only by `services.filters.visible`, applied only by `store.filter`, before any cut.

    With `as_of`, the filter speaks of the past: a memory qualifies by the state that it had at that time.
    """

    vault: str
    scopes: tuple[str, ...] | None
    """Scope names; None means every scope of the vault (the owner's command line and export)."""
    now: int
    statuses: tuple[Status, ...] = ("active",)
    kinds: tuple[Kind, ...] = ()
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """All of them must be there."""
    since: int | None = None
    until: int | None = None
    """Bounds of `created_at`: since <= created_at < until."""
    as_of: int | None = None
    case: str | None = None
    session: str | None = None
    folder: str | None = None
    """The folder itself and everything below it."""
    include_expired: bool = False


Order = Literal["newest", "oldest", "changed", "importance"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a search leg found."""

    passage: int
    memory: str
    score: float
    """Text leg: number of query tokens is judged by the caller from `tokens`; vector leg: cosine."""
    tokens: str = ""
    """The passage's tokens, joined by spaces (text leg)."""
    length: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a memory's text that is indexed as one."""

    memory: str
    scope: str
    ord: int
    start: int
    end: int
    """Character offsets into the memory's text: text[start:end]."""
    tokens: tuple[str, ...]
    """The analyzer's tokens, in order, with repetitions."""
    live: bool
    valid_from: int
    valid_to: int | None = None
    id: int = 0


@dataclass(frozen=True, slots=True)
class Pending:
    """A passage that still needs a vector of the current model."""

    vault: str
    passage: int
    memory: str
    text: str


@dataclass(frozen=True, slots=True)
class IndexHealth:
    """How much of the vault's live text can be found by meaning."""

    passages: int
    embedded: int
    oldest_pending_at: int | None
    models: Mapping[str, int] = field(default_factory=dict)
    """Vectors per model name, current or old."""


# ------------------------------------------------------------------------------------------------------ repositories
class Memories(Protocol):
    """Memories, their tags and their revisions. Another vault's id is as good as unknown."""

    def add(self, memory: Memory, content_key: str) -> bool:
        """Adds it; False, and nothing added, when an active or proposed memory of the same vault, scope, label and kind
        has the same `content_key`, also when another process is adding it right now."""

    def get(self, vault: str, id: str) -> Memory | None: ...

    def many(self, vault: str, ids: Sequence[str]) -> dict[str, Memory]: ...

    def by_content(self, vault: str, scope: str, label: str, kind: Kind, content_key: str) -> Memory | None:
        """The active or proposed memory with this statement (the one that `add` would collide with)."""

    def update(self, before: Memory, after: Memory, change: Change, content_key: str) -> None:
        """Replaces the state and keeps `before` as a revision. `after.version` must be `before.version + 1`.

        Raises DolmenError `conflict` when the stored version is no longer `before.version`, or when the new state would
        be a second active copy of a statement.
        """

    def note(self, vault: str, id: str, attrs: Mapping[str, Any]) -> None:
        """Replaces `attrs` without a revision: for bookkeeping such as who resumed a handoff."""

    def purge(self, vault: str, ids: Sequence[str]) -> None:
        """Destroys rows, revisions, tags, links from and to, idempotency keys, proposals, index entries and vectors."""

    def select(
        self, filter: Filter, order: Order = "newest", limit: int = 50, after: str | None = None
    ) -> list[Memory]:
        """Memories that pass the filter; `after` is the id of the last one of the page before (same order)."""

    def count(
        self, filter: Filter, by: Literal["", "kind", "status", "scope", "agent", "folder"] = ""
    ) -> dict[str, int]:
        """Numbers by the given column; with an empty `by`, one entry under the empty key."""

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
        """Import: writes the row and its revisions as they are. False when the id is already here."""


class Scopes(Protocol):
    def names(self, vault: str) -> list[str]: ...

    def resolve(self, vault: str, name: str) -> str:
        """The name that an alias stands for; the name itself when it is none (also when it is new)."""

    def alias(self, vault: str, old: str, new: str) -> int:
        """Makes `old` an alias of `new` and moves its memories; returns how many moved."""

    def aliases(self, vault: str) -> dict[str, str]: ...


class Links(Protocol):
    def add(self, vault: str, link: Link) -> bool:
        """False when the same edge (source, rel, target) is already there; its weight is then updated."""

    def remove(self, vault: str, source: str, rel: str, target: str) -> bool: ...

    def around(self, vault: str, ids: Sequence[str]) -> list[Link]:
        """Every edge that starts or ends at one of the memories."""

    def stream(self, vault: str) -> Iterator[Link]: ...


class Proposals(Protocol):
    def add(self, proposal: Proposal) -> None: ...

    def get(self, vault: str, id: str) -> Proposal | None: ...

    def select(
        self, vault: str, status: ProposalStatus | None = "pending", connection: str | None = None, limit: int = 200
    ) -> list[Proposal]:
        """Oldest first."""

    def for_memory(self, vault: str, memory: str) -> list[Proposal]: ...

    def decide(self, vault: str, id: str, status: ProposalStatus, at: int, by: str, note: str) -> bool:
        """False when it is no longer pending."""

    def stream(self, vault: str) -> Iterator[Proposal]: ...


class Accounts(Protocol):
    """Vaults, persons and connections."""

    def vaults(self) -> list[tuple[str, str]]:
        """(id, name) pairs."""

    def add_vault(self, id: str, name: str, owner: str, owner_name: str) -> None:
        """With its first person, the owner. Nothing happens when the vault is already there."""

    def owner(self, vault: str) -> str:
        """The id of its first owner; empty for an unknown vault."""

    def add_connection(self, connection: Connection, secret_hash: str) -> None: ...

    def by_secret(self, secret_hash: str) -> Connection | None:
        """The only read that does not name a vault: it finds out which vault a credential opens. Persons that were
        removed take their connections with them; revoked and expired ones are returned, the caller says why."""

    def connections(self, vault: str) -> list[Connection]: ...

    def revoke(self, vault: str, id: str, at: int) -> bool: ...

    def touch(self, vault: str, id: str, at: int) -> None: ...

    def setting(self, vault: str, key: str) -> str | None: ...

    def set(self, vault: str, key: str, value: str) -> None: ...

    def settings(self, vault: str) -> dict[str, str]:
        """Everything that was `set`."""


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


class Journal(Protocol):
    """What happened: recall events, feedback, audit."""

    def events(self, events: Iterable[RecallEvent]) -> None: ...

    def event(self, vault: str, id: str) -> RecallEvent | None: ...

    def feedback(self, entry: Feedback) -> None:
        """Nothing happens when an entry with its id is already there."""

    def feedbacks(self, vault: str) -> Iterator[Feedback]: ...

    def audit(self, entries: Iterable[AuditEntry]) -> None: ...

    def audited(self, vault: str, limit: int = 100) -> list[AuditEntry]:
        """Newest first."""

    def trim(self, vault: str, before: int) -> int:
        """Forgets recall events older than that which no feedback names; returns how many."""


class Keys(Protocol):
    """Idempotency keys (B152)."""

    def find(self, vault: str, connection: str, key: str) -> str | None:
        """The memory id that the first call with this key stored."""

    def put(self, vault: str, connection: str, key: str, memory: str, at: int) -> bool:
        """False when the key is already taken, also by a concurrent call; the first one stays."""


class Leases(Protocol):
    """Long work that one process at a time does."""

    def take(self, name: str, owner: str, now: int, until: int) -> bool:
        """True when it was free, run out, or already the owner's."""

    def release(self, name: str, owner: str) -> None: ...


class Index(Protocol):
    """The search index: passages by their tokens and by their vectors. Holds nothing that is not in the memory rows."""

    def put(self, vault: str, passages: Sequence[Passage]) -> list[int]:
        """Adds them, in the transaction of the memory that they belong to; returns their ids in the same order."""

    def retire(self, vault: str, memory: str, at: int) -> None:
        """The memory's text was replaced: its current passages serve as-of reads only."""

    def set_live(self, vault: str, memory: str, live: bool) -> None:
        """The memory's status changed: its current passages become (in)visible to ordinary reads."""

    def drop(self, vault: str, memories: Sequence[str]) -> None: ...

    def clear(self, vault: str) -> None:
        """Empties the index of the vault; the caller then rebuilds it from the rows."""

    def frequencies(self, filter: Filter, tokens: Sequence[str], cap: int) -> tuple[int, dict[str, int]]:
        """(passages in sight, {token: passages in sight that have it}). Bounded work: a token found more often than
        `cap` may be answered by an estimate that is at least `cap`."""

    def match(self, filter: Filter, tokens: Sequence[str], limit: int) -> list[Hit]:
        """Up to `limit` passages that pass the filter and have at least one of the tokens, those with more and rarer
        tokens first; each with its tokens. When fewer than `limit` qualify, all of them come."""

    def model(self, name: str, dim: int, at: int) -> int:
        """The id of a vector model, registered on first use (write transactions)."""

    def find_model(self, name: str, dim: int) -> int | None:
        """The id of a vector model; None when nothing was ever embedded with it."""

    def set_vectors(self, vault: str, model: int, items: Sequence[tuple[int, Vector]]) -> None:
        """(passage id, unit vector of the model's dimension). A passage that is gone meanwhile is skipped; a vector of
        another model is replaced."""

    def nearest(self, filter: Filter, model: int, query: Vector, limit: int) -> list[Hit]:
        """The `limit` passages that pass the filter with the highest cosine, best first. The filter is applied before
        the cut: min(limit, passages that qualify and have a vector of this model) come back."""

    def cosines(self, vault: str, model: int, query: Vector, passages: Sequence[int]) -> dict[int, float]: ...

    def background(self, filter: Filter, model: int, query: Vector) -> tuple[float, float] | None:
        """(mean, standard deviation) of the query's cosine over a sample of the vault's passages; None under 8."""

    def pending(self, model: int, limit: int) -> list[Pending]:
        """Passages of any vault without a vector of this model (none, or one of another): live ones first, oldest
        first. The text is the passage's own, also when the memory says something else by now."""

    def health(self, filter: Filter, model: int | None) -> IndexHealth: ...

    def spans(self, vault: str, passages: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Character offsets of passages in their memory's text."""


class Tx(Protocol):
    """One transaction. Read transactions see one snapshot and refuse writes."""

    now: int
    memories: Memories
    scopes: Scopes
    links: Links
    proposals: Proposals
    accounts: Accounts
    journal: Journal
    keys: Keys
    leases: Leases
    index: Index

    def new_id(self) -> str: ...


# ------------------------------------------------------------------------------------------------------------ the store
@dataclass(frozen=True, slots=True)
class StoreInfo:
    engine: EngineName
    version: str
    """Of the database: "SQLite 3.54.1", "PostgreSQL 18.0, pgvector 0.8.1"."""
    location: str
    """The file, or the URL without its password."""
    schema: int
    """Number of the newest migration applied."""
    size: int
    """Bytes on disk."""
    wal_size: int
    warnings: tuple[str, ...] = ()


class Store(Protocol):
    """Open, usable by any thread. Opening migrates: safe when several processes do it at once, refused with
    `store-too-new` when the schema is newer than this program, with `store-unsafe` on a network file system."""

    engine: EngineName

    def read(self) -> AbstractContextManager[Tx]: ...

    def write(self) -> AbstractContextManager[Tx]:
        """Waits for other writers for a bounded time, then raises `store-busy`."""

    def info(self) -> StoreInfo: ...

    def ping(self) -> None:
        """Really reads the store; raises `unavailable` when it cannot."""

    def tidy(self) -> None:
        """Light upkeep between transactions: bounds the write-ahead log, refreshes statistics."""

    def close(self) -> None: ...
