"""The embedded store: connections, transactions, migration, upkeep."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path

import apsw

from dolmen.domain.audience import Viewer
from dolmen.domain.errors import DolmenError
from dolmen.store.contract import EngineName, StoreInfo, Tx
from dolmen.store.migrate import migrate, migrations
from dolmen.store.repositories.numbers import ScopeCache
from dolmen.store.sql import queries
from dolmen.store.sqlite.connection import PATIENCE, WAL_LIMIT, connect, refuse_foreign
from dolmen.store.sqlite.errors import busy, translate
from dolmen.store.sqlite.place import identity, moved, prepare
from dolmen.store.sqlite.queue import STEP, Turnstile
from dolmen.store.sqlite.search import SharedIndex, SqliteIndex, tidy
from dolmen.store.sqlite.session import SqliteSession
from dolmen.store.tx import Transaction

IDLE_READERS = 3
"""Connections for reading that stay open when nobody reads."""


class SqliteStore:
    """Implements `contract.Store`.

    Reads run side by side on pooled connections, each in one snapshot. Writes take a lock of the process, then SQLite's
    own write lock, on one connection that is kept. After a fork the child opens connections of its own: SQLite's must
    never be carried across (https://sqlite.org/howtocorrupt.html, 2.6).
    """

    engine: EngineName = "sqlite"

    def __init__(
        self,
        path: Path | None,
        clock: Callable[[], int],
        new_id: Callable[[], str],
        patience: float = PATIENCE,
        *,
        migrating: bool = True,
    ) -> None:
        """Opens the file, or a private one that is gone after `close()`.

        Args:
            patience: seconds that a write waits for others.
            migrating: see `opening.open_store`.
        """
        self._clock, self._new_id, self._patience = clock, new_id, patience
        self._temporary = Path(tempfile.mkdtemp(prefix="dolmen-")) if path is None else None
        self.path = self._temporary / "memory.db" if self._temporary else Path(os.path.abspath(path or ""))
        self._closed = False
        self._begin_life()
        prepare(self.path)
        refuse_foreign(self.path)
        self._file = identity(self.path)
        self._schema = migrate(self, migrations(files("dolmen.store.sqlite") / "schema"), allowed=migrating)
        _OPEN.add(self)

    def _begin_life(self) -> None:
        """What a process has of its own."""
        self._process = os.getpid()
        self._readers: list[apsw.Connection] = []
        self._writer: apsw.Connection | None = None
        self._write_lock = threading.Lock()
        self._write_thread = 0
        self._turnstile = Turnstile(self.path)
        self._scopes: ScopeCache = {}
        self._index = SharedIndex()

    def forked(self) -> None:
        """Called in the child: leaves the parent's connections alone, for ever (closing them would touch its locks)."""
        _ABANDONED.append((self._readers, self._writer, self._turnstile))
        self._temporary = None
        self._begin_life()

    # ------------------------------------------------------------------------------------------------- transactions
    @contextmanager
    def read(self, viewer: Viewer | None = None) -> Iterator[Tx]:
        self._check_open()
        self._check_place()
        process = os.getpid()
        try:
            connection = self._readers.pop()
        except IndexError:
            connection = self._connect(writable=False)
        try:
            self._execute(connection, "BEGIN")
            yield self._transaction(SqliteSession(connection, self._clock(), str(self.path), False), viewer)
        finally:
            self._own(process)
            if self._ended(connection) and len(self._readers) < IDLE_READERS and not self._closed:
                self._readers.append(connection)
            else:
                connection.close()

    @contextmanager
    def write(self, viewer: Viewer | None = None) -> Iterator[Tx]:
        with self.exclusive() as session:
            yield self._transaction(session, viewer)

    @contextmanager
    def exclusive(self) -> Iterator[SqliteSession]:
        """The process's and the file's write lock, in this order. Raises `store-busy` when that takes too long."""
        self._check_open()
        process = os.getpid()
        deadline = time.monotonic() + self._patience
        with self._alone():
            connection = self._writer = self._writer or self._connect(writable=True)
            try:
                with self._turnstile.turn(deadline - self._patience / 2):
                    connection.set_busy_handler(_until(deadline))
                    self._execute(connection, "BEGIN IMMEDIATE")
                yield SqliteSession(connection, self._clock(), str(self.path), True)
                self._own(process)
                self._check_place()
                if not os.path.exists(connection.filename_wal):
                    raise moved(Path(connection.filename_wal))
                self._execute(connection, "COMMIT")
            finally:
                self._own(process)
                if not self._ended(connection):
                    connection.close()
                    self._writer = None

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """The writer's connection is one thread's at a time."""
        if self._write_thread == threading.get_ident():
            raise DolmenError("internal", "A write inside a write would wait for itself.", "Use the open transaction.")
        lock = self._write_lock
        if not lock.acquire(timeout=self._patience):
            raise busy()
        self._write_thread = threading.get_ident()
        try:
            yield
        finally:
            self._write_thread = 0
            lock.release()

    def _own(self, process: int) -> None:
        """A child that was forked inside a transaction must not end its parent's."""
        if os.getpid() != process:
            raise DolmenError("internal", "A transaction was carried into another process.", "Begin a new one there.")

    def _ended(self, connection: apsw.Connection) -> bool:
        """Rolls back what was not committed; False when the connection is of no use any more."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except apsw.Error:
            return False
        return True

    def _transaction(self, session: SqliteSession, viewer: Viewer | None) -> Transaction:
        return Transaction(
            session, lambda numbers: SqliteIndex(session, numbers, self._index), self._scopes, self._new_id, viewer
        )

    def _connect(self, *, writable: bool) -> apsw.Connection:
        return connect(self.path, writable=writable, durable=self._temporary is None)

    def _execute(self, connection: apsw.Connection, statement: str) -> None:
        try:
            connection.execute(statement)
        except apsw.Error as error:
            raise translate(error, str(self.path)) from error

    def _check_open(self) -> None:
        if self._closed:
            raise DolmenError("unavailable", "The store is closed.", "Open it again.")

    def _check_place(self) -> None:
        """SQLite goes on with a file that has lost its name, and what it writes there is gone with the process
        (https://sqlite.org/howtocorrupt.html, 2.4)."""
        if identity(self.path) != self._file:
            raise moved(self.path)

    # ------------------------------------------------------------------------------------------------------ upkeep
    def applied(self) -> dict[int, str]:
        connection = self._connect(writable=False)
        try:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'schema_migration'").fetchone():
                return {}
            return {row[0]: row[1] for row in connection.execute(queries("schema")["applied"].text)}
        except apsw.Error as error:
            raise translate(error, str(self.path)) from error
        finally:
            connection.close()

    def info(self) -> StoreInfo:
        size, wal = _size(self.path), _size(self.path.with_name(self.path.name + "-wal"))
        warnings = []
        if wal > 4 * WAL_LIMIT:
            warnings.append(
                f"The write-ahead log has {wal >> 20} MB: a process keeps an old read open. Restart idle agents."
            )
        return StoreInfo(
            engine="sqlite",
            version=f"SQLite {apsw.sqlite_lib_version()}",
            location=str(self.path),
            schema=self._schema,
            size=size,
            wal_size=wal,
            warnings=tuple(warnings),
        )

    def ping(self) -> None:
        with self.read() as tx:
            tx.accounts.vaults()

    def tidy(self) -> None:
        with self.exclusive() as session:
            tidy(session)
            session.script("PRAGMA analysis_limit = 400; PRAGMA optimize")
        self._cut_log(100)

    def scrub(self) -> None:
        # FTS5 marks deleted entries and keeps their words until its parts are merged; freed pages are overwritten with
        # zeros (secure_delete), but the log holds the old ones until it is cut.
        with self.exclusive() as session:
            session.script("INSERT INTO passage_text (passage_text) VALUES ('optimize')")
        self._cut_log(2_000)

    def _cut_log(self, patience: int) -> None:
        """Moves the write-ahead log into the file and empties it; leaves it when somebody still reads after so many
        milliseconds."""
        with self._alone():
            connection = self._writer = self._writer or self._connect(writable=True)
            connection.set_busy_timeout(patience)
            try:
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            except apsw.BusyError:
                pass  # somebody reads; the log is cut the next time
            except apsw.Error as error:
                raise translate(error, str(self.path)) from error

    def close(self) -> None:
        self._closed = True
        with self._alone():
            while self._readers:
                self._readers.pop().close()
            if self._writer is not None:
                self._writer.close()
                self._writer = None
            self._turnstile.close()
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)


def _until(deadline: float) -> Callable[[int], bool]:
    """A busy handler that tries every millisecond: SQLite's own waits up to a tenth of a second between two tries."""

    def again(_tries: int) -> bool:
        time.sleep(STEP)
        return time.monotonic() < deadline

    return again


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


_OPEN: weakref.WeakSet[SqliteStore] = weakref.WeakSet()
_ABANDONED: list[object] = []


def _after_fork() -> None:
    for store in list(_OPEN):
        store.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
