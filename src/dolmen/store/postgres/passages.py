"""The writing half of the search index: passages, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence

from dolmen.store.contract import Passage
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.sql import queries

FOLD_EVERY = 256
"""Passages between two foldings of a vault's counts; a count is the sum of at most about that many rows."""


class PassageWriter:
    """For one transaction. Each change of a passage changes its counts in the same statement or under the same lock."""

    def __init__(self, session: PostgresSession, numbers: ScopeNumbers) -> None:
        self._session = session
        self._numbers = numbers
        self._sql = queries("search", "postgres")

    def changed(self) -> None:
        """Called after each change of this transaction."""

    def put(self, vault: str, passages: Sequence[Passage]) -> list[int]:
        if not passages:
            return []
        scopes = {place: self._numbers.ensure(vault, *place) for place in {(p.scope, p.audience) for p in passages}}
        columns = {
            "memories": [p.memory for p in passages],
            "scopes": [scopes[p.scope, p.audience] for p in passages],
            "lives": [int(p.live) for p in passages],
            "ords": [p.ord for p in passages],
            "starts": [p.start for p in passages],
            "ends": [p.end for p in passages],
            "lengths": [len(p.tokens) for p in passages],
            "froms": [p.valid_from for p in passages],
            "tos": [p.valid_to for p in passages],
            "tokens": [" ".join(p.tokens) for p in passages],
        }
        ids = [row[0] for row in self._session.all(self._sql["put"], {"vault": vault, **columns})]
        if ids[0] // FOLD_EVERY != (ids[-1] + 1) // FOLD_EVERY:
            self._session.run(queries("upkeep", "postgres")["fold"], {"vault": vault})
        self.changed()
        return ids

    def retire(self, vault: str, memory: str, at: int) -> None:
        self._session.run(self._sql["retire"], {"vault": vault, "memory": memory, "at": at})
        self.changed()

    def set_live(self, vault: str, memory: str, live: bool) -> None:
        self._session.run(self._sql["set_live"], {"vault": vault, "memory": memory, "live": int(live)})
        self.changed()

    def move(self, vault: str, memories: Sequence[str], scope: int) -> None:
        params = {"vault": vault, "memories": list(memories), "scope": scope}
        self._session.run(self._sql["hold_memories"], params)
        self._session.run(self._sql["move"], params)
        self.changed()

    def drop(self, vault: str, memories: Sequence[str]) -> None:
        params = {"vault": vault, "memories": list(memories)}
        self._session.run(self._sql["hold_rows"], params)
        self._session.run(self._sql["drop"], params)
        self.changed()

    def clear(self, vault: str) -> None:
        for name in ("clear_passages", "clear_vectors", "clear_counts"):
            self._session.run(self._sql[name], {"vault": vault})
        self.changed()
