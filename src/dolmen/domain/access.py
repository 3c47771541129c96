"""What a connection may do. Decided here once, called by every door (DESIGN rule 7)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Kind
from dolmen.domain.policy import CHANGE, Verdict, Write, rule
from dolmen.domain.values import Actor, Bounds, Mode, Preset, Toolset, WritePolicy

Need = Literal["read", "write", "admin"]
"""What an operation asks for. `write` admits `suggest` connections too; policy then queues their write."""

_RANK: dict[Mode, int] = {"read": 0, "suggest": 1, "write": 2, "admin": 3}
_NEED: dict[Need, int] = {"read": 0, "write": 1, "admin": 3}

KEY_PREFIX = "dlm_"


@dataclass(frozen=True, slots=True)
class Connection:
    """A credential that an agent uses (an API key here; OAuth grants later). The secret itself is never kept."""

    id: str
    vault: str
    person: str
    agent: str
    mode: Mode
    toolset: Toolset = "core"
    project: str | None = None
    label: str = ""
    created_at: int = 0
    expires_at: int | None = None
    revoked_at: int | None = None
    last_used_at: int | None = None
    hint: str = ""
    """The last four characters of the key, to tell keys apart in a list."""
    bounds: Bounds = field(default_factory=Bounds)
    """Its limits, where they are not those of its door."""
    write_policy: WritePolicy | None = None
    """Its write policy, where it is not the vault's."""
    apart: bool = False
    """It sees what it and the keys of its groups wrote, and nothing else (C-37)."""
    private: bool = False
    """What it writes is private to its person."""
    preset: Preset | None = None
    """Narrows what its mode allows (C-319)."""
    mates: tuple[str, ...] = ()
    """Of one that is kept apart and comes in: itself, then the keys of its groups."""


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """Keys that are kept apart together: each sees what the others wrote (C-38)."""

    id: str
    name: str
    keys: tuple[str, ...]


def require(actor: Actor, need: Need) -> None:
    """Refuses what the actor's mode does not cover; the only place where read-only is enforced."""
    if _RANK[actor.mode] >= _NEED[need]:
        return
    if actor.mode == "read":
        raise DolmenError(
            "read-only",
            "This connection may only read.",
            "Ask the owner for a connection in mode `suggest` or `write` (`dolmen key create --mode write`).",
        )
    raise DolmenError(
        "forbidden", f"This needs mode `{need}`; the connection has `{actor.mode}`.", "Ask the owner of the vault."
    )


def require_decider(actor: Actor) -> None:
    """Refuses who may not decide about proposals: every person of the vault may, about what they see, and connections
    in mode `admin`."""
    if not (actor.human and _RANK[actor.mode] >= _RANK["write"]):
        require(actor, "admin")


Decision = Verdict


def decide(actor: Actor, *kinds: Kind | None, write: Write = CHANGE) -> tuple[Decision, str]:
    """What becomes of a write of this actor, and why it waits or is refused (empty when it applies).

    Args:
        kinds: as `Write.kinds`, added to those that the write names.
    """
    ruling = rule(actor.writing, actor.mode, replace(write, kinds=(*write.kinds, *kinds)), human=actor.human)
    return ruling.verdict, "" if ruling.verdict == "apply" else ruling.because


def decide_purge(actor: Actor) -> tuple[Literal["apply", "queue"], str]:
    """Destroying for good is a person's decision: an agent's request waits, unless its connection is `admin`."""
    if actor.human or actor.mode == "admin":
        return "apply", ""
    return "queue", "purge"
