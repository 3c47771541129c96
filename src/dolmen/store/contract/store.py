"""The store itself and its transactions."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Literal, Protocol

from dolmen.domain.audience import Viewer
from dolmen.store.contract.code import CodeRefs
from dolmen.store.contract.index import Index
from dolmen.store.contract.jobs import Jobs
from dolmen.store.contract.notes import Notes
from dolmen.store.contract.oauth import OAuth
from dolmen.store.contract.people import People
from dolmen.store.contract.proofs import Proofs
from dolmen.store.contract.repositories import Accounts, Journal, Keys, Leases, Links, Memories, Proposals, Scopes

EngineName = Literal["sqlite", "postgres"]


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
    people: People
    index: Index

    @property
    def notes(self) -> Notes: ...

    @property
    def code_refs(self) -> CodeRefs: ...

    @property
    def jobs(self) -> Jobs: ...

    @property
    def oauth(self) -> OAuth: ...

    @property
    def proofs(self) -> Proofs: ...

    def new_id(self) -> str: ...


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

    def read(self, viewer: Viewer | None = None) -> AbstractContextManager[Tx]:
        """What the viewer may not see is not there in this transaction: another vault, what is private to others, what
        keys keep apart. None sees everything: for the work of the house, never for somebody who asks."""

    def write(self, viewer: Viewer | None = None) -> AbstractContextManager[Tx]:
        """Waits for other writers for a bounded time, then raises `store-busy`."""

    def info(self) -> StoreInfo: ...

    def ping(self) -> None:
        """Really reads the store; raises `unavailable` when it cannot."""

    def tidy(self) -> None:
        """Light upkeep between transactions: bounds the write-ahead log, refreshes statistics."""

    def scrub(self) -> None:
        """After a purge has committed: the index and the log keep no bytes of it either. May take seconds on a large
        store. What cannot be done now (somebody reads) is done by later upkeep."""

    def close(self) -> None: ...
