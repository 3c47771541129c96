"""Vaults, persons and connections."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Any

from dolmen.domain.access import Connection, KeyGroup
from dolmen.domain.values import Bounds, WritePolicy
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import queries

OF_A_VAULT = (
    "oauth_code", "oauth_token", "oauth_device", "browser_session", "entry_link", "sign_in_step", "recovery_code",
    "person_secret", "key_group_member", "key_group", "connection", "code_ref", "proposal", "link", "idempotency",
    "recall_event", "feedback", "audit", "job", "memory_tag", "revision", "memory", "note_alias", "note_revision",
    "note", "vault_setting", "person", "scope",
)  # fmt: skip
"""Every table with rows of a vault but those of the search index, in an order in which they can be emptied."""

_OWN = 13
"""Columns of a connection, before those of its limits."""


def connection_of(row: Row) -> Connection:
    """A connection, whose columns every query lists alike."""
    *limits, policy, apart, private, preset = row[_OWN:]
    return replace(
        Connection(*row[:_OWN]),
        bounds=Bounds(*limits),
        write_policy=policy,
        apart=bool(apart),
        private=bool(private),
        preset=preset or None,
    )


def _bounds(bounds: Bounds, write_policy: WritePolicy | None) -> dict[str, Any]:
    return {**asdict(bounds), "write_policy": write_policy}


class AccountRepository:
    """Implements `contract.Accounts`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sql = queries("accounts")

    def vaults(self) -> list[tuple[str, str]]:
        return [(row[0], row[1]) for row in self._session.all(self._sql["vaults"])]

    def add_vault(self, id: str, name: str, owner: str, owner_name: str) -> bool:
        now = self._session.now
        if not self._session.run(self._sql["add_vault"], {"vault": id, "name": name, "now": now}):
            return False
        person: dict[str, Value] = {"vault": id, "id": owner, "name": owner_name, "role": "owner", "now": now}
        self._session.run(self._sql["add_person"], person)
        return True

    def made_at(self, vault: str) -> int:
        row = self._session.one(self._sql["made_at"], {"vault": vault})
        return 0 if row is None else int(row[0])

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
            "apart": int(connection.apart),
            "private": int(connection.private),
            "preset": connection.preset or "",
        }
        self._session.run(self._sql["add_connection"], params)

    def by_secret(self, secret_hash: str) -> Connection | None:
        row = self._session.one(self._sql["by_secret"], {"secret_hash": secret_hash})
        return None if row is None else self.with_mates(connection_of(row))

    def with_mates(self, connection: Connection) -> Connection:
        if not connection.apart:
            return connection
        rows = self._session.all(self._sql["mates"], {"vault": connection.vault, "id": connection.id})
        mates = {row[0] for row in rows} - {connection.id}
        return replace(connection, mates=(connection.id, *sorted(mates)))

    # ---------------------------------------------------------------------------------------------------- key groups
    def groups(self, vault: str) -> list[KeyGroup]:
        found: dict[str, tuple[str, list[str]]] = {}
        for id, name, member in self._session.all(self._sql["groups"], {"vault": vault}):
            members = found.setdefault(id, (name, []))[1]
            members += [member] if member is not None else []
        return [KeyGroup(id, name, tuple(members)) for id, (name, members) in found.items()]

    def add_group(self, vault: str, id: str, name: str) -> bool:
        params: dict[str, Value] = {"vault": vault, "id": id, "name": name, "now": self._session.now}
        return self._session.run(self._sql["add_group"], params) > 0

    def remove_group(self, vault: str, id: str) -> bool:
        self._session.run(self._sql["drop_members"], {"vault": vault, "id": id})
        return self._session.run(self._sql["drop_group"], {"vault": vault, "id": id}) > 0

    def join_group(self, vault: str, group: str, connection: str) -> bool:
        return self._session.run(self._sql["join_group"], {"vault": vault, "group": group, "id": connection}) > 0

    def leave_group(self, vault: str, group: str, connection: str) -> bool:
        return self._session.run(self._sql["leave_group"], {"vault": vault, "group": group, "id": connection}) > 0

    # -------------------------------------------------------------------------------------------------------- vaults
    def rename_vault(self, vault: str, name: str) -> bool:
        return self._session.run(self._sql["rename_vault"], {"vault": vault, "name": name}) > 0

    def remove_vault(self, vault: str) -> bool:
        for table in OF_A_VAULT:
            self._session.run(self._sql["empty_table"].fill(table=table), {"vault": vault})
        self._session.run(self._sql["unbind_clients"], {"vault": vault})
        return self._session.run(self._sql["drop_vault"], {"vault": vault}) > 0

    def connections(self, vault: str) -> list[Connection]:
        return [connection_of(row) for row in self._session.all(self._sql["connections"], {"vault": vault})]

    def revoke(self, vault: str, id: str, at: int) -> bool:
        return self._session.run(self._sql["revoke"], {"vault": vault, "id": id, "at": at}) > 0

    def hold(self, vault: str, id: str) -> bool:
        return self._session.run(self._sql["hold"], {"vault": vault, "id": id}) > 0

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
