"""The PostgreSQL store: transactions, migration, upkeep."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files

import psycopg

from dolmen.domain.audience import Viewer
from dolmen.domain.errors import DolmenError
from dolmen.store.contract import EngineName, StoreInfo, Tx
from dolmen.store.migrate import migrate, migrations
from dolmen.store.postgres.connections import PATIENCE, READ, SIZE, WRITE, Connections, connect, location, parameters
from dolmen.store.postgres.errors import translate
from dolmen.store.postgres.search import PostgresIndex, SharedIndex
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.postgres.upkeep import OLDEST_SERVER, OLDEST_VECTOR, tidy, warnings
from dolmen.store.repositories.numbers import ScopeCache
from dolmen.store.sql import queries
from dolmen.store.tx import Transaction

MIGRATING = zlib.crc32(b"dolmen: migrating")
"""The advisory lock that a migrating process holds; such locks are per database."""

PURGED = (
    "memory", "memory_tag", "revision", "link", "idempotency", "proposal", "code_ref", "recall_event", "feedback",
    "passage", "passage_vector",
)  # fmt: skip
"""Tables that a purge takes rows from."""


class PostgresStore:
    """Implements `contract.Store`. Holds connections and caches only: any number of processes share a database."""

    engine: EngineName = "postgres"

    def __init__(
        self,
        url: str,
        clock: Callable[[], int],
        new_id: Callable[[], str],
        *,
        size: int = SIZE,
        patience: float = PATIENCE,
        migrating: bool = True,
    ) -> None:
        """Connects and migrates.

        Args:
            url: `postgresql://…`; what it leaves out comes from libpq's environment (PGPASSWORD, ~/.pgpass).
            size: the most connections that this process opens.
            patience: seconds to wait for a connection or a lock, before `store-busy`.
            migrating: see `opening.open_store`.
        """
        given = parameters(url)
        self._clock, self._new_id = clock, new_id
        self._location = location(given)
        self._scopes: ScopeCache = {}
        self._index = SharedIndex()
        self._sql = queries("upkeep", "postgres")
        connect(given).close()  # the pool connects behind the scenes and would only say that it took too long
        self._connections = Connections(given, size, patience)
        try:
            known = migrations(files("dolmen.store.postgres") / "schema")
            self._schema = migrate(self, known, allowed=migrating)
        except BaseException:
            self.close()
            raise

    # ------------------------------------------------------------------------------------------------- transactions
    @contextmanager
    def read(self, viewer: Viewer | None = None) -> Iterator[Tx]:
        with self._connections.transaction(READ, self._clock()) as session:
            yield self._transaction(session, viewer)

    @contextmanager
    def write(self, viewer: Viewer | None = None) -> Iterator[Tx]:
        with self._connections.transaction(WRITE, self._clock()) as session:
            yield self._transaction(session, viewer)

    def _transaction(self, session: PostgresSession, viewer: Viewer | None) -> Transaction:
        return Transaction(
            session, lambda numbers: PostgresIndex(session, numbers, self._index), self._scopes, self._new_id, viewer
        )

    # ---------------------------------------------------------------------------------------------------- migration
    def applied(self) -> dict[int, str]:
        with self._connections.transaction(READ, self._clock()) as session:
            if session.one(self._sql["migrated"]) == (None,):
                return {}
            return {row[0]: row[1] for row in session.all(queries("schema")["applied"])}

    @contextmanager
    def exclusive(self) -> Iterator[PostgresSession]:
        with self._connections.transaction(WRITE, self._clock()) as session:
            session.script("SET LOCAL statement_timeout = 0")
            session.run(self._sql["lock"], {"key": MIGRATING})
            self._prepare(session)
            yield session

    def _prepare(self, session: PostgresSession) -> None:
        """Checks the server and creates the extension. Raises DolmenError `configuration`."""
        encoding, version = session.all(self._sql["server"])[0]
        if encoding != "UTF8" or version < OLDEST_SERVER * 10_000:
            raise DolmenError(
                "configuration",
                f"The database is PostgreSQL {version // 10_000} with encoding {encoding}.",
                f"Use PostgreSQL {OLDEST_SERVER} or newer and a database with encoding UTF8.",
            )
        try:
            session.connection.execute("CREATE EXTENSION IF NOT EXISTS vector", prepare=False)
        except psycopg.Error as error:
            if error.sqlstate not in ("0A000", "58P01", "42501"):  # not available; no such file; not allowed
                raise translate(error, "create extension") from error
            raise DolmenError(
                "configuration",
                "The database has no extension `vector` (pgvector), which holds the vectors.",
                "Install pgvector on the server; its administrator then runs `CREATE EXTENSION vector` in it.",
            ) from error
        [(found,)] = session.all(self._sql["extension"])
        if tuple(int(part) for part in found.split(".")[:2]) < OLDEST_VECTOR:
            raise DolmenError(
                "configuration",
                f"The database has pgvector {found}, which is too old.",
                "Install pgvector 0.8 or newer on the server, then run `ALTER EXTENSION vector UPDATE`.",
            )

    # ------------------------------------------------------------------------------------------------------- upkeep
    def info(self) -> StoreInfo:
        with self._connections.transaction(READ, self._clock()) as session:
            [(server, extension, size)] = session.all(self._sql["versions"])
            found = warnings(session)
        return StoreInfo(
            engine="postgres",
            version=f"PostgreSQL {server}, pgvector {extension}",
            location=self._location,
            schema=self._schema,
            size=size,
            wal_size=0,
            warnings=found,
        )

    def ping(self) -> None:
        with self.read() as tx:
            tx.accounts.vaults()

    def tidy(self) -> None:
        with self._connections.transaction(WRITE, self._clock()) as session:
            tidy(session)

    def scrub(self) -> None:
        # A deleted row stays in its page until the page is cleaned. Backups and the server's own log are its owner's.
        self._connections.outside("SET statement_timeout = 0", f"VACUUM {', '.join(PURGED)}")

    def close(self) -> None:
        self._connections.close()
