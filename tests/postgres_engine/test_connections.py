"""Connections: bounded, replaced after the server was away, and silent about passwords."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from dolmen.domain.errors import DolmenError
from dolmen.store.contract import Tx
from dolmen.store.postgres.connections import location, parameters
from dolmen.store.postgres.engine import PostgresStore
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.sql import Query
from tests.contract.given import Desk
from tests.postgres import Server, private_server
from tests.postgres_engine.conftest import Open

ROOT = Path(__file__).resolve().parents[2]
SECRET = "s3cr3t-passw0rd"


def session_of(tx: Tx) -> PostgresSession:
    session: PostgresSession = tx.index._session  # type: ignore[attr-defined]  # of PostgresIndex
    return session


def connection_of(tx: Tx) -> psycopg.Connection[tuple[object, ...]]:
    """The driver's connection under a transaction."""
    return session_of(tx).connection


def test_when_every_connection_is_in_use_the_call_gives_up_in_time(postgres_url: str, open_at: Open) -> None:
    store = open_at(postgres_url, size=2, patience=0.2)
    with store.read(), store.read():
        started = time.monotonic()
        with pytest.raises(DolmenError) as refused, store.read():
            pass
        assert refused.value.code == "store-busy"
        assert time.monotonic() - started < 5
    store.ping()


def test_sixteen_threads_share_the_few_connections(store: PostgresStore) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(5):
                with store.write() as tx:
                    tx.accounts.set("v", f"key{number}", str(step))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    with store.read() as tx:
        assert tx.accounts.settings("v") == {f"key{number}": "4" for number in range(16)}
        limit = connection_of(tx).execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        assert limit.fetchone()[0] <= 8  # type: ignore[index]


def test_a_lock_that_another_process_holds_is_waited_for_in_bounds(
    postgres_url: str, store: PostgresStore, open_at: Open
) -> None:
    hasty = open_at(postgres_url, patience=0.2)
    with store.write() as tx:
        tx.accounts.set("v", "key", "first")
    with store.write() as tx:
        tx.accounts.set("v", "key", "second")
        with pytest.raises(DolmenError) as refused, hasty.write() as other:
            other.accounts.set("v", "key", "third")
        assert refused.value.code == "store-busy"
    with hasty.read() as tx:
        assert tx.accounts.setting("v", "key") == "second"


def test_connections_that_the_server_ended_are_replaced_unnoticed(desk: Desk, postgres: Server) -> None:
    with desk.store.read(), desk.store.read(), desk.store.read():
        pass  # three idle connections now
    end_all(postgres, desk)
    memory = desk.add("written after the server had thrown everybody out")
    assert desk.ids(desk.sight()) == [memory.id]


def test_a_connection_that_breaks_in_a_transaction_stores_nothing_and_says_so(desk: Desk, postgres: Server) -> None:
    with pytest.raises(DolmenError) as refused, desk.store.write() as tx:  # noqa: PT012
        tx.accounts.set("v", "key", "lost")
        end_all(postgres, desk)
        tx.accounts.set("v", "other", "lost")
    assert refused.value.code == "unavailable"
    with desk.store.read() as tx:
        assert tx.accounts.settings("v") == {}


def test_a_commit_that_breaks_says_that_nobody_knows(desk: Desk, postgres: Server) -> None:
    with pytest.raises(DolmenError) as refused, desk.store.write() as tx:  # noqa: PT012
        tx.accounts.set("v", "key", "perhaps")
        end_all(postgres, desk)
    assert refused.value.code == "unavailable"
    assert "may or may not" in refused.value.message


def end_all(postgres: Server, desk: Desk) -> None:
    """What a restart of the server does to its clients."""
    with desk.store.read() as tx:
        [name] = connection_of(tx).execute("SELECT current_database()").fetchone() or ()
    with psycopg.connect(postgres.url(), autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s", (name,)
        ).fetchall()


