"""What people prove themselves with besides a password, and the steps of signing in."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import asdict, replace
from typing import cast

from dolmen.store.contract.people import Person, SecretKind
from dolmen.store.contract.proofs import Passkey, Step, StepKind
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import queries

_PASSKEY = 7
"""Columns of a passkey, before those of its person."""


class ProofRepository:
    """Implements `contract.Proofs`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sql = queries("proofs")

    # ---------------------------------------------------------------------------------------------------------- codes
    def drop_codes(self, vault: str, person: str) -> bool:
        self._session.run(self._sql["drop_recovery"], {"vault": vault, "person": person})
        return self._drop(vault, person, "totp")

    def use_code(self, vault: str, person: str, at: int) -> bool:
        return self._session.run(self._sql["use_code"], {"vault": vault, "person": person, "at": at}) > 0

    def set_recovery(self, vault: str, person: str, hashes: Collection[str], at: int) -> None:
        whose: dict[str, Value] = {"vault": vault, "person": person}
        self._session.run(self._sql["drop_recovery"], whose)
        for each in hashes:
            self._session.run(self._sql["add_recovery"], {**whose, "hash": each, "at": at})

    def use_recovery(self, vault: str, person: str, code_hash: str) -> bool:
        params: dict[str, Value] = {"vault": vault, "person": person, "hash": code_hash}
        return self._session.run(self._sql["use_recovery"], params) > 0

    def recovery_left(self, vault: str, person: str) -> int:
        [(number,)] = self._session.all(self._sql["recovery_left"], {"vault": vault, "person": person})
        return int(number)

    def drop_password(self, vault: str, person: str) -> bool:
        return self._drop(vault, person, "password")

    def _drop(self, vault: str, person: str, kind: SecretKind, id: str = "") -> bool:
        params: dict[str, Value] = {"vault": vault, "person": person, "kind": kind, "id": id}
        return self._session.run(self._sql["drop_secret"], params) > 0

    # ------------------------------------------------------------------------------------------------------- passkeys
    def add_passkey(self, passkey: Passkey) -> None:
        self._session.run(self._sql["add_passkey"], {**asdict(passkey), "data": _data(passkey)})

    def passkeys(self, vault: str, person: str) -> list[Passkey]:
        rows = self._session.all(self._sql["passkeys"], {"vault": vault, "person": person})
        return [_passkey(row) for row in rows]

    def passkey(self, id: str) -> tuple[Passkey, Person] | None:
        row = self._session.one(self._sql["passkey"], {"id": id})
        return None if row is None else (_passkey(row[:_PASSKEY]), Person(*row[_PASSKEY:]))

    def use_passkey(self, seen: Passkey, counter: int, at: int) -> bool:
        params: dict[str, Value] = {
            "vault": seen.vault,
            "person": seen.person,
            "id": seen.id,
            "seen": _data(seen),
            "data": _data(replace(seen, counter=counter)),
            "at": at,
        }
        return self._session.run(self._sql["use_passkey"], params) > 0

    def drop_passkey(self, vault: str, person: str, id: str) -> bool:
        return self._drop(vault, person, "passkey", id)

    # ---------------------------------------------------------------------------------------------------------- steps
    def add_step(self, step: Step, secret_hash: str) -> None:
        self._session.run(self._sql["add_step"], {**asdict(step), "hash": secret_hash})

    def step(self, secret_hash: str, kind: StepKind) -> Step | None:
        row = self._session.one(self._sql["step"], {"hash": secret_hash, "kind": kind})
        return None if row is None else Step(*row)

    def take_step(self, secret_hash: str, kind: StepKind) -> Step | None:
        rows = self._session.all(self._sql["take_step"], {"hash": secret_hash, "kind": kind})
        return Step(*rows[0]) if rows else None

    def trim(self, now: int) -> int:
        return self._session.run(self._sql["trim"], {"now": now})


def _data(passkey: Passkey) -> str:
    return json.dumps({"key": passkey.key, "counter": passkey.counter}, separators=(",", ":"))


def _passkey(row: Row) -> Passkey:
    vault, person, id, data, label, created_at, used_at = row
    kept = json.loads(cast(str, data))
    return Passkey(vault, person, id, kept["key"], kept["counter"], label, created_at, used_at)
