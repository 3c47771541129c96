"""What a portable repository needs of an engine: a session inside one transaction, speaking portable SQL.

Portable SQL runs unchanged on SQLite and PostgreSQL: parameters are `:name`, booleans are the integers 0 and 1,
times are integers, JSON is text that Python builds, and no literal holds a colon or a percent sign. Rows are tuples.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from dolmen.store.sql import Query

Value = int | float | str | bytes | None
Params = Mapping[str, Value]
Row = tuple[Any, ...]

NONE: Params = {}


class Session(Protocol):
    """One transaction of one engine. Not shared between threads.

    Every call raises DolmenError in place of the driver's own errors: `store-busy`, `unavailable`, `conflict` (a
    constraint refused the row and the query did not say ON CONFLICT), `internal`.
    """

    now: int
    """Fixed when the transaction began."""

    def all(self, query: Query, params: Params = NONE) -> list[Row]: ...

    def one(self, query: Query, params: Params = NONE) -> Row | None:
        """The first row."""

    def run(self, query: Query, params: Params = NONE) -> int:
        """How many rows were inserted, updated or deleted."""

    def many(self, query: Query, rows: Iterable[Params]) -> None:
        """The same statement for each of the parameter sets."""

    def stream(self, query: Query, params: Params = NONE) -> Iterator[Row]:
        """Rows one after another, without holding them all; only inside the transaction."""
