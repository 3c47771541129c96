"""Keeping what a memory was, before it is changed."""

from __future__ import annotations

from dolmen.domain.values import Change
from dolmen.store import mapping
from dolmen.store.session import Session, Value


def keep(session: Session, vault: str, id: str, version: int, change: Change) -> bool:
    """Copies the stored state into the history; False when the memory no longer has that version."""
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
