"""The session port on one apsw connection."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apsw

from dolmen.domain.errors import DolmenError
from dolmen.store.session import NONE, Row
from dolmen.store.sql import Query
from dolmen.store.sqlite.errors import translate

Params = Mapping[str, Any]
"""Portable parameters, or a list of numbers."""


class SqliteSession:
    """Implements `session.Session` (and `migrate.ScriptSession`) inside the transaction that the engine opened."""

    def __init__(self, connection: apsw.Connection, now: int, location: str, writable: bool) -> None:
        self.connection = connection
        self.now = now
        self.writable = writable
        self._location = location

    def all(self, query: Query, params: Params = NONE) -> list[Row]:
        try:
            return self.connection.execute(query.text, params).fetchall()
        except apsw.Error as error:
            raise self._refusal(error) from error

    def among(self, query: Query, ids: Sequence[int], params: Params = NONE) -> list[Row]:
        """The rows of a query over `carray(:ids)`: any number of ids, one statement, no parsing."""
        if not ids:
            return []
        return self.all(query, {**params, "ids": apsw.carray(array("q", ids))})

    def one(self, query: Query, params: Params = NONE) -> Row | None:
        try:
            cursor = self.connection.execute(query.text, params)
            row: Row | None = cursor.fetchone()
            cursor.close()
        except apsw.Error as error:
            raise self._refusal(error) from error
        return row

    def run(self, query: Query, params: Params = NONE) -> int:
        try:
            self.connection.execute(query.text, params)
        except apsw.Error as error:
            raise self._refusal(error) from error
        return self.connection.changes()

    def many(self, query: Query, rows: Iterable[Params]) -> None:
        try:
            self.connection.executemany(query.text, rows)
        except apsw.Error as error:
            raise self._refusal(error) from error

    def stream(self, query: Query, params: Params = NONE) -> Iterator[Row]:
        try:
            yield from self.connection.execute(query.text, params)
        except apsw.Error as error:
            raise self._refusal(error) from error

    def script(self, text: str) -> None:
        try:
            self.connection.execute(text).fetchall()  # a cursor stops at each statement that gives rows
        except apsw.Error as error:
            raise self._refusal(error) from error

    def _refusal(self, error: apsw.Error) -> DolmenError:
        if isinstance(error, apsw.ReadOnlyError) and not self.writable:
            return DolmenError("internal", "A read transaction cannot write.", "Use write().")
        return translate(error, self._location)
