"""Typed edges between memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dolmen.domain.memory import Link
from dolmen.store.repositories.history import gone
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import chunks, queries


class LinkRepository:
    """Implements `contract.Links`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sql = queries("links")

    def add(self, vault: str, link: Link) -> bool:
        params: dict[str, Value] = {
            "vault": vault,
            "source": link.source,
            "rel": link.rel,
            "target": link.target,
            "weight": link.weight,
            "created_at": link.created_at,
            "agent": link.agent,
        }
        if self._session.run(self._sql["add"], params):
            return True
        if not self._session.run(self._sql["weigh"], params):
            raise gone(link.source)
        return False

    def remove(self, vault: str, source: str, rel: str, target: str) -> bool:
        params = {"vault": vault, "source": source, "rel": rel, "target": target}
        return self._session.run(self._sql["remove"], params) > 0

    def around(self, vault: str, ids: Sequence[str]) -> list[Link]:
        found: dict[Row, None] = {}
        for chunk in chunks(ids):
            query, params = self._sql["around"].spread(ids=chunk)
            found |= dict.fromkeys([row[:6] for row in self._session.all(query, params | {"vault": vault})])
        return [Link(*row) for row in found]

    def toward(self, vault: str, names: Sequence[str]) -> list[Link]:
        found: dict[Row, None] = {}
        for name in dict.fromkeys(names):
            params: dict[str, Value] = {"vault": vault, "name": name, "first": f"{name}#", "last": f"{name}$"}
            found |= dict.fromkeys(self._session.all(self._sql["toward"], params))
        return [Link(*row) for row in found]

    def stream(self, vault: str) -> Iterator[Link]:
        for row in self._session.stream(self._sql["stream"], {"vault": vault}):
            yield Link(*row)
