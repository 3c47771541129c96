"""Keeping what a memory was, before it is changed."""

from __future__ import annotations

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Change
from dolmen.store import mapping
from dolmen.store.session import Session, Value


def gone(id: str) -> DolmenError:
    """The refusal to add something to a memory that is not there."""
    return DolmenError("gone", f"Memory {id} is no longer here.", "It was purged: leave it out.")


def keep(session: Session, vault: str, id: str, version: int, change: Change) -> bool:
    """Copies the stored state into the history; False when the memory no longer has that version.

    True keeps every other writer that does the same, and a purge, waiting until this transaction ends.
    """
    params: dict[str, Value] = {
        "vault": vault,
        "id": id,
        "version": version,
        "at": change.at,
        "op": change.op,
        "agent": change.agent,
        "person": change.person,
        "connection": change.connection,
        "reason": change.reason,
    }
    return session.run(mapping.filled("memories")["keep"], params) == 1
