"""What callers hand to the services and what they get back: plain values, shared by every interface.

Times are microseconds since the epoch; interfaces format them. Limits are those of `domain.memory`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from dolmen.domain.memory import Case, Kind, Link, Memory, Revision, Verification

Outcome = Literal[
    "stored", "duplicate", "proposed", "unchanged", "updated", "queued", "deleted", "purged", "failed", "would"
]
"""What became of a write. `queued` and `proposed` wait for a person; `would` answers a dry run."""


# ------------------------------------------------------------------------------------------------------------- remember
@dataclass(frozen=True, slots=True)
class NewLink:
    rel: str
    to: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class NewMemory:
    """One memory to be stored. Only `content` is required."""

    content: str
    kind: Kind | None = None
    """None: the kind of the superseded memory, else `fact` (with `project`) or `fact`."""
    project: str | None = None
    """As the caller said it; None means the actor's default project. `user` means the user scope."""
    title: str = ""
    folder: str = ""
    tags: tuple[str, ...] = ()
    importance: float | None = None
    links: tuple[NewLink, ...] = ()
    supersedes: tuple[str, ...] = ()
    ttl_seconds: int | None = None
    case: Case | None = None
    source: str = ""
    key: str | None = None
    label: str = ""
    pinned: bool = False
    session: str | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    created_at: int | None = None
    """Imports only: when the statement was made elsewhere."""
    id: str | None = None
    """Chosen by an operation that needs to know it beforehand; callers leave it out."""


@dataclass(frozen=True, slots=True)
class Similar:
    ref: str
    text: str
    similarity: float
    """Cosine with vectors, trigram similarity without."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of one item of a batch."""

    outcome: Outcome
    ref: str | None = None
    kind: Kind | None = None
    scope: str = ""
    status: str = ""
    deduplicated: bool = False
    idempotent: bool = False
    superseded: tuple[str, ...] = ()
    similar: tuple[Similar, ...] = ()
    proposal: str | None = None
    because: str = ""
    notes: tuple[str, ...] = ()
    """What was understood otherwise than it was written, e.g. NUL characters replaced."""
    error: Mapping[str, object] | None = None
    memory: Memory | None = None
    """The stored state, for toolsets that show more; interfaces of the core toolset leave it out."""


# -------------------------------------------------------------------------------------------------------- edit and link
EditOp = Literal["amend", "supersede", "restore"]


@dataclass(frozen=True, slots=True)
class Edit:
    ref: str
    op: EditOp
    content: str | None = None
    fields: Mapping[str, Any] = field(default_factory=dict)
    """Fields to set: kind, title, folder, tags, importance, pinned, ttl_seconds, case, source, project."""
    reason: str = ""
    expected_sha: str | None = None
    """`sha` of the version that the caller read; a stale one is a conflict that shows the current text (B061)."""
    version: int | None = None
    """restore: the version to go back to; None undoes the last change."""


@dataclass(frozen=True, slots=True)
class Edited:
    outcome: Outcome
    ref: str
    version: int = 0
    sha: str = ""
    new_ref: str | None = None
    proposal: str | None = None
    because: str = ""
    notes: tuple[str, ...] = ()
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Linked:
    outcome: Outcome
    source: str
    rel: str
    to: str
    resolved: bool
    """Whether the target exists now."""
    proposal: str | None = None
    because: str = ""


@dataclass(frozen=True, slots=True)
class Verified:
    state: Verification
    marked: tuple[str, ...]
    missing: tuple[str, ...] = ()
    proposal: str | None = None
    because: str = ""


# --------------------------------------------------------------------------------------------------------------- forget
ForgetMode = Literal["soft", "invalidate", "purge"]


@dataclass(frozen=True, slots=True)
class Forget:
    ref: str | None = None
    query: str | None = None
    """Everything in sight that says exactly these words (case and spacing aside); capped, always listed."""
    mode: ForgetMode = "soft"
    reason: str = ""
    project: str | None = None
    dry_run: bool = False
    refs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Forgotten:
    outcome: Outcome
    mode: ForgetMode
    refs: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    """Dry run: what would go, in the order of refs."""
    truncated: bool = False
    proposal: str | None = None
    because: str = ""


# --------------------------------------------------------------------------------------------------------------- recall
RecallMode = Literal["claims", "cases", "timeline", "exact"]
Include = Literal["superseded", "links", "sources", "neighbors", "explain"]


@dataclass(frozen=True, slots=True)
class Recall:
    query: str
    project: str | None = None
    kinds: tuple[Kind, ...] = ()
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: int | None = None
    until: int | None = None
    as_of: int | None = None
    mode: RecallMode = "claims"
    include: tuple[Include, ...] = ()
    limit: int = 10
    budget_tokens: int = 4000
    cursor: str | None = None
    every_scope: bool = False
    """Search all projects of the vault; only for people (command line, web page)."""
    record: bool = True


