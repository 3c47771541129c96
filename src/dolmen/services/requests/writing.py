"""Writes: what is to be stored or changed, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from dolmen.domain.audience import Visibility
from dolmen.domain.memory import Case, Kind, Memory, Verification
from dolmen.domain.proposal import Group

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
    """None: the kind of the superseded memory, else `fact`."""
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
    replaced: str | None = None
    """What that operation has superseded by it already."""
    same: tuple[Kind, ...] = ()
    """Kinds beside its own under which the same statement is this one: a toolset's type may stand for several."""
    visibility: Visibility | None = None
    """None: as what it replaces, else as the connection says."""
    shared_with: tuple[str, ...] = ()
    """People who see a private one besides its author, by name, login or id."""


@dataclass(frozen=True, slots=True)
class Similar:
    ref: str
    text: str
    similarity: float
    """Cosine with vectors, trigram similarity without."""
    memory: Memory | None = None
    """Whole, for toolsets that show more."""


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
    state: Verification | Literal["superseded"]
    """`superseded` only for claims of notes."""
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
    traces: tuple[str, ...] = ()
    """Purge by words: what was asked, said or proposed with them, which goes too."""
    truncated: bool = False
    proposal: str | None = None
    because: str = ""


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
    notes: tuple[str, ...] = ()
    memory: Memory | None = None
    """The stored state, for toolsets that show more."""


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
    note: str = ""
    """Why it was decided so."""
    group: Group = "suggestion"
    text: str = ""
    """What would be stored, where that is one text that can be edited before it is approved."""
    evidence: str = ""
    """Extracted: the words of the session that say it."""
    change: str = ""
    """Of a change to a note: what is done to it, in the word of whoever proposed it."""
    judge: str = ""
    """Extracted and consolidated: the model that found it, or `rules`."""


@dataclass(frozen=True, slots=True)
class FeedbackRequest:
    event: str | None = None
    refs: tuple[str, ...] = ()
    relevant: bool | None = None
    sufficient: bool | None = None
    reason: str = ""