class Switch:
    """A server of one's own that can be stopped and started."""

    def __init__(self, server: Server) -> None:
        self.server = server
        data = server.folder / "data"
        options = (data / "postmaster.opts").read_text().split('" "')
        self._program = Path(options[0].split('"')[0].strip()).parent / "pg_ctl"
        self._data = data

    def run(self, *arguments: str) -> None:
        owner = self._data.stat().st_uid if os.geteuid() == 0 else None
        command = [str(self._program), "-D", str(self._data), "-w", "-s", *arguments]
        subprocess.run(
            command, check=True, cwd=self.server.folder, user=owner,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def stop(self) -> None:
        self.run("-m", "immediate", "stop")

    def start(self) -> None:
        self.run("-o", f"-k {self.server.folder} -c listen_addresses= -c fsync=off", "start")


@pytest.fixture
def switch() -> Iterator[Switch]:
    with private_server() as server:
        made = Switch(server)
        yield made
        made.stop()  # the keeper waits for the one that it started, not for this one


@pytest.mark.slow
def test_after_a_crash_and_restart_of_the_server_the_store_works_again(switch: Switch, open_at: Open) -> None:
    """A restart in the middle of work: an error at once while it is away, then everything acknowledged is there."""
    store = open_at(switch.server.create_database())
    with store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
    switch.stop()
    for _ in range(3):
        started = time.monotonic()
        with pytest.raises(DolmenError) as refused:
            store.ping()
        assert refused.value.code == "unavailable"
        assert time.monotonic() - started < 5, "the second and third call wait no longer than the first"
    switch.start()
    with store.write() as tx:
        tx.accounts.set("v", "key", "value")
    with store.read() as tx:
        assert tx.accounts.vaults() == [("v", "Ada's")]
        assert tx.accounts.setting("v", "key") == "value"


def test_after_a_fork_parent_and_child_have_connections_of_their_own(postgres_url: str, open_at: Open) -> None:
    open_at(postgres_url)
    program = (
        "import os, sys; from dolmen.store.opening import open_store\n"
        "store = open_store(sys.argv[1]); store.ping(); child = os.fork()\n"
        "pid = lambda tx: tx.index._session.connection.info.backend_pid\n"
        "with store.read() as tx: print(pid(tx), flush=True)\n"
        "if child: sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
        "os._exit(0)"
    )
    said = subprocess.check_output([sys.executable, "-W", "ignore", "-c", program, postgres_url], cwd=ROOT, text=True)
    assert len(set(said.split())) == 2


def test_a_refused_statement_never_ends_in_a_commit_that_stored_nothing(store: PostgresStore) -> None:
    with pytest.raises(DolmenError) as refused, store.write() as tx:  # noqa: PT012
        tx.accounts.set("v", "key", "value")
        with pytest.raises(DolmenError, match="collides"):
            session_of(tx).run(Query("test.broken", "INSERT INTO vault VALUES ('v', 'twice', 0, 0)"))
        with pytest.raises(DolmenError, match="collides"):
            tx.accounts.set("v", "other", "value")
    assert refused.value.code == "conflict"
    with store.read() as tx:
        assert tx.accounts.settings("v") == {}


def test_what_is_acknowledged_is_on_the_disk_whatever_the_server_has_as_default(store: PostgresStore) -> None:
    """The tests' server has synchronous_commit off."""
    with store.write() as tx:
        assert connection_of(tx).execute("SHOW synchronous_commit").fetchone() == ("on",)


def test_a_read_transaction_sees_the_moment_at_which_it_began_and_refuses_writes(desk: Desk) -> None:
    with desk.store.read() as tx:
        desk.add("written after it began")
        assert tx.memories.count(desk.sight()) == {"": 0}
        with pytest.raises(DolmenError):
            tx.accounts.set("v", "key", "value")


# ----------------------------------------------------------------------------------------------------------- secrecy
def test_what_a_read_has_prepared_serves_the_next_one(store: PostgresStore) -> None:
    """Planning all statements anew took as long as running them."""
    prepared: list[int] = []
    for _ in range(24):  # in turn on the connections that the pool has
        with store.read() as tx:
            tx.accounts.vaults()
            there = connection_of(tx).execute("SELECT count(*) FROM pg_prepared_statements", prepare=False).fetchone()
        assert there is not None
        prepared.append(int(str(there[0])))
    assert max(prepared[-8:]) > 0


def test_a_password_is_in_no_message_log_or_description(
    postgres_url: str, open_at: Open, caplog: pytest.LogCaptureFixture
) -> None:
    """C-300."""
    caplog.set_level(logging.DEBUG)
    with_password = postgres_url.replace("dolmen@", f"dolmen:{SECRET}@")
    said = [repr(open_at(with_password).info())]
    for url in (
        with_password.replace("/test_", "/no_such_"),
        f"postgresql://dolmen:{SECRET}@127.0.0.1:9/nothing?connect_timeout=1",
        f"postgresql://dolmen:{SECRET}@[half/nothing",
        f"postgresql://dolmen:{SECRET}@host/x?no_such_option=1",
        f"postgresql://dolmen@/x?password={SECRET}&host=/nowhere",
    ):
        with pytest.raises(DolmenError) as refused:
            open_at(url)
        error = refused.value
        said += [str(error), error.message, error.fix, repr(error.data), repr(error.__cause__), location_of(url)]
        assert error.fix
    assert SECRET not in caplog.text + "".join(said)


def location_of(url: str) -> str:
    try:
        return location(parameters(url))
    except DolmenError as error:
        return error.message


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://ada:x@db.internal:5433/dolmen?sslmode=require", "postgresql://ada@db.internal:5433/dolmen"),
        ("postgres://db.internal/dolmen", "postgresql://db.internal/dolmen"),
        ("postgresql://ada@/dolmen?host=/var/run/postgresql", "postgresql://ada@/dolmen?host=/var/run/postgresql"),
        ("postgresql://a%40b:x@h/d%2Fe", "postgresql://a%40b@h/d%2Fe"),
    ],
)
def test_the_location_is_the_url_without_its_password(url: str, shown: str) -> None:
    assert location(parameters(url)) == shown


def test_errors_of_opening_are_told_apart(postgres_url: str, open_at: Open) -> None:
    for url, code in (
        (postgres_url.replace("/test_", "/no_such_"), "configuration"),
        (postgres_url.replace("dolmen@", "nobody_at_all@"), "configuration"),
        ("postgresql://dolmen@127.0.0.1:9/nothing?connect_timeout=1", "unavailable"),
        ("postgresql://dolmen@127.0.0.1:no_port/x", "configuration"),
    ):
        with pytest.raises(DolmenError) as refused:
            open_at(url)
        assert refused.value.code == code, url


def test_a_closed_store_says_so(postgres_url: str, open_at: Open) -> None:
    store = open_at(postgres_url)
    store.close()
    with pytest.raises(DolmenError, match="closed"):
        store.ping()
    store.close()
