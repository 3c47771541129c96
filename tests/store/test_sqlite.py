"""What only the embedded engine has: a file, its log, its locks."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from dolmen.domain.errors import DolmenError
from dolmen.store.ids import rising
from dolmen.store.opening import now, open_store
from dolmen.store.sqlite.connection import WAL_LIMIT
from dolmen.store.sqlite.engine import SqliteStore
from dolmen.store.sqlite.errors import translate
from dolmen.store.sqlite.queue import Turnstile
from tests.contract.given import Clock, Desk, unit


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def desk(path: Path) -> Iterator[Desk]:
    clock = Clock()
    store = SqliteStore(path, clock, rising(clock))
    with store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
    yield Desk(store, clock)
    store.close()


def fill(desk: Desk, megabytes: int) -> None:
    for n in range(megabytes):
        with desk.store.write() as tx:
            tx.accounts.set("v", f"key {n % 3}", chr(97 + n % 26) * (1 << 20))


def test_the_log_stays_small_however_much_is_written(desk: Desk) -> None:
    """B065."""
    fill(desk, 40)
    assert desk.store.info().wal_size <= WAL_LIMIT + (6 << 20)
    desk.store.tidy()
    assert desk.store.info().wal_size == 0


def test_a_read_that_is_kept_open_makes_the_log_grow_with_a_warning_until_it_ends(desk: Desk) -> None:
    """B065: abandoned servers that held read marks."""
    with desk.store.read() as tx:
        tx.accounts.vaults()
        fill(desk, 40)
        desk.store.tidy()
        info = desk.store.info()
        assert info.wal_size > 4 * WAL_LIMIT
        assert "write-ahead log" in info.warnings[0]
    desk.store.tidy()
    assert desk.store.info().wal_size == 0
    assert desk.store.info().warnings == ()


def test_a_log_that_grew_is_cut_by_the_next_writes_alone(desk: Desk) -> None:
    """B065: without anybody calling `tidy`."""
    with desk.store.read() as tx:
        tx.accounts.vaults()
        fill(desk, 20)
    fill(desk, 20)
    assert desk.store.info().wal_size <= WAL_LIMIT + (6 << 20)


def test_what_was_purged_leaves_no_byte_in_the_file(desk: Desk, path: Path) -> None:
    """DESIGN rule 1."""
    for n in range(60):
        desk.add(f"ordinary heron number {n}")
    memory = desk.add("the zanzibarquokka is hidden", tags=("zanzibartag",), title="zanzibartitle")
    changed = desk.change(memory, text="the xylophonewombat is hidden", tags=())
    desk.embed({memory.id: unit(1)})
    with desk.store.write() as tx:
        tx.memories.purge("v", [changed.id])
    desk.store.tidy()
    for file in path.parent.iterdir():
        content = file.read_bytes()
        for trace in (b"zanzibar", b"xylophone", memory.id.encode()):
            assert trace not in content, (file.name, trace)
    assert len(desk.found(desk.sight(), "heron", 99)) == 60


def test_a_write_gives_up_when_another_process_does_not_let_go(desk: Desk, path: Path) -> None:
    hasty = SqliteStore(path, desk.clock, rising(desk.clock), patience=0.2)
    with desk.store.write(), pytest.raises(DolmenError) as refused, hasty.write():
        pass
    assert refused.value.code == "store-busy"
    assert refused.value.fix
    with hasty.write() as tx:
        tx.accounts.set("v", "k", "later")
    hasty.close()


def test_a_write_gives_up_when_another_thread_does_not_let_go(path: Path) -> None:
    hasty = SqliteStore(path, now, rising(now), patience=0.1)
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with hasty.write():
            entered.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    with pytest.raises(DolmenError) as refused, hasty.write():
        pass
    assert refused.value.code == "store-busy"
    leave.set()
    thread.join()
    hasty.close()


def test_a_write_inside_a_write_is_refused_at_once(desk: Desk) -> None:
    with desk.store.write(), pytest.raises(DolmenError) as refused, desk.store.write():
        pass
    assert refused.value.code == "internal"
    desk.add("usable")


@pytest.mark.parametrize("content", [b"this is no database, but it is long enough to be read as one" * 20, b"x"])
def test_a_file_that_is_no_store_is_refused_and_left_alone(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    with pytest.raises(DolmenError) as refused:
        open_store(f"sqlite:///{path}")
    assert refused.value.code == "store-foreign"
    assert refused.value.fix
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE notes (text)")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(DolmenError) as refused:
        open_store(f"sqlite:///{path}")
    assert refused.value.code == "store-foreign"
    assert path.read_bytes() == before


_KILLED = """
import os, signal, sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute("PRAGMA user_version = 1; PRAGMA cache_size = 1; BEGIN; CREATE TABLE half (text)").fetchall()
connection.execute("INSERT INTO half VALUES (zeroblob(1000000))")
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_store_whose_first_process_was_killed_before_the_log_was_on_is_made_anew(path: Path) -> None:
    """Until then SQLite keeps a journal, which only who may write can take back."""
    subprocess.run([sys.executable, "-c", _KILLED, str(path)], check=False)
    assert path.with_name(path.name + "-journal").stat().st_size > 0
    store = open_store(f"sqlite:///{path}")
    with store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
    store.close()


