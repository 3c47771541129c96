"""Where a read looks: the scopes of a filter by their numbers, and how much there is."""

from __future__ import annotations

from dataclasses import dataclass

from dolmen.store.contract import Filter
from dolmen.store.filter import Reach
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.sql import queries


@dataclass(frozen=True, slots=True)
class Sight:
    """What one filter covers."""

    vault: str
    reach: Reach
    """For `store.filter`."""
    scopes: tuple[int, ...]
    """Where passages can be that pass. As of a time that is everywhere: passages move with their memory."""
    live: int
    """Live passages in these scopes."""
    live_in_vault: int
    """Whoever may see them."""
    indexed: int
    """Vectors in the part of the index that holds this vault and perhaps others; a guess of the server's."""
    audiences: tuple[str, ...]
    """Those that the viewer belongs to."""


class Sights:
    """The sights of one transaction, each counted once."""

    def __init__(self, session: PostgresSession, numbers: ScopeNumbers) -> None:
        self._session = session
        self._numbers = numbers
        self._known: dict[tuple[str, tuple[int, ...]], tuple[int, int, int]] = {}

    def look(self, filter: Filter) -> Sight:
        reach = self._numbers.reach(filter)
        everywhere = reach.scopes is None or filter.as_of is not None
        scopes = self._numbers.every(filter.vault) if everywhere else list(reach.scopes or ())
        key = (filter.vault, tuple(scopes))
        if key not in self._known:
            params = {"vault": filter.vault, "scopes": scopes}
            [self._known[key]] = self._session.all(queries("search", "postgres")["total"], params)
        audiences = tuple(self._numbers.audiences(filter.vault))
        return Sight(filter.vault, reach, key[1], *self._known[key], audiences)

    def forget(self) -> None:
        """After a change by this transaction."""
        self._known.clear()
