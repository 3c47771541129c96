"""Where a read looks: the scopes of a filter by their numbers, and how much there is."""

from __future__ import annotations

from dataclasses import dataclass, field

from dolmen.store.contract import Filter
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.sql import queries


@dataclass(slots=True)
class Sight:
    """The scopes of a filter, for one transaction."""

    vault: str
    within: list[int] | None
    """For `store.filter`; None means every scope."""
    scopes: tuple[int, ...]
    """Where passages can be that pass. As of a time that is everywhere: passages move with their memory."""
    _totals: tuple[int, int] | None = field(default=None)

    def totals(self, session: PostgresSession) -> tuple[int, int]:
        """(live passages in the scopes, live passages of the vault)."""
        if self._totals is None:
            params = {"vault": self.vault, "scopes": list(self.scopes)}
            [(here, all_of_them)] = session.all(queries("search", "postgres")["total"], params)
            self._totals = (here, all_of_them)
        return self._totals


def look(numbers: ScopeNumbers, filter: Filter) -> Sight:
    """The scopes that a filter covers."""
    within = numbers.within(filter)
    scopes = numbers.every(filter.vault) if within is None or filter.as_of is not None else within
    return Sight(filter.vault, within, tuple(scopes))
