"""Idempotency keys: a repeated call gets the memory that its first try stored."""

from __future__ import annotations

from dolmen.store.session import Session, Value
from dolmen.store.sql import queries


class KeyRepository:
    """Implements `contract.Keys`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sql = queries("keys")

    def find(self, vault: str, connection: str, key: str) -> str | None:
        row = self._session.one(self._sql["find"], {"vault": vault, "connection": connection, "key": key})
        return None if row is None else str(row[0])

    def put(self, vault: str, connection: str, key: str, memory: str, at: int) -> bool:
        params: dict[str, Value] = {
            "vault": vault,
            "connection": connection,
            "key": key,
            "memory": memory,
            "at": at,
        }
        return any(self._session.run(self._sql[name], params) for name in ("put", "take_over"))
