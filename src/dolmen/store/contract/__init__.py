"""What the rest of Dolmen asks of a store. Small ports; the comments are law, and one suite holds every engine to them.

A store is opened by any number of threads and processes at once. `read()` and `write()` give a transaction:

    with store.write() as tx:          # commits at the end, rolls back on any exception
        tx.memories.add(memory)

A write is durable when the `with` block has ended without an exception: it survives a killed process and a power cut.
`tx.now` is fixed when the transaction begins; `tx.new_id()` gives a fresh UUIDv7. Transactions are short: no model
call, no network call, no waiting for a person happens inside one.
"""

from __future__ import annotations

from dolmen.store.contract.code import CodeRefs
from dolmen.store.contract.filter import (
    Filter,
    Order,
)
from dolmen.store.contract.index import (
    Hit,
    Index,
    IndexHealth,
    Passage,
    Pending,
    Vector,
)
from dolmen.store.contract.jobs import (
    Job,
    Jobs,
    JobState,
    JobStatus,
)
from dolmen.store.contract.notes import (
    NoteLine,
    NoteOrder,
    Notes,
)
from dolmen.store.contract.oauth import OAuth, Origin
from dolmen.store.contract.people import Browser, EntryLink, People, Person, Role, SecretKind
from dolmen.store.contract.proofs import Passkey, Proofs, Step, StepKind
from dolmen.store.contract.repositories import (
    Accounts,
    AuditEntry,
    Feedback,
    Journal,
    Keys,
    Leases,
    Links,
    Memories,
    Proposals,
    RecallEvent,
    Scopes,
)
from dolmen.store.contract.store import (
    EngineName,
    Store,
    StoreInfo,
    Tx,
)

__all__ = [
    "Accounts",
    "AuditEntry",
    "Browser",
    "CodeRefs",
    "EngineName",
    "EntryLink",
    "Feedback",
    "Filter",
    "Hit",
    "Index",
    "IndexHealth",
    "Job",
    "JobState",
    "JobStatus",
    "Jobs",
    "Journal",
    "Keys",
    "Leases",
    "Links",
    "Memories",
    "NoteLine",
    "NoteOrder",
    "Notes",
    "OAuth",
    "Order",
    "Origin",
    "Passage",
    "Passkey",
    "Pending",
    "People",
    "Person",
    "Proofs",
    "Proposals",
    "RecallEvent",
    "Role",
    "Scopes",
    "SecretKind",
    "Step",
    "StepKind",
    "Store",
    "StoreInfo",
    "Tx",
    "Vector",
]
