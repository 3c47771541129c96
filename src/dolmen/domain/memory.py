"""The memory: one statement, the unit of search (DESIGN: words)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args

from dolmen.domain.values import DAY

Kind = Literal[
    "fact",
    "decision",
    "convention",
    "preference",
    "procedure",
    "error",
    "relation",
    "code",
    "reference",
    "state",
    "episode",
]
KINDS: tuple[Kind, ...] = get_args(Kind)

Status = Literal["proposed", "active", "superseded", "deleted"]
STATUSES: tuple[Status, ...] = get_args(Status)

Trust = Literal["user", "agent", "external"]
Verification = Literal["verified", "accepted", "unverified", "stale", "rejected"]
VERIFICATIONS: tuple[Verification, ...] = get_args(Verification)

CONTENT_LIMIT = 8_000
"""Characters of one memory, stored whole or refused (C-335). Longer texts are notes."""
TITLE_LIMIT, SOURCE_LIMIT, FOLDER_LIMIT, KEY_LIMIT, REASON_LIMIT = 200, 500, 300, 128, 1_000
TAG_LIMIT, TAGS_LIMIT, LINKS_LIMIT, BATCH_LIMIT = 64, 32, 50, 200
REF_LIMIT, REFS_LIMIT = 300, 200
"""Characters of one ref or link target; refs of one call."""
TTL_LIMIT = 365 * DAY
HANDOFF_TTL, HANDOFF_TTL_LIMIT = 7 * DAY, 30 * DAY

DEFAULT_IMPORTANCE: Mapping[Kind, float] = {
    "preference": 0.95,
    "error": 0.9,
    "decision": 0.8,
    "convention": 0.8,
    "procedure": 0.7,
    "relation": 0.6,
    "episode": 0.6,
    "fact": 0.5,
    "code": 0.5,
    "reference": 0.5,
    "state": 0.5,
}

HANDOFF = "handoff"
"""The written label of a note left for the next agent; kind `state`."""
SUMMARY = "session-summary"
"""The written label of a session's summary; kind `episode`."""
DIGEST = "session-digest"
"""The written label of what stands for several old summaries; kind `episode`."""


@dataclass(frozen=True, slots=True)
class Case:
    """The case fields (C-64): memories that share a case id tell one story."""

    id: str
    goal: str = ""
    outcome: str = ""
    resolution: str = ""
    phase: str = ""


@dataclass(frozen=True, slots=True)
class Memory:
    """One statement and everything known about it.

    `version` counts from 1; each change leaves the state before it as a revision with the old number.
    """

    id: str
    vault: str
    scope: str
    """`user` or `project:<identity>`."""
    kind: Kind
    text: str
    status: Status = "active"
    trust: Trust = "agent"
    verification: Verification = "accepted"
    label: str = ""
    """The word that the writer's toolset used for the kind, so that it reads back as written."""
    title: str = ""
    folder: str = ""
    tags: tuple[str, ...] = ()
    importance: float = 0.5
    pinned: bool = False
    agent: str = "unknown"
    person: str = ""
    connection: str = "local"
    session: str = ""
    source: str = ""
    case: Case | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    """What only one toolset or operation knows, e.g. a handoff's `next_steps` and `resumed_by`; JSON values."""
    created_at: int = 0
    updated_at: int = 0
    expires_at: int | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    verified_by: str = ""
    note: str = ""
    """The id of the note that it is a block of; empty for a memory of its own."""
    block: str = ""
    """Its id there, `blk_…`; its words stand in the note's source."""
    audience: str = ""
    """Who may see it (`domain/audience`); empty for everybody of the vault."""
    version: int = 1

    def served(self, now: int) -> bool:
        """Whether reads return it (C-51)."""
        return self.status == "active" and (self.expires_at is None or self.expires_at > now)

    def with_(self, **changes: Any) -> Memory:
        """A copy with the given fields changed."""
        return replace(self, **changes)


MEMORY_FIELDS: tuple[str, ...] = tuple(f.name for f in fields(Memory))


@dataclass(frozen=True, slots=True)
class Link:
    """A directed, typed edge between memories; the target may not exist (yet)."""

    source: str
    rel: str
    target: str
    weight: float = 1.0
    created_at: int = 0
    agent: str = ""


@dataclass(frozen=True, slots=True)
class Revision:
    """What a memory was before a change, and the change."""

    memory: Memory
    """The whole state before the change; its `version` is the revision's number."""
    at: int
    op: str
    agent: str
    person: str
    connection: str
    reason: str = ""