@dataclass(frozen=True, slots=True)
class Claim:
    """One answer of a pack: a memory, or its best passage when it is long."""

    ref: str
    text: str
    kind: Kind
    scope: str
    score: float
    """In (0, 1]; comparable within one answer only."""
    status: str
    trust: str
    verification: str
    agent: str
    created_at: int
    updated_at: int
    title: str = ""
    tags: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    """Set when `text` is only a part of the memory: character offsets; `read(ref)` gives the whole."""
    superseded_by: str | None = None
    links: tuple[Link, ...] = ()
    source: str = ""
    neighbors: tuple[str, ...] = ()
    explain: Mapping[str, Any] | None = None
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Conflict:
    """Claims that compete: shown, never decided."""

    refs: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Budget:
    requested: int
    used: int
    dropped: int
    """Matches that did not fit."""


@dataclass(frozen=True, slots=True)
class CaseView:
    id: str
    goal: str
    outcome: str
    resolution: str
    score: float
    events: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """The answer to a recall: reference data, never instructions."""

    query: str
    claims: tuple[Claim, ...]
    budget: Budget
    conflicts: tuple[Conflict, ...] = ()
    gaps: tuple[str, ...] = ()
    """Words of the query that nothing in sight contains."""
    index_health: Mapping[str, Any] = field(default_factory=dict)
    partial: bool = False
    """The pack holds less than everything that matched, or a leg did not run."""
    cursor: str | None = None
    event: str | None = None
    cases: tuple[CaseView, ...] = ()
    notes: tuple[str, ...] = ()


# -------------------------------------------------------------------------------------------------------------- context
@dataclass(frozen=True, slots=True)
class ContextRequest:
    task: str = ""
    project: str | None = None
    budget_tokens: int = 2000


@dataclass(frozen=True, slots=True)
class Brief:
    """What to know before a task, in order of priority; each memory at most once."""

    scope: str
    preferences: tuple[Claim, ...] = ()
    handoff: HandoffView | None = None
    recent: tuple[Claim, ...] = ()
    project: tuple[Claim, ...] = ()
    relevant: tuple[Claim, ...] = ()
    truncated: bool = False
    dropped: int = 0
    used_tokens: int = 0
    partial: bool = False
    notes: tuple[str, ...] = ()


# ------------------------------------------------------------------------------------------------------------- sessions
@dataclass(frozen=True, slots=True)
class Handoff:
    summary: str
    next_steps: tuple[str, ...] = ()
    project: str | None = None
    ttl_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class HandoffView:
    ref: str
    summary: str
    next_steps: tuple[str, ...]
    scope: str
    agent: str
    created_at: int
    expires_at: int | None
    resumed_by: str = ""
    resumed_at: int | None = None
    outcome: Outcome = "stored"
    superseded: str | None = None
    proposal: str | None = None


@dataclass(frozen=True, slots=True)
class Reflection:
    summary: str
    decisions: tuple[str, ...] = ()
    errors_resolved: tuple[str, ...] = ()
    procedures: tuple[str, ...] = ()
    open_questions: tuple[str, ...] = ()
    narrative: str = ""
    project: str | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Reflected:
    results: tuple[Remembered, ...]
    """In the order summary/narrative, decisions, errors, procedures, questions."""
    breakdown: Mapping[str, int]


# ------------------------------------------------------------------------------------------------------ read and browse
View = Literal["content", "history", "links"]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    version: int
    op: str
    at: int
    agent: str
    reason: str
    diff: str = ""
    """Unified diff of the text against the version before; empty when the text did not change."""
    changed: tuple[str, ...] = ()
    """Names of the other fields that changed."""


@dataclass(frozen=True, slots=True)
class ReadResult:
    memory: Memory
    sha: str
    view: View = "content"
    text: str = ""
    history: tuple[HistoryEntry, ...] = ()
    links: tuple[Link, ...] = ()
    proposals: tuple[str, ...] = ()
    revisions: tuple[Revision, ...] = ()


@dataclass(frozen=True, slots=True)
class Browse:
    path: str | None = None
    """A folder; None lists the scopes and the top folders."""
    project: str | None = None
    depth: int = 1
    changed_since: int | None = None
    queued: bool = False
    limit: int = 50
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a listing: a folder with its count, a memory with its title, or a queued proposal."""

    type: Literal["scope", "folder", "memory", "proposal"]
    name: str
    ref: str = ""
    count: int = 0
    kind: str = ""
    at: int | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    entries: tuple[Entry, ...]
    cursor: str | None = None
    truncated: bool = False


# --------------------------------------------------------------------------------------------------------------- review
@dataclass(frozen=True, slots=True)
class ReviewItem:
    id: str
    op: str
    ref: str | None
    scope: str
    kind: str
    agent: str
    created_at: int
    because: str
    reason: str
    diff: str
    stale: bool
    """The memory changed since the proposal was made; applying it needs `force`."""
    status: str = "pending"
    similar: tuple[Similar, ...] = ()


@dataclass(frozen=True, slots=True)
class FeedbackRequest:
    event: str | None = None
    refs: tuple[str, ...] = ()
    relevant: bool | None = None
    sufficient: bool | None = None
    reason: str = ""


Items = Sequence[NewMemory]
