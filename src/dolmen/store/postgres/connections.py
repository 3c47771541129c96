"""Connections to one PostgreSQL database: how they are set up, lent, and replaced when the server was away."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from dolmen.domain.errors import DolmenError
from dolmen.store.postgres.adapt import adapt
from dolmen.store.postgres.errors import MISSPELT, lost_while_committing, translate
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.session import Row

log = logging.getLogger(__name__)

READ = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; SELECT 1"
"""PostgreSQL takes the snapshot at the first query, not at BEGIN."""
WRITE = "BEGIN ISOLATION LEVEL READ COMMITTED, READ WRITE"
"""Each statement sees what others have committed: races are decided by unique indexes and row locks, never by a
serialization failure, which only the caller could repeat."""

SIZE = 8
PATIENCE = 15.0
"""Seconds that a call waits for a free connection or a lock before it gives up with `store-busy`."""
STATEMENT_SECONDS, IDLE_SECONDS = 60, 300
EF_SEARCH = 200
"""Candidates that a vector search keeps. Of the 100 nearest among 100,000 vectors that spread as sentence embeddings do
(intrinsic dimension 16), ten in a thousand were missed with 100 candidates, two with 200; pgvector's default is 40."""
MOST_SCANNED = 5000
"""Vectors that a search meets in the index before the exact search takes over."""

_SETTINGS = {
    "statement_timeout": f"'{STATEMENT_SECONDS}s'",
    "idle_in_transaction_session_timeout": f"'{IDLE_SECONDS}s'",
    "jit": "off",  # compiling takes longer than any statement here
    "max_parallel_workers_per_gather": "0",  # starting workers does, too
    "hnsw.iterative_scan": "strict_order",
    "hnsw.ef_search": str(EF_SEARCH),
    "hnsw.max_scan_tuples": str(MOST_SCANNED),
}
_SETUP = "; ".join(f"SET {name} = {value}" for name, value in _SETTINGS.items()) + (
    # What is acknowledged must be on the disk, whatever the role's default says.
    "; SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'"
)
_DEFAULTS: dict[str, Any] = {
    "application_name": "dolmen",
    "connect_timeout": 5,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}

Connection = psycopg.Connection[Row]
Pool = ConnectionPool[Connection]


def parameters(url: str) -> dict[str, Any]:
    """What libpq needs to connect. Raises DolmenError `configuration`, without the URL: it may hold a password."""
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:
        raise DolmenError(*MISSPELT) from None
    return {**_DEFAULTS, **given, "client_encoding": "utf8"}


def location(given: dict[str, Any]) -> str:
    """The URL without its password and options."""
    user = f"{quote(given['user'], safe='')}@" if given.get("user") else ""
    host, port = str(given.get("host") or ""), given.get("port")
    folder = host.startswith("/")
    server = "" if folder else host + (f":{port}" if port else "")
    name = quote(given.get("dbname") or "", safe="")
    return f"postgresql://{user}{server}/{name}" + (f"?host={host}" if folder else "")


def connect(given: dict[str, Any], patience: float = PATIENCE) -> Connection:
    """One connection outside the pool. Raises DolmenError."""
    try:
        connection: Connection = psycopg.connect(**given, autocommit=True)
        _configure(connection, patience)
    except (psycopg.Error, UnicodeEncodeError) as error:
        raise translate(error, "connect") from None
    return connection


def _configure(connection: Connection, patience: float) -> None:
    adapt(connection)
    connection.cursor_factory = psycopg.RawCursor
    connection.server_cursor_factory = psycopg.RawServerCursor
    connection.prepare_threshold, connection.prepared_max = 2, 300
    connection.execute(f"SET lock_timeout = {patience * 1000:.0f}; {_SETUP}".encode(), prepare=False)


