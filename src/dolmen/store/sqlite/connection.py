"""Opening one connection, set up the same for every process."""

from __future__ import annotations

import time
from pathlib import Path

import apsw

from dolmen.store.sqlite.errors import busy, translate
from dolmen.store.sqlite.place import foreign

PATIENCE = 15.0
"""Seconds that a call waits for other processes before it gives up with `store-busy`."""
WAL_PAGES, WAL_LIMIT = 1000, 8 << 20
"""Checkpoint after so many pages (4 kB); a log that grew is cut to so many bytes after the next one."""


def connect(path: Path, *, writable: bool, durable: bool = True) -> apsw.Connection:
    """A connection in WAL mode. Not for use by two threads at the same time.

    Args:
        path: the file, which is there.
        writable: False refuses every change.
        durable: False skips waiting for the disk; for stores that nobody wants back.
    """
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, statementcachesize=256)
        connection.set_busy_timeout(int(PATIENCE * 1000))
        _log_ahead(connection)
        # Idle memory counts: every client of an agent holds a connection or two, so the cache stays small and the file
        # is not mapped. secure_delete: what was purged leaves no bytes in the file.
        connection.execute(
            f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}; PRAGMA foreign_keys = ON; PRAGMA cache_size = -2000;"
            f"PRAGMA temp_store = MEMORY; PRAGMA journal_size_limit = {WAL_LIMIT}; PRAGMA secure_delete = ON;"
            f"PRAGMA wal_autocheckpoint = {WAL_PAGES}; PRAGMA recursive_triggers = OFF; PRAGMA trusted_schema = OFF"
        ).fetchall()  # a cursor stops at each statement that gives rows
        if not writable:
            connection.execute("PRAGMA query_only = ON")
    except apsw.Error as error:
        raise translate(error, str(path)) from error
    return connection


def refuse_foreign(path: Path) -> None:
    """Refuses a file that has tables and is not Dolmen's, before anything is written to it.

    Raises DolmenError `store-foreign`, `store-damaged` or `unavailable`.
    """
    try:
        try:
            names = _tables(path, apsw.SQLITE_OPEN_READONLY)
        except apsw.ReadOnlyError:  # a killed process left a journal: whoever opens it next takes the half write back
            names = _tables(path, apsw.SQLITE_OPEN_READWRITE)
    except (apsw.BusyError, apsw.LockedError):
        return  # somebody is just setting it up
    except apsw.Error as error:
        raise translate(error, str(path)) from error
    if names and "schema_migration" not in names:
        raise foreign(path)


def _tables(path: Path, flags: int) -> set[str]:
    connection = apsw.Connection(str(path), flags=flags)
    try:
        connection.set_busy_timeout(int(PATIENCE * 1000))
        return {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        connection.close()


def _log_ahead(connection: apsw.Connection) -> None:
    """Turns WAL on, once in the life of a file. SQLite does not wait for others here, so starters would fail."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            if connection.pragma("journal_mode") == "wal" or connection.pragma("journal_mode", "wal") == "wal":
                return
        except apsw.BusyError:
            pass
        if time.monotonic() > deadline:
            raise busy()
        time.sleep(0.01)
