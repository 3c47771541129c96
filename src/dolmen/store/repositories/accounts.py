"""Vaults, persons and connections."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from dolmen.domain.access import Connection
from dolmen.domain.values import Bounds, WritePolicy
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import queries

_OWN = 13
"""Columns of a connection, before those of its limits."""


def connection_of(row: Row) -> Connection:
    """A connection, whose columns every query lists alike."""
    *limits, policy = row[_OWN:]
    return replace(Connection(*row[:_OWN]), bounds=Bounds(*limits), write_policy=policy)


def _bounds(bounds: Bounds, write_policy: WritePolicy | None) -> dict[str, Any]:
    return {**asdict(bounds), "write_policy": write_policy}


class AccountRepository:
    """Implements `contract.Accounts`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sql = queries("accounts")

    def vaults(self) -> list[tuple[str, str]]:
        return [(row[0], row[1]) for row in self._session.all(self._sql["vaults"])]

    def add_vault(self, id: str, name: str, owner: str, owner_name: str) -> None:
        now = self._session.now
        if self._session.run(self._sql["add_vault"], {"vault": id, "name": name, "now": now}):
            person: dict[str, Value] = {"vault": id, "id": owner, "name": owner_name, "role": "owner", "now": now}
            self._session.run(self._sql["add_person"], person)

    def owner(self, vault: str) -> str:
        row = self._session.one(self._sql["owner"], {"vault": vault})
        return "" if row is None else str(row[0])

    def add_connection(self, connection: Connection, secret_hash: str) -> None:
        params: dict[str, Value] = {
            "vault": connection.vault,
            "id": connection.id,
            "person": connection.person,
            "agent": connection.agent,
            "mode": connection.mode,
            "toolset": connection.toolset,
            "project": connection.project,
            "label": connection.label,
            "hint": connection.hint,
            "secret_hash": secret_hash,
            "created_at": connection.created_at,
            "expires_at": connection.expires_at,
            "revoked_at": connection.revoked_at,
            "last_used_at": connection.last_used_at,
            **_bounds(connection.bounds, connection.write_policy),
        }
        self._session.run(self._sql["add_connection"], params)

    def by_secret(self, secret_hash: str) -> Connection | None:
        row = self._session.one(self._sql["by_secret"], {"secret_hash": secret_hash})
        return None if row is None else connection_of(row)

    def connections(self, vault: str) -> list[Connection]:
        return [connection_of(row) for row in self._session.all(self._sql["connections"], {"vault": vault})]

    def revoke(self, vault: str, id: str, at: int) -> bool:
        return self._session.run(self._sql["revoke"], {"vault": vault, "id": id, "at": at}) > 0

    def bound(self, vault: str, id: str, bounds: Bounds, write_policy: WritePolicy | None) -> bool:
        params = {"vault": vault, "id": id, **_bounds(bounds, write_policy)}
        return self._session.run(self._sql["bound"], params) > 0

    def touch(self, vault: str, id: str, at: int) -> None:
        self._session.run(self._sql["touch"], {"vault": vault, "id": id, "at": at})

    def setting(self, vault: str, key: str) -> str | None:
        row = self._session.one(self._sql["setting"], {"vault": vault, "key": key})
        return None if row is None else str(row[0])

    def set(self, vault: str, key: str, value: str) -> None:
        self._session.run(self._sql["set"], {"vault": vault, "key": key, "value": value})

    def settings(self, vault: str) -> dict[str, str]:
        return {row[0]: row[1] for row in self._session.all(self._sql["settings"], {"vault": vault})}
