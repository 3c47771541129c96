"""Typed edges between memories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dolmen.domain.memory import Link
from dolmen.store.repositories.history import gone
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import chunks, queries


class LinkRepository:
    """Implements `contract.Links`."""

    def __init__(self, session: Session, numbers: ScopeNumbers) -> None:
        self._session = session
        self._numbers = numbers
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
        ends, hidden = self._ends(vault)
        for chunk in chunks(ids):
            query, listed = self._sql["around"].fill(ends=ends).spread(ids=chunk)
            params: dict[str, Value] = {**listed, **hidden}
            found |= dict.fromkeys([row[:6] for row in self._session.all(query, params | {"vault": vault})])
        return [Link(*row) for row in found]

    def toward(self, vault: str, names: Sequence[str]) -> list[Link]:
        found: dict[Row, None] = {}
        ends, hidden = self._ends(vault)
        for name in dict.fromkeys(names):
            params: dict[str, Value] = {"vault": vault, "name": name, "first": f"{name}#", "last": f"{name}$"}
            found |= dict.fromkeys(self._session.all(self._sql["toward"].fill(ends=ends), params | hidden))
        return [Link(*row) for row in found]

    def stream(self, vault: str) -> Iterator[Link]:
        ends, hidden = self._ends(vault)
        for row in self._session.stream(self._sql["stream"].fill(ends=ends), {"vault": vault} | hidden):
            yield Link(*row)

    def _ends(self, vault: str) -> tuple[str, dict[str, Value]]:
        """Keeps out edges of which the viewer must not see both ends."""
        hidden = self._numbers.hidden(vault)
        if not hidden:
            return "", {}
        query, params = self._sql["hidden_end"].spread(hidden=hidden)
        return f"AND NOT EXISTS ({query.text})", dict(params)
