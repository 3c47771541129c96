"""Opening a store by its URL; the engine's driver is imported only when it is the one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from dolmen.domain.errors import DolmenError
from dolmen.store.contract import Store
from dolmen.store.ids import rising


def now() -> int:
    """Microseconds since the epoch."""
    return time.time_ns() // 1000


def open_store(
    url: str, clock: Callable[[], int] = now, new_id: Callable[[], str] | None = None, *, migrating: bool = True
) -> Store:
    """Opens and migrates a store.

    Args:
        url: `sqlite:///relative/or//absolute/path`, `sqlite:///:memory:` for a private one that is gone after
            `close()`, or `postgresql://…`.
        clock: microseconds since the epoch.
        new_id: fresh ids; UUIDs of version 7 by the clock unless given.
        migrating: False refuses a store that is older than this program, and makes none; a private one is made.

    Raises DolmenError: `configuration` for another kind of URL; else as `contract.Store` says.
    """
    ids = new_id or rising(clock)
    scheme, found, rest = url.partition("://")
    if scheme == "sqlite" and found and rest.startswith("/") and rest != "/":
        from dolmen.store.sqlite.engine import SqliteStore

        path = rest[1:]
        if path == ":memory:":
            return SqliteStore(None, clock, ids)
        return SqliteStore(Path(path).expanduser(), clock, ids, migrating=migrating)
    if scheme in ("postgresql", "postgres") and found:
        from dolmen.store.postgres.engine import PostgresStore

        return PostgresStore(url, clock, ids, migrating=migrating)
    raise DolmenError(
        "configuration",
        f"{scheme!r} is no kind of store.",
        f"Use sqlite:///{'path/to/file' if found else url} or postgresql://user@host/name in DOLMEN_DATABASE.",
    )


def file_of(url: str) -> Path | None:
    """The file of an embedded store; None for another kind of store, and for a private one."""
    scheme, _, rest = url.partition(":///")
    return Path(rest).expanduser() if scheme == "sqlite" and rest and rest != ":memory:" else None
