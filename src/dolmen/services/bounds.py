"""How much a connection may ask for, what it has used of it, and how an owner changes that (C-338, C-339, C-342)."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from dolmen.domain.access import Connection, require
from dolmen.domain.errors import DolmenError, not_found
from dolmen.domain.values import DAY, SECOND, Actor, Bounds, WritePolicy

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime
    from dolmen.store.contract import Tx

_MOST = 1_000_000_000


def checked_bounds(bounds: Bounds) -> Bounds:
    """The limits themselves.

    Raises:
        DolmenError: `invalid-argument` for one that is out of range.
    """
    for name, value in asdict(bounds).items():
        if value is not None and not 0 <= value <= _MOST:
            raise DolmenError(
                "invalid-argument", f"The limit {name} cannot be {value}.", f"Use 1 to {_MOST}, or 0 for no limit."
            )
    return bounds


def limit_key(
    rt: Runtime, actor: Actor, id: str, bounds: Bounds, write_policy: WritePolicy | None = None
) -> Connection:
    """Gives a connection, of a key or of a sign-in, other limits and another write policy; those of a key hold for the
    clients that were let in with it too. They count from the next request on; in other processes after a second.

    Raises:
        DolmenError: `not-found`; `invalid-argument` for a limit out of range.
    """
    from dolmen.services.recording import audit

    require(actor, "admin")
    checked_bounds(bounds)
    with rt.store.write() as tx:
        if not tx.accounts.bound(actor.vault, id, bounds, write_policy):
            raise not_found("Key", id)
        clients = tx.oauth.bound_to(actor.vault, id)
        for each in clients:  # they stay within the key as it is, not as it was (C-306)
            tx.accounts.bound(actor.vault, each, bounds, write_policy)
        audit(tx, actor, "key:limit", id)
        connection = next(each for each in tx.accounts.connections(actor.vault) if each.id == id)
    for each in (id, *clients):
        rt.keys.forget(each)
    return connection


# ---------------------------------------------------------------------------------------------------------------- usage
@dataclass(frozen=True, slots=True)
class Used:
    """What a connection has used of its quotas."""

    calls: int
    """Answered since midnight UTC, by every process; 0 where nothing limits them."""
    memories: int
    """That it wrote and that are kept, those that wait for a person too; 0 where nothing limits them."""
    seconds_left: int
    """Until the next midnight UTC."""


def used(rt: Runtime, actor: Actor) -> Used:
    """What the actor's connection has used by now."""
    with rt.store.read() as tx:
        of_day = tx.now % DAY
        calls = tx.journal.answered(actor.vault, actor.connection, tx.now - of_day) if actor.bounds.per_day else 0
        memories = tx.memories.written_by(actor.vault, actor.connection) if actor.bounds.memories else 0
    return Used(calls, memories, (DAY - of_day) // SECOND + 1)


def require_room(tx: Tx, actor: Actor, more: int = 1) -> None:
    """Refuses to keep more memories than the connection may have.

    Raises:
        DolmenError: `forbidden`.
    """
    limit = actor.bounds.memories
    if not limit or actor.human or more < 1:
        return
    kept = tx.memories.written_by(actor.vault, actor.connection)
    if kept + more > limit:
        raise DolmenError(
            "forbidden",
            f"This connection may keep {limit} memories and has {kept}.",
            "Forget what is not needed any more, or ask the owner for more (`dolmen key edit --memories`).",
        )