class Connections:
    """A pool for one process. After a fork the child makes its own and never touches the parent's connections."""

    def __init__(self, given: dict[str, Any], size: int = SIZE, patience: float = PATIENCE) -> None:
        self._given, self._size, self._patience = given, size, patience
        self._lock = threading.Lock()
        self._closed = self._down = False
        self._abandoned: list[Pool] = []
        self._owner, self._pool = os.getpid(), self._open()

    def _open(self) -> Pool:
        # The driver's transactions are not used: BEGIN is sent with its isolation level, in one message.
        return ConnectionPool(
            kwargs={**self._given, "autocommit": True},
            min_size=1,
            max_size=self._size,
            configure=partial(_configure, patience=self._patience),
            timeout=self._patience,
            reconnect_timeout=self._patience,
            name="dolmen",
            open=True,
        )

    def outside(self, *statements: str) -> None:
        """Runs what may not stand in a transaction, such as VACUUM, on a connection of its own."""
        connection = connect(self._given, self._patience)
        try:
            for statement in statements:
                connection.execute(statement.encode(), prepare=False)
        except psycopg.Error as error:
            raise translate(error, "upkeep") from None
        finally:
            connection.close()

    @contextmanager
    def transaction(self, begin: str, now: int) -> Iterator[PostgresSession]:
        """A session in a transaction; a writing one is committed at the end, and rolled back on any exception."""
        pool, connection = self._begin(begin)
        session = PostgresSession(connection, now)
        try:
            yield session
            if begin == WRITE:
                _commit(session)
            elif not session.failed:
                _end_reading(connection)
        finally:
            _rollback(connection)
            pool.putconn(connection)

    @contextmanager
    def plain(self) -> Iterator[Connection]:
        """A connection without a transaction."""
        pool, connection = self._begin("SELECT 1")
        try:
            yield connection
        finally:
            pool.putconn(connection)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._pool.close(timeout=1.0)

    # --------------------------------------------------------------------------------------------------- privately
    def _begin(self, statement: str) -> tuple[Pool, Connection]:
        """A connection on which the statement has succeeded. Nothing was done on a dead one, so another is tried."""
        for _ in range(self._size + 1):
            pool = self._current()
            connection = self._borrow(pool)
            try:
                connection.execute(statement, prepare=False)
            except psycopg.Error as error:
                broken = connection.closed
                pool.putconn(connection)
                if not broken:
                    raise translate(error, "begin") from error
                self._recover(pool)
            else:
                return pool, connection
        raise DolmenError(
            "unavailable", "The PostgreSQL server ends every connection.", "See the server's log, then try again."
        )

    def _current(self) -> Pool:
        if os.getpid() != self._owner:
            self._lock = threading.Lock()
            self._abandoned.append(self._pool)
            self._owner, self._pool, self._down = os.getpid(), self._open(), False
        if self._down:
            self._recover(self._pool)
        return self._pool

    def _borrow(self, pool: Pool) -> Connection:
        try:
            return pool.getconn()
        except PoolTimeout:
            if pool.get_stats().get("pool_size", 0) >= self._size:
                raise DolmenError(
                    "store-busy",
                    f"All {self._size} connections to the database are in use.",
                    "Try again in a moment; start another server process if it stays.",
                ) from None
            self._recover(pool)
            return self._borrow(self._pool)
        except PoolClosed:
            if self._closed:
                raise DolmenError("unavailable", "The store is closed.", "Open it again.") from None
            return self._borrow(self._pool)

    def _recover(self, failed: Pool) -> None:
        """Replaces the pool once the server answers again; raises `unavailable` at once while it does not."""
        with self._lock:
            if self._closed or (self._pool is not failed):
                return
            self._down = True
            connect(self._given).close()
            log.info("the database server answers again")
            self._pool, self._down = self._open(), False
            failed.close(timeout=0.0)


def _commit(session: PostgresSession) -> None:
    if session.failed:
        raise session.failed
    try:
        session.connection.commit()
    except psycopg.Error as error:
        if session.connection.closed:
            raise lost_while_committing() from error
        raise translate(error, "commit") from error


def _end_reading(connection: Connection) -> None:
    """Ends it as if it had written something: with ROLLBACK the driver forgets every statement that it has prepared,
    and the server plans all of them again for the next call."""
    try:
        connection.commit()
    except psycopg.Error:
        log.info("a connection broke; it will be replaced")


def _rollback(connection: Connection) -> None:
    try:
        connection.rollback()
    except psycopg.Error:
        log.info("a connection broke; it will be replaced")
