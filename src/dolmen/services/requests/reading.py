"""Reads: what is asked, and the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dolmen.domain.code import View as RefView
from dolmen.domain.memory import KINDS, Kind, Link, Memory, Revision
from dolmen.services.requests.writing import HandoffView

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
    budget_tokens: int | None = 4000
    """None: as many claims as `limit` says, whatever they cost."""
    cursor: str | None = None
    every_scope: bool = False
    """Search all projects of the vault; only for people (command line, web page)."""
    record: bool = True
    zone: str | None = None
    """Where the days begin that the query names; None as the settings say."""
    fold: bool = True
    """What adds nothing to a better claim is named beside it; otherwise every memory is a claim of its own."""


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
    weak: bool = False
    """Near the question, but neither words nor meaning are sure of it (B023)."""
    exact: bool = False
    """It has the identifier that the question is about."""
    title: str = ""
    tags: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    """Set when `text` is only a part of the memory: character offsets; `read(ref)` gives the whole."""
    superseded_by: str | None = None
    also: tuple[str, ...] = ()
    """Refs of memories that say the same, or less of it."""
    links: tuple[Link, ...] = ()
    source: str = ""
    neighbors: tuple[str, ...] = ()
    explain: Mapping[str, Any] | None = None
    code: tuple[str, ...] = ()
    """What has become of the code that it speaks of, where that is no longer as it says: changed, gone, moved."""
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
Section = Literal["preferences", "handoff", "recent", "project", "relevant"]
PROJECT_KINDS: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind not in ("preference", "episode", "state"))


@dataclass(frozen=True, slots=True)
class ContextRequest:
    task: str = ""
    project: str | None = None
    budget_tokens: int = 2000
    priority: tuple[Section, ...] = ("preferences", "handoff", "recent", "relevant", "project")
    """Which section is filled first; by default the task's own answers are not crowded out by the project's list."""
    project_kinds: tuple[Kind, ...] = PROJECT_KINDS
    """What the list of the project holds."""
    excerpt: int | None = 1_500
    """Characters of one memory that are quoted, and paid for; None quotes it whole."""


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
    code_refs: tuple[RefView, ...] = ()
    """The files and symbols that it refers to, each with its state."""


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
    """A line of a listing: a folder with its count, a note or a memory with its title, or a queued proposal."""

    type: Literal["scope", "folder", "note", "memory", "proposal"]
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
