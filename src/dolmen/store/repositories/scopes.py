"""Scopes by their names, and the renaming of a project."""

from __future__ import annotations

from dolmen.domain.values import Change
from dolmen.store.indexing import EngineIndex
from dolmen.store.repositories.history import keep
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Session, Value
from dolmen.store.sql import chunks, queries


class ScopeRepository:
    """Implements `contract.Scopes`."""

    def __init__(self, session: Session, numbers: ScopeNumbers, index: EngineIndex) -> None:
        self._session = session
        self._numbers = numbers
        self._index = index
        self._sql = queries("scopes")

    def names(self, vault: str) -> list[str]:
        scopes = self._numbers.map(vault)
        return sorted(name for name in scopes.canonical if name not in scopes.aliases)

    def resolve(self, vault: str, name: str) -> str:
        return self._numbers.map(vault).aliases.get(name, name)

    def aliases(self, vault: str) -> dict[str, str]:
        return dict(self._numbers.map(vault).aliases)

    def alias(self, vault: str, old: str, new: str) -> int:
        if old == new:
            return 0
        source, target = self._ends(vault, old, new)
        params: dict[str, Value] = {"vault": vault, "scope_id": source, "target": target}
        self._session.run(self._sql["unalias"], params)
        self._session.run(self._sql["point"], params)
        moved = [row[0] for row in self._session.all(self._sql["members"], params)]
        self._supersede_twins(vault, params)
        for table in ("move", "move_history", "move_notes", "move_note_history"):
            self._session.run(self._sql[table], params)
        for chunk in chunks(moved):
            self._index.move(vault, chunk, target)
        self._numbers.touched(vault)
        return len(moved)

    def unalias(self, vault: str, name: str) -> bool:
        scopes = self._numbers.map(vault)
        if name not in scopes.aliases:
            return False
        number = next(number for number, own in scopes.own.items() if own == name)
        self._session.run(self._sql["unalias"], {"vault": vault, "target": number})
        self._numbers.touched(vault)
        return True

    def lock(self, vault: str, name: str) -> None:
        number = self._numbers.ensure(vault, name)
        self._session.run(self._sql["lock"], {"vault": vault, "scope_id": number})

    def _ends(self, vault: str, old: str, new: str) -> tuple[int, int]:
        """The numbers to move from and to."""
        source, target = self._numbers.ensure(vault, old), self._numbers.ensure(vault, new)
        scopes = self._numbers.map(vault)
        by_own_name = {name: number for number, name in scopes.own.items()}
        if old in scopes.aliases:  # its memories moved when it became one
            return by_own_name[old], target
        if source == target:  # `new` is an alias of `old`: they change roles
            return source, by_own_name[new]
        return source, target

    def _supersede_twins(self, vault: str, params: dict[str, Value]) -> None:
        """A statement that both scopes make stays active once, in the scope that the other moves to."""
        now = self._session.now
        change = Change(now, "alias", "dolmen", "", "local", "both projects said the same")
        for id, version, twin in self._session.all(self._sql["twins"], params):
            if not keep(self._session, vault, id, version, change):
                continue  # somebody has just changed it: if it still says the same, the move below is refused
            changed = {"vault": vault, "id": id, "version": version, "twin": twin, "now": now}
            self._session.run(self._sql["supersede"], changed)
            self._index.set_live(vault, id, False)
