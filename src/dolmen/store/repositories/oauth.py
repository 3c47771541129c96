"""Clients that ask to be let in, and the codes and tokens that they were given."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Literal

from dolmen.domain.access import Connection
from dolmen.domain.oauth import Client, Code, DeviceCode, Token, TokenKind
from dolmen.store.contract.oauth import Origin
from dolmen.store.mapping import dump
from dolmen.store.repositories.accounts import connection_of
from dolmen.store.session import Row, Session
from dolmen.store.sql import queries

_TOKEN = 9
"""Columns of a token, before those of its connection."""


class OAuthRepository:
    """Implements `contract.OAuth`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sql = queries("oauth")

    # -------------------------------------------------------------------------------------------------------- clients
    def put_client(self, client: Client, origin: Origin) -> None:
        self._session.run(
            self._sql["put_client"],
            {
                "id": client.id,
                "origin": origin,
                "name": client.name,
                "redirects": dump(client.redirects),
                "method": client.method,
                "jwks_uri": client.jwks_uri,
                "jwks": None if client.jwks is None else dump(client.jwks),
                "scope": client.scope,
                "created_at": client.created_at,
                "vault": client.vault,
                "key": client.key,
            },
        )

    def client(self, id: str) -> Client | None:
        row = self._session.one(self._sql["client"], {"id": id})
        if row is None:
            return None
        id, name, redirects, method, jwks_uri, jwks, *rest = row
        keys = None if jwks is None else json.loads(jwks)
        return Client(id, name, tuple(json.loads(redirects)), method, jwks_uri, keys, *rest)

    def approve_client(self, id: str, at: int) -> None:
        self._session.run(self._sql["approve_client"], {"id": id, "at": at})

    def unapproved(self) -> int:
        [(number,)] = self._session.all(self._sql["unapproved"])
        return int(number)

    def evict_unapproved(self, keep: int) -> int:
        return self._session.run(self._sql["evict_clients"], {"keep": keep})

    def bound_to(self, vault: str, key: str) -> list[str]:
        return [str(id) for (id,) in self._session.all(self._sql["bound_connections"], {"vault": vault, "key": key})]

    # ----------------------------------------------------------------------------------------------- codes and tokens
    def add_code(self, code: Code, secret_hash: str) -> None:
        self._session.run(self._sql["add_code"], {**asdict(code), "hash": secret_hash})

    def use_code(self, secret_hash: str, at: int) -> Code | None:
        self._session.run(self._sql["hold_of_code"], {"hash": secret_hash})
        first = self._session.run(self._sql["use_code"], {"hash": secret_hash, "at": at}) > 0
        row = self._session.one(self._sql["code"], {"hash": secret_hash})
        if row is None:
            return None
        code = Code(*row)
        return replace(code, used_at=None) if first else code

    def add_token(self, token: Token, secret_hash: str) -> None:
        self._session.run(self._sql["add_token"], {**asdict(token), "hash": secret_hash})

    def token(self, kind: TokenKind, secret_hash: str) -> tuple[Token, Connection] | None:
        row = self._session.one(self._sql["token"], {"hash": secret_hash, "kind": kind})
        return None if row is None else (Token(*row[:_TOKEN]), connection_of(row[_TOKEN:]))

    def use_refresh(self, secret_hash: str, at: int) -> bool:
        return self._session.run(self._sql["use_refresh"], {"hash": secret_hash, "at": at}) > 0

    def drop_tokens(self, vault: str, connection: str) -> int:
        params = {"vault": vault, "connection": connection}
        for what in ("drop_codes", "drop_allowed"):
            self._session.run(self._sql[what], params)
        return self._session.run(self._sql["drop_tokens"], params)

    # -------------------------------------------------------------------------------------------------------- devices
    def add_device(self, device: DeviceCode, secret_hash: str) -> bool:
        fields = {name: value for name, value in asdict(device).items() if name != "polled_at"}
        return self._session.run(self._sql["add_device"], {**fields, "hash": secret_hash}) > 0

    def device(self, secret_hash: str) -> DeviceCode | None:
        return _device(self._session.one(self._sql["device"].fill(column="secret_hash"), {"code": secret_hash}))

    def device_of(self, user_code: str) -> DeviceCode | None:
        return _device(self._session.one(self._sql["device"].fill(column="user_code"), {"code": user_code}))

    def decide_device(
        self, user_code: str, decision: Literal["allowed", "denied"], vault: str, connection: str, scope: str
    ) -> bool:
        params = {
            "user_code": user_code, "decision": decision, "vault": vault, "connection": connection, "scope": scope,
        }  # fmt: skip
        return self._session.run(self._sql["decide_device"], params) > 0

    def poll_device(self, secret_hash: str, at: int) -> None:
        self._session.run(self._sql["hold_of_device"], {"hash": secret_hash})
        self._session.run(self._sql["poll_device"], {"hash": secret_hash, "at": at})

    def redeem_device(self, secret_hash: str) -> bool:
        return self._session.run(self._sql["redeem_device"], {"hash": secret_hash}) > 0

    # --------------------------------------------------------------------------------------------------------- upkeep
    def trim(self, now: int, unapproved_before: int) -> int:
        for what in ("codes", "devices"):
            self._session.run(self._sql[f"end_{what}"], {"now": now})
        ended = sum(
            self._session.run(self._sql[f"trim_{what}"], {"now": now}) for what in ("codes", "tokens", "devices")
        )
        return ended + self._session.run(self._sql["trim_clients"], {"before": unapproved_before})


def _device(row: Row | None) -> DeviceCode | None:
    return None if row is None else DeviceCode(*row)