def test_a_store_that_was_damaged_says_so(desk: Desk, path: Path) -> None:
    for n in range(400):
        desk.add(f"heron {n} " + "x" * 400)
    desk.store.close()
    content = bytearray(path.read_bytes())
    for page in range(1, len(content) // 4096):
        content[page * 4096 : page * 4096 + 200] = b"\xff" * 200
    path.write_bytes(content)
    with pytest.raises(DolmenError) as refused:  # noqa: PT012 - noticed at once or when it is read
        store = open_store(f"sqlite:///{path}")
        with store.read() as tx:
            list(tx.memories.stream("v"))
    assert refused.value.code == "store-damaged"
    assert "backup" in refused.value.fix


def test_a_full_disk_is_said_and_the_store_goes_on_when_there_is_room(desk: Desk) -> None:
    store = desk.store
    assert isinstance(store, SqliteStore)
    with store.exclusive() as session:
        pages = session.connection.pragma("page_count")
        session.connection.pragma("max_page_count", pages + 2)
    with pytest.raises(DolmenError) as refused:
        fill(desk, 1)
    assert refused.value.code == "unavailable"
    assert "full" in refused.value.message
    desk.store.ping()
    with store.exclusive() as session:
        session.connection.pragma("max_page_count", 1 << 30)
    desk.add("room again")


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (apsw.BusyError, "store-busy"),
        (apsw.LockedError, "store-busy"),
        (apsw.NotADBError, "store-damaged"),
        (apsw.CorruptError, "store-damaged"),
        (apsw.FullError, "unavailable"),
        (apsw.ReadOnlyError, "unavailable"),
        (apsw.CantOpenError, "unavailable"),
        (apsw.IOError, "unavailable"),
        (apsw.ConstraintError, "conflict"),
        (apsw.SQLError, "internal"),
    ],
)
def test_every_error_of_sqlite_has_a_code_and_says_nothing_of_its_own(error: type[apsw.Error], code: str) -> None:
    refusal = translate(error("no such column: secret"), "/path")
    assert refusal.code == code
    assert "secret" not in str(refusal.as_dict())
    assert refusal.fix or code == "internal"


FORK = """
import os, sys
from dolmen.store.opening import open_store
store = open_store(sys.argv[1])
with store.write() as tx:
    tx.accounts.add_vault("v", "n", "o", "O")
with store.read() as tx:
    pass
child = os.fork()
if child == 0:
    with store.write() as tx:
        tx.accounts.set("v", "child", "was here")
    with store.read() as tx:
        assert tx.accounts.setting("v", "child") == "was here"
    store.close()
    os._exit(0)
for n in range(50):
    with store.write() as tx:
        tx.accounts.set("v", "parent", str(n))
assert os.waitpid(child, 0)[1] == 0
with store.write() as tx:
    grandchild = os.fork()
    if grandchild == 0:
        break_out = True
    else:
        break_out = False
    if not break_out:
        assert os.waitpid(grandchild, 0)[1] == 256
        tx.accounts.set("v", "after", "fork")
    else:
        sys.stderr = open(os.devnull, "w")
        raise SystemExit(1)
with store.read() as tx:
    assert tx.accounts.settings("v") == {"child": "was here", "parent": "49", "after": "fork"}
store.close()
print("good")
"""


def test_a_forked_child_has_connections_of_its_own(path: Path) -> None:
    """https://sqlite.org/howtocorrupt.html, 2.6."""
    command = [sys.executable, "-c", FORK, f"sqlite:///{path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("good", 0), done.stderr


GREEDY = """
import sys, time
from dolmen.store.opening import open_store
store = open_store(sys.argv[1])
print("writing", flush=True)
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    with store.write() as tx:
        for n in range(30):
            tx.accounts.set("v", f"key {n}", str(time.monotonic()))
store.close()
"""


@pytest.mark.slow
def test_a_write_waits_for_its_turn_only_however_greedy_other_processes_are(desk: Desk, path: Path) -> None:
    """Without a queue, a write waited up to twelve seconds behind three that never pause."""
    command = [sys.executable, "-c", GREEDY, f"sqlite:///{path}", "4"]
    greedy = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(3)]
    for process in greedy:
        assert process.stdout is not None
        process.stdout.readline()
    waits = []
    for n in range(15):
        began = time.monotonic()
        with desk.store.write() as tx:
            waits.append(time.monotonic() - began)
            tx.accounts.set("v", "modest", str(n))
    for process in greedy:
        process.communicate()
        assert process.returncode == 0
    assert max(waits) < 2.5


def test_a_stuck_holder_of_the_turnstile_stops_nobody(path: Path) -> None:

    script = (
        "import sys, time, pathlib; from dolmen.store.sqlite.queue import Turnstile\n"
        "with Turnstile(pathlib.Path(sys.argv[1])).turn(time.monotonic() + 9):\n"
        "    print('held', flush=True); sys.stdin.readline()"
    )
    store = SqliteStore(path, now, rising(now), patience=0.4)
    stuck = subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert stuck.stdout is not None
    assert stuck.stdout.readline() == "held\n"
    with store.write() as tx:
        tx.accounts.add_vault("v", "n", "o", "O")
    stuck.communicate("\n")
    turnstile = Turnstile(path)
    with turnstile.turn(time.monotonic()):
        pass
    turnstile.close()
    store.close()
