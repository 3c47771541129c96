"""The numbers that stand for scopes in the other tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dolmen.domain.audience import OPEN, Viewer
from dolmen.store.contract import Filter
from dolmen.store.filter import Reach
from dolmen.store.session import Session, Value
from dolmen.store.sql import queries


@dataclass(frozen=True, slots=True)
class ScopeMap:
    """The scopes of one vault as they were at one version. A scope is a name and an audience."""

    own: dict[int, tuple[str, str]]
    """Number -> its own name and its audience."""
    canonical: dict[tuple[str, str], int]
    """Name that is no alias, and audience -> number of the scope that new memories go to."""
    names: dict[int, str]
    """Number -> name; an alias's number gives the name that it stands for."""
    family: dict[int, tuple[int, ...]]
    """Number -> itself and its aliases: a writer that raced with a renaming may have used one of those."""
    aliases: dict[str, str]
    """Old name -> the name that it stands for, for every audience."""
    places: dict[str, tuple[int, ...]]
    """Audience -> the numbers of its scopes."""

    @staticmethod
    def of(rows: Sequence[tuple[int, str, int | None, str]]) -> ScopeMap:
        """From (number, name, number that it is an alias of, audience)."""
        own = {number: (name, audience) for number, name, _, audience in rows}
        aliases = {name: own[alias_of][0] for _, name, alias_of, _ in rows if alias_of}
        names = {number: aliases.get(name, name) for number, (name, _) in own.items()}
        places: dict[str, list[int]] = {}
        members: dict[tuple[str, str], list[int]] = {}
        for number, (name, audience) in own.items():
            first = names[number] == name
            places.setdefault(audience, []).append(number)
            members.setdefault((names[number], audience), []).insert(0 if first else len(own), number)
        return ScopeMap(
            own=own,
            canonical={place: numbers[0] for place, numbers in members.items()},
            names=names,
            family={numbers[0]: tuple(numbers) for numbers in members.values()},
            aliases=aliases,
            places={audience: tuple(numbers) for audience, numbers in places.items()},
        )

    def number(self, name: str, audience: str) -> int | None:
        return self.canonical.get((self.aliases.get(name, name), audience))


ScopeCache = dict[str, tuple[int, ScopeMap]]
"""Per process and store: vault -> (version, scopes at that version)."""


class ScopeNumbers:
    """Names and numbers of scopes as one transaction sees them, and which of them its viewer may see.

    The scopes of a vault are read again when `vault.scopes` has moved on, else taken from the process's cache, so a
    name is never resolved by what another process has changed since.
    """

    def __init__(self, session: Session, cache: ScopeCache, viewer: Viewer | None = None) -> None:
        self._session = session
        self._cache = cache
        self._viewer = viewer
        self._maps: dict[str, ScopeMap] = {}
        self._seen: dict[tuple[str, str], bool] = {}
        self._changed: set[str] = set()
        self._sql = queries("scopes")

    def map(self, vault: str) -> ScopeMap:
        found = self._maps.get(vault)
        if found is None:
            found = self._maps[vault] = self._load(vault)
        return found

    def name(self, vault: str, number: int) -> str:
        return self.map(vault).names[number]

    def audience(self, vault: str, number: int) -> str:
        return self.map(vault).own[number][1]

    def number(self, vault: str, name: str, audience: str = OPEN) -> int | None:
        """The number of the scope that the name stands for; None when there is none yet."""
        return self.map(vault).number(name, audience)

    def ensure(self, vault: str, name: str, audience: str = OPEN) -> int:
        """The number of the scope that the name stands for; a new name gets one. The vault must be there."""
        found = self.number(vault, name, audience)
        if found is None:
            found = self._add(vault, self.map(vault).aliases.get(name, name), audience)
        return found

    def row(self, vault: str, name: str, audience: str) -> int:
        """The number of the scope with this very name, alias or not."""
        found = next((number for number, own in self.map(vault).own.items() if own == (name, audience)), None)
        return self._add(vault, name, audience) if found is None else found

    def _add(self, vault: str, name: str, audience: str) -> int:
        params: dict[str, Value] = {"vault": vault, "name": name, "audience": audience, "now": self._session.now}
        self._session.run(self._sql["add"], params)
        self.touched(vault)
        return next(number for number, own in self.map(vault).own.items() if own == (name, audience))

    # ------------------------------------------------------------------------------------------------ who may see what
    @property
    def unbounded(self) -> bool:
        """Whether the transaction sees everything: the work of the house, for nobody."""
        return self._viewer is None

    def shows(self, vault: str, audience: str) -> bool:
        """Whether the viewer sees what this audience does."""
        return self._viewer is None or (self._viewer.vault == vault and self._viewer.sees(audience))

    def sees(self, vault: str, number: int) -> bool:
        """Whether the viewer sees what is in the scope; not what is in one that this transaction knows nothing of."""
        if self._viewer is None:
            return True
        own = self.map(vault).own.get(number)
        return own is not None and self._shown(vault, own[1])

    def _shown(self, vault: str, audience: str) -> bool:
        """`shows`, found out once."""
        known = self._seen.get((vault, audience))
        if known is None:
            known = self._seen[vault, audience] = self.shows(vault, audience)
        return known

    def audiences(self, vault: str) -> list[str]:
        """Those that the viewer belongs to, of all that the vault's scopes have; everybody's even where it has none."""
        return sorted(each for each in {OPEN, *self.map(vault).places} if self.shows(vault, each))

    def hidden(self, vault: str) -> tuple[int, ...]:
        """The scopes that the viewer must not see anything of."""
        if self._viewer is None:
            return ()
        places = self.map(vault).places
        return tuple(sorted(n for each, numbers in places.items() if not self._shown(vault, each) for n in numbers))

    def unseen(self, vault: str, column: str) -> tuple[str, dict[str, Value]]:
        """A further condition for SQL that keeps out what is hidden, with its parameters; empty when nothing is."""
        hidden = self.hidden(vault)
        names = {f"hidden_{i}": number for i, number in enumerate(hidden)}
        listed = ", ".join(":" + name for name in names)
        return (f"AND {column} NOT IN ({listed})", dict(names)) if hidden else ("", {})

    def reach(self, filter: Filter) -> Reach:
        """Where a read looks: the one scope filter's part that is about places (`store/filter`)."""
        scopes = self.map(filter.vault)
        if filter.scopes is None:
            return Reach(None, self.hidden(filter.vault))
        seen = self.audiences(filter.vault)
        found = {number for name in filter.scopes for each in seen if (number := scopes.number(name, each)) is not None}
        numbers = [member for number in sorted(found) for member in scopes.family[number]]
        return Reach(numbers, self.hidden(filter.vault))

    def every(self, vault: str) -> list[int]:
        """All that the viewer may see."""
        places = self.map(vault).places
        return sorted(n for each, numbers in places.items() if self._shown(vault, each) for n in numbers)

    # ------------------------------------------------------------------------------------------------------- changes
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
        rows = self._session.all(self._sql["all"], {"vault": vault})
        found = ScopeMap.of([(r[0], r[1], r[2], r[3]) for r in rows])
        if vault not in self._changed:  # what this transaction changed may yet be rolled back
            self._cache[vault] = (row[0], found)
        return found
