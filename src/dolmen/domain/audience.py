"""Who may see a memory or a note: everybody of the vault, some persons, or the holders of some keys (C-37, C-38, C-46).

An audience is a short text that the store keeps beside the scope's name, so that what different people may see never
shares a place in the index: no count and no statistic of one audience is made of what another one holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Actor

Visibility = Literal["open", "private"]
VISIBILITIES: tuple[Visibility, ...] = ("open", "private")

OPEN = ""
"""Everybody of the vault."""
SHARED_LIMIT = 50
"""Persons that one memory can be shared with."""

_PERSONS, _KEY = "p:", "k:"


def of_persons(persons: Iterable[str]) -> str:
    """Private: these persons and nobody else.

    Raises:
        DolmenError: `invalid-argument` for nobody, or more than `SHARED_LIMIT`.
    """
    named = sorted(set(persons))
    if not 1 <= len(named) <= SHARED_LIMIT:
        raise DolmenError(
            "invalid-argument",
            f"Something private has 1 to {SHARED_LIMIT} people who see it, not {len(named)}.",
            "Share it with fewer, or make it open.",
        )
    return _PERSONS + ",".join(named)


def of_key(connection: str) -> str:
    """What a key that is kept apart writes: it, the keys of its groups, and the owner see it."""
    return _KEY + connection


def persons_of(audience: str) -> tuple[str, ...]:
    """The persons who see it, when it is private; empty otherwise."""
    return tuple(audience.removeprefix(_PERSONS).split(",")) if audience.startswith(_PERSONS) else ()


def key_of(audience: str) -> str:
    """The key that it belongs to; empty when it is no key's."""
    return audience.removeprefix(_KEY) if audience.startswith(_KEY) else ""


def visibility_of(audience: str) -> Visibility:
    """How it is called."""
    return "open" if audience == OPEN else "private"


@dataclass(frozen=True, slots=True)
class Viewer:
    """Who looks into the store. What they may not see is not there for them, whatever they ask."""

    vault: str
    person: str = ""
    """Sees what is private to this person; nobody's with an empty one."""
    keys: Sequence[str] = ()
    """Sees what these keys wrote, when they are kept apart."""
    open: bool = True
    """Sees what everybody sees."""
    every_key: bool = False
    """Sees what every key wrote (C-38: the master key)."""

    def sees(self, audience: str) -> bool:
        if audience == OPEN:
            return self.open
        if audience.startswith(_KEY):
            return self.every_key or key_of(audience) in self.keys
        return bool(self.person) and self.person in persons_of(audience)


def viewer_of(actor: Actor) -> Viewer:
    """What an actor may see. A key that is kept apart sees what it and its groups wrote and nothing else (C-37)."""
    if actor.keys:
        return Viewer(actor.vault, keys=actor.keys, open=False)
    return Viewer(actor.vault, actor.person, every_key=actor.mode == "admin")


def everybody(vault: str) -> Viewer:
    """Sees what everybody of the vault sees and nothing else: for work that serves all of them."""
    return Viewer(vault)


def written_by(actor: Actor) -> str:
    """Who sees what an actor writes without saying more."""
    if actor.keys:
        return of_key(actor.connection)
    return of_persons([actor.person]) if actor.private and actor.person else OPEN
