"""Leases on long work; the one whose lease runs out has died."""

from __future__ import annotations

from dolmen.store.session import Session, Value
from dolmen.store.sql import queries


class LeaseRepository:
    """Implements `contract.Leases`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sql = queries("leases")

    def take(self, name: str, owner: str, now: int, until: int) -> bool:
        params: dict[str, Value] = {"name": name, "owner": owner, "now": now, "until": until}
        return self._session.run(self._sql["take"], params) > 0

    def release(self, name: str, owner: str) -> None:
        self._session.run(self._sql["release"], {"name": name, "owner": owner})
