"""A write that waits for a person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

ProposalStatus = Literal["pending", "applied", "rejected", "withdrawn"]
ProposalOp = Literal[
    "remember", "amend", "supersede", "restore", "forget", "verify", "link", "handoff", "replace",
    "note_create", "note_edit", "note_move", "note_restore",
]  # fmt: skip
Group = Literal["preference", "extracted", "duplicate", "conflict", "digest", "purge", "suggestion"]
"""What a proposal is to the person who decides; all of a group can be decided together."""
GROUPS: tuple[Group, ...] = get_args(Group)


@dataclass(frozen=True, slots=True)
class Proposal:
    """One queued write, with what is needed to show it as a diff and to apply it later, unchanged.

    A proposed new memory stands as a `proposed` row in the memory table (so that duplicates of it are noticed, C-110)
    and its proposal's `memory` names it; for a change to an existing memory, `memory` names the target and
    `base_version` the version that the writer saw.
    """

    id: str
    vault: str
    op: ProposalOp
    memory: str | None
    base_version: int | None
    payload: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    because: str = ""
    """Why it waits: `mode` (the connection may only suggest), `kind` (preferences wait for a person, C-136), `purge`,
    `extracted` (a model found it in a session), or what consolidation found: `duplicate`, `conflict`, `digest`."""
    status: ProposalStatus = "pending"
    agent: str = ""
    person: str = ""
    connection: str = ""
    created_at: int = 0
    decided_at: int | None = None
    decided_by: str = ""
    decision_note: str = ""
    note: str | None = None
    """The note that it is about, when that is already here."""
    audience: str = ""
    """Who may see it: those who see what it is about."""

    @property
    def group(self) -> Group:
        """Consolidation and extraction by name; a preference that an agent wrote; everything else is a suggestion."""
        if self.because == "kind":
            return "preference"
        return next((group for group in GROUPS if group == self.because), "suggestion")
