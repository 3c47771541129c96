"""Small values that every layer speaks in: who acts, what a page is, when and by whom a thing changed."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

Mode = Literal["read", "suggest", "write", "admin"]
MODES: tuple[Mode, ...] = ("read", "suggest", "write", "admin")

Preset = Literal["recall-only", "write-only", "onboarding", "audit"]
PRESETS: tuple[Preset, ...] = ("recall-only", "write-only", "onboarding", "audit")

Toolset = Literal["core", "kenfold", "anchormind", "konteks", "kmem", "openai"]
TOOLSETS: tuple[Toolset, ...] = ("core", "kenfold", "anchormind", "konteks", "kmem", "openai")
SERVED: tuple[Toolset, ...] = ("core", "kenfold", "kmem", "openai")
"""The toolsets that this version has; a test holds this to the registry's faces. Nothing offers another one."""

USER_SCOPE = "user"
"""The scope that every read of a project includes (C-28)."""

SECOND = 1_000_000
"""Times are whole microseconds since 1970-01-01T00:00:00Z."""
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND


WritePolicy = Literal["conflicts", "review", "direct"]
WRITE_POLICIES: tuple[WritePolicy, ...] = ("conflicts", "review", "direct")


@dataclass(frozen=True, slots=True)
class Writing:
    """What a vault says about the writes of agents, as one door reads it; `domain/policy` decides by it."""

    agent_writes: bool = True
    """Off: every agent only proposes, whatever its connection may do (C-140)."""
    policy: WritePolicy = "direct"
    """`conflicts`: deletions, replaced notes, stale and blind edits wait; `review`: everything; `direct`: only what
    would overwrite what its writer did not see."""
    unseen: Literal["refuse", "queue"] = "refuse"
    """What becomes of a change to a version that its writer did not see: the writer is told to read again, or a person
    decides."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much one connection may ask for. None: what its door gives by default; 0: as much as it likes."""

    per_minute: int | None = None
    """Requests."""
    per_hour: int | None = None
    per_day: int | None = None
    """Answered calls, by days in UTC, counted in the store for every process (C-339)."""
    at_once: int | None = None
    """Requests at the same time; where a toolset names costly tools, calls of these."""
    memories: int | None = None
    """Memories of its own that the vault keeps, deleted ones aside (C-338)."""

    def over(self, default: Bounds) -> Bounds:
        """These, and the default's where nothing is said."""
        said = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(default, **{name: value for name, value in said.items() if value is not None})


@dataclass(frozen=True, slots=True)
class Actor:
    """Who is acting: resolved once, at the door, from the connection; never from a tool argument (C-15, C-31)."""

    vault: str
    """The id of the vault; no query crosses it."""
    person: str
    """The id of the person that the connection belongs to."""
    agent: str
    """The agent's name: `claude-code`, `codex`, …; `unknown` when the connection does not say."""
    mode: Mode
    connection: str
    """The id of the connection; `local` for the command line and for keyless loopback."""
    project: str | None = None
    """The default project of the connection, already normalised; None for the user scope."""
    parents: tuple[str, ...] = ()
    """Projects around the default one, when it is a submodule: its reads show their memories too (B121)."""
    toolset: Toolset = "core"
    session: str | None = None
    """The agent's conversation, when the client names it."""
    writing: Writing = Writing()
    """What the vault says about this actor's writes; a door that obeys it reads it on every request (C-140)."""
    keys: tuple[str, ...] = ()
    """For a key that is kept apart: itself and the keys of its groups, whose memories it sees, and no others (C-37)."""
    private: bool = False
    """What it writes is private to its person, unless a note says otherwise."""
    preset: Preset | None = None
    """Narrows what the mode allows to some operations (C-303)."""
    bounds: Bounds = Bounds()
    """What its connection says of its limits."""
    policy: WritePolicy | None = None
    """The write policy of its connection, where that has one of its own."""
    origin: str = ""
    """Where the request came from: the address, and the program as it names itself; for the audit (C-359)."""
    human: bool = False
    """True at the command line and the web page, where a person acts: what is written then is trusted as the user's."""
    outside: bool = False
    """A person brings in what somebody else wrote: nobody vouches for it yet."""


@dataclass(frozen=True, slots=True)
class Change:
    """Who changed a thing, when, by which operation and why; a part of every revision."""

    at: int
    op: str
    agent: str
    person: str
    connection: str
    reason: str = ""
