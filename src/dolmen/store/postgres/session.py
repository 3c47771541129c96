"""One transaction on one connection, as the portable repositories ask for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import Any

import psycopg

from dolmen.domain.errors import DolmenError
from dolmen.store.postgres.errors import ABORTED, translate
from dolmen.store.session import NONE, Row
from dolmen.store.sql import PARAMETER, Query

Binding = Mapping[str, Any]
"""Values by name. Besides what portable SQL has, this engine's own queries bind lists and vectors."""

STREAM_ROWS = 500
"""Rows that a stream fetches at a time."""


class PostgresSession:
    """Implements `session.Session` (and `migrate.ScriptSession`) inside the transaction that the engine opened."""

    def __init__(self, connection: psycopg.Connection[Row], now: int) -> None:
        self.connection = connection
        self.now = now
        self.failed: DolmenError | None = None
        """The first refusal of a statement. PostgreSQL runs nothing more in such a transaction, and would answer the
        COMMIT of it without an error, so the engine asks here."""
        self._streams = count()

    def all(self, query: Query, params: Binding = NONE) -> list[Row]:
        with self._translated(query.name):
            return self._execute(query, params).fetchall()

    def one(self, query: Query, params: Binding = NONE) -> Row | None:
        with self._translated(query.name):
            return self._execute(query, params).fetchone()

    def run(self, query: Query, params: Binding = NONE) -> int:
        with self._translated(query.name):
            return max(self._execute(query, params).rowcount, 0)

    def many(self, query: Query, rows: Iterable[Binding]) -> None:
        text, names = numbered(query)
        with self._translated(query.name), self.connection.cursor() as cursor:
            cursor.executemany(text, ([row[name] for name in names] for row in rows))

    def stream(self, query: Query, params: Binding = NONE) -> Iterator[Row]:
        text, names = numbered(query)
        with self._translated(query.name), self.connection.cursor(f"stream_{next(self._streams)}") as cursor:
            cursor.itersize = STREAM_ROWS
            cursor.execute(text, [params[name] for name in names])
            yield from cursor

    def fresh(self, query: Query, params: Binding) -> list[Row]:
        """Like `all`, planned for these very values each time: for statements whose best plan depends on them."""
        text, names = numbered(query)
        with self._translated(query.name):
            return self.connection.execute(text, [params[name] for name in names], prepare=False).fetchall()

    def binary(self, query: Query, params: Binding) -> list[Row]:
        """Like `all`, with the values in the server's binary form; bytes for types that the driver does not know."""
        text, names = numbered(query)
        with self._translated(query.name):
            return self.connection.execute(text, [params[name] for name in names], binary=True).fetchall()

    def script(self, text: str) -> None:
        with self._translated("script"):
            self.connection.execute(text.encode(), prepare=False)

    def _execute(self, query: Query, params: Binding) -> psycopg.Cursor[Row]:
        text, names = numbered(query)
        return self.connection.execute(text, [params[name] for name in names])

    @contextmanager
    def _translated(self, where: str) -> Iterator[None]:
        """Raises DolmenError in place of what the driver raises."""
        try:
            yield
        except (psycopg.Error, UnicodeEncodeError, OverflowError) as error:
            if self.failed and getattr(error, "sqlstate", None) == ABORTED:
                raise self.failed from error
            self.failed = self.failed or translate(error, where)
            raise self.failed from error


@lru_cache(maxsize=2048)
def numbered(query: Query) -> tuple[bytes, tuple[str, ...]]:
    """The statement with `$1`, `$2`, … for its `:name`s, and the names in that order. A percent sign stays itself."""
    names: dict[str, int] = {}

    def number(match: re.Match[str]) -> str:
        return f"${names.setdefault(match.group(1), len(names) + 1)}"

    return PARAMETER.sub(number, query.text).encode(), tuple(names)
