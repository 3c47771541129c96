"""What a read may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dolmen.domain.memory import Kind, Status


@dataclass(frozen=True, slots=True)
class Filter:
    """What a read may see: built only by `services.scoping`, applied only by `store.filter`, before any cut.

    With `as_of`, the filter speaks of the past: a memory qualifies by the state that it had at that time.
    """

    vault: str
    scopes: tuple[str, ...] | None
    """Scope names; None means every scope of the vault (the owner's command line and export)."""
    now: int
    statuses: tuple[Status, ...] = ("active",)
    kinds: tuple[Kind, ...] = ()
    labels: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """All of them must be there."""
    since: int | None = None
    until: int | None = None
    """Bounds of `created_at`: since <= created_at < until."""
    as_of: int | None = None
    case: str | None = None
    session: str | None = None
    ids: tuple[str, ...] | None = None
    """Only these memories, as far as they pass the rest; None for all."""
    folder: str | None = None
    """The folder itself and everything below it."""
    note: str | None = None
    """Only blocks of this note; empty for memories that are no blocks, None for all."""
    include_expired: bool = False
    stale: bool = False
    """Only those whose code changed or is gone by the last check; not for the past."""


Order = Literal["newest", "oldest", "changed", "importance"]
