"""Scopes by their names, and the renaming of a project."""

from __future__ import annotations

from dolmen.domain.audience import OPEN
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
        shown = {name for number, (name, _) in scopes.own.items() if self._numbers.sees(vault, number)}
        return sorted(shown - scopes.aliases.keys())

    def resolve(self, vault: str, name: str) -> str:
        return self._numbers.map(vault).aliases.get(name, name)

    def aliases(self, vault: str) -> dict[str, str]:
        return dict(self._numbers.map(vault).aliases) if self._numbers.shows(vault, OPEN) else {}

    def alias(self, vault: str, old: str, new: str) -> int:
        if old == new:
            return 0
        source, target = self._ends(vault, old, new)
        params: dict[str, Value] = {"vault": vault, "scope_id": source, "target": target}
        self._session.run(self._sql["unalias"], params)
        self._session.run(self._sql["point"], params)
        moved = self._move(vault, source, target)
        self._numbers.touched(vault)
        others = [(number, own[1]) for number, own in self._numbers.map(vault).own.items() if own[0] == old and own[1]]
        for number, audience in others:  # what only some may see stays theirs
            there = self._numbers.row(vault, new, audience)
            moved += self._move(vault, number, there) if there != number else 0
        self._numbers.touched(vault)
        return moved

    def _move(self, vault: str, source: int, target: int) -> int:
        """Moves everything of one scope to another; how many memories that were."""
        params: dict[str, Value] = {"vault": vault, "scope_id": source, "target": target}
        moved = [row[0] for row in self._session.all(self._sql["members"], params)]
        self._supersede_twins(vault, params)
        for table in ("move", "move_history", "move_notes", "move_note_history"):
            self._session.run(self._sql[table], params)
        for chunk in chunks(moved):
            self._index.move(vault, chunk, target)
        return len(moved)

    def unalias(self, vault: str, name: str) -> bool:
        scopes = self._numbers.map(vault)
        if name not in scopes.aliases:
            return False
        number = next(number for number, own in scopes.own.items() if own == (name, OPEN))
        self._session.run(self._sql["unalias"], {"vault": vault, "target": number})
        self._numbers.touched(vault)
        return True

    def lock(self, vault: str, name: str, audience: str = OPEN) -> None:
        number = self._numbers.ensure(vault, name, audience)
        self._session.run(self._sql["lock"], {"vault": vault, "scope_id": number})

    def _ends(self, vault: str, old: str, new: str) -> tuple[int, int]:
        """The numbers to move what everybody sees from and to."""
        source, target = self._numbers.ensure(vault, old), self._numbers.ensure(vault, new)
        scopes = self._numbers.map(vault)
        by_own_name = {name: number for number, (name, audience) in scopes.own.items() if audience == OPEN}
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
