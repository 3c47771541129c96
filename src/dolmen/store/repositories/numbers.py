"""The numbers that stand for scopes in the other tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dolmen.store.contract import Filter
from dolmen.store.session import Session
from dolmen.store.sql import queries


@dataclass(frozen=True, slots=True)
class ScopeMap:
    """The scopes of one vault as they were at one version."""

    own: dict[int, str]
    """Number -> its own name."""
    canonical: dict[str, int]
    """Name -> number of the scope that it stands for."""
    names: dict[int, str]
    """Number -> name; an alias's number gives the name that it stands for."""
    family: dict[int, tuple[int, ...]]
    """Number -> itself and its aliases: a writer that raced with a renaming may have used one of those."""
    aliases: dict[str, str]
    """Old name -> the name that it stands for."""

    @staticmethod
    def of(rows: Sequence[tuple[int, str, int | None]]) -> ScopeMap:
        """From (number, name, number that it is an alias of)."""
        own = {number: name for number, name, _ in rows}
        family: dict[int, list[int]] = {}
        for number, _, alias_of in rows:
            family.setdefault(alias_of or number, []).append(number)
        return ScopeMap(
            own=own,
            canonical={name: alias_of or number for number, name, alias_of in rows},
            names={number: own[alias_of or number] for number, _, alias_of in rows},
            family={number: tuple(members) for number, members in family.items()},
            aliases={name: own[alias_of] for _, name, alias_of in rows if alias_of},
        )


ScopeCache = dict[str, tuple[int, ScopeMap]]
"""Per process and store: vault -> (version, scopes at that version)."""


class ScopeNumbers:
    """Names and numbers of scopes as one transaction sees them.

    The scopes of a vault are read again when `vault.scopes` has moved on, else taken from the process's cache, so a
    name is never resolved by what another process has changed since.
    """

    def __init__(self, session: Session, cache: ScopeCache) -> None:
        self._session = session
        self._cache = cache
        self._maps: dict[str, ScopeMap] = {}
        self._changed: set[str] = set()
        self._sql = queries("scopes")

    def map(self, vault: str) -> ScopeMap:
        found = self._maps.get(vault)
        if found is None:
            found = self._maps[vault] = self._load(vault)
        return found

    def name(self, vault: str, number: int) -> str:
        return self.map(vault).names[number]

    def number(self, vault: str, name: str) -> int | None:
        """The number of the scope that the name stands for; None when there is none yet."""
        return self.map(vault).canonical.get(name)

    def ensure(self, vault: str, name: str) -> int:
        """The number of the scope that the name stands for; a new name gets one. The vault must be there."""
        found = self.number(vault, name)
        if found is None:
            self._session.run(self._sql["add"], {"vault": vault, "name": name, "now": self._session.now})
            self.touched(vault)
            found = self.map(vault).canonical[name]
        return found

    def within(self, filter: Filter) -> list[int] | None:
        """The numbers that a filter covers; None for the whole vault."""
        if filter.scopes is None:
            return None
        scopes = self.map(filter.vault)
        found = {scopes.canonical[name] for name in filter.scopes if name in scopes.canonical}
        return [member for number in sorted(found) for member in scopes.family[number]]

    def every(self, vault: str) -> list[int]:
        return list(self.map(vault).own)

    def touched(self, vault: str) -> None:
        """After a change: this transaction reads the scopes again, other processes do once it has ended."""
        self._session.run(self._sql["changed"], {"vault": vault})
        self._changed.add(vault)
        self._maps.pop(vault, None)

    def _load(self, vault: str) -> ScopeMap:
        row = self._session.one(self._sql["version"], {"vault": vault})
        if row is None:
            return ScopeMap.of([])
        known = self._cache.get(vault)
        if known is not None and known[0] == row[0] and vault not in self._changed:
            return known[1]
        found = ScopeMap.of([(r[0], r[1], r[2]) for r in self._session.all(self._sql["all"], {"vault": vault})])
        if vault not in self._changed:  # what this transaction changed may yet be rolled back
            self._cache[vault] = (row[0], found)
        return found
