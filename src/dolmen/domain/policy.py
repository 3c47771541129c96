"""Whether a write is done at once, waits for a person, or is refused: the one rule behind every door (DESIGN rule 7).

C-136, C-139 to C-141. Nothing is looked up here: what the vault says, who writes and what the write meets come in.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from dolmen.domain.memory import Kind
from dolmen.domain.values import Mode, Writing

Operation = Literal["create", "edit", "delete", "replace", "retract", "withdraw"]
"""`replace`: a new note that takes the place of a live one. `retract`: taking back what the same session wrote.
`withdraw`: taking back a proposal. Marks, links and everything about single memories count as `edit`."""

Base = Literal["current", "stale", "blind", "free", "taken"]
"""What a write meets. A change: the version that its writer saw is `current` or `stale`, or the writer named none of a
whole that it replaces (`blind`). A new note: its address is `free` or `taken`."""

Verdict = Literal["apply", "queue", "refuse"]

Because = Literal[
    "person", "own", "direct", "clear",
    "agent-writes-off", "mode", "kind", "review", "stale", "blind", "taken", "deletion", "replaces", "read-only",
]  # fmt: skip

SENTENCES: Mapping[str, str] = {
    "person": "A person wrote it.",
    "own": "A writer may take back what is its own.",
    "direct": "The write policy lets this connection write directly.",
    "clear": "This connection may write, and nothing is in the way.",
    "agent-writes-off": "Agent writes are off here, so every agent only proposes.",
    "mode": "This connection may only propose.",
    "kind": "Preferences steer agents, so a person decides about them.",
    "review": "The write policy has a person look at every write of an agent.",
    "stale": "The note moved on since the version that this write names.",
    "blind": "It replaces a whole note without naming the version that was read.",
    "taken": "Another note has this address.",
    "deletion": "A person decides about deletions.",
    "replaces": "It takes the place of a live note.",
    "read-only": "This connection may only read.",
    "purge": "A person decides about destroying for good.",
}
"""What each reason says to an agent."""


@dataclass(frozen=True, slots=True)
class Write:
    """What somebody wants to do."""

    operation: Operation = "edit"
    base: Base = "current"
    kinds: tuple[Kind | None, ...] = ()
    """Of every memory that the write makes, changes or brings back: before it and after it. A write that only takes
    away names none: what steers nobody any more needs no consent."""


CHANGE = Write()
"""A change to what is there, as its writer saw it."""


@dataclass(frozen=True, slots=True)
class Ruling:
    verdict: Verdict
    because: Because

    @property
    def sentence(self) -> str:
        return SENTENCES[self.because]


def rule(writing: Writing, mode: Mode, write: Write, *, human: bool = False) -> Ruling:
    """What becomes of a write.

    Args:
        writing: what the vault says about agents' writes, as this door reads it.
        mode: what the connection may do.
        human: a person acts; only a version or an address that the person did not see stands in the way then.
    """
    unseen: Because | None = "stale" if write.base == "stale" else "taken" if write.base == "taken" else None
    if human:
        return Ruling("refuse", unseen) if unseen else Ruling("apply", "person")
    if mode == "read":
        return Ruling("refuse", "read-only")
    if write.operation == "withdraw":
        return Ruling("apply", "own")
    if unseen and writing.unseen == "refuse":
        return Ruling("refuse", unseen)
    waits = _waits(writing, mode, write, unseen)
    if waits is not None:
        return Ruling("queue", waits)
    if write.operation == "retract":
        return Ruling("apply", "own")
    return Ruling("apply", "direct" if writing.policy == "direct" else "clear")


def _waits(writing: Writing, mode: Mode, write: Write, unseen: Because | None) -> Because | None:
    """Why an agent's write waits for a person; None when it does not."""
    if mode == "suggest":
        return "mode"
    if not writing.agent_writes:
        return "agent-writes-off"
    if "preference" in write.kinds:
        return "kind"
    if writing.policy == "review":
        return "review"
    if unseen:
        return unseen
    if writing.policy == "direct":
        return None
    if write.operation == "delete":
        return "deletion"
    if write.operation == "replace":
        return "replaces"
    return "blind" if write.base == "blind" else None
