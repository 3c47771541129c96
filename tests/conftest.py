"""What every test may ask for: a fresh store on either engine, and a home of its own instead of the person's."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, Protocol

import hypothesis
import pytest

from tests.postgres import Server, private_server, shared_server

Engine = Literal["sqlite", "postgres"]
ENGINES: tuple[Engine, ...] = ("sqlite", "postgres")

hypothesis.settings.register_profile(
    "default",
    deadline=None,  # the time of one example says more about the machine than about the code
    max_examples=60,
    print_blob=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.register_profile("thorough", parent=hypothesis.settings.get_profile("default"), max_examples=2000)
hypothesis.settings.register_profile("quick", parent=hypothesis.settings.get_profile("default"), max_examples=10)
hypothesis.settings.load_profile("default")


def pytest_configure(config: pytest.Config) -> None:
    """Keep the person's own data, settings, git configuration and proxies out of reach of the tests."""
    home = Path(tempfile.mkdtemp(prefix="dolmen-home-"))
    config.add_cleanup(lambda: shutil.rmtree(home, ignore_errors=True))
    for name in [name for name in os.environ if name.startswith(("DOLMEN_", "GIT_", "KENFOLD_"))]:
        del os.environ[name]
    for name in [name for name in os.environ if name.lower() in ("http_proxy", "https_proxy", "all_proxy")]:
        del os.environ[name]
    os.environ.update(
        HOME=str(home),
        XDG_DATA_HOME=str(home / "data"),
        XDG_CONFIG_HOME=str(home / "config"),
        XDG_STATE_HOME=str(home / "state"),
        XDG_CACHE_HOME=str(home / "cache"),
        GIT_CONFIG_NOSYSTEM="1",
        GIT_AUTHOR_NAME="Ada",
        GIT_AUTHOR_EMAIL="ada@example.org",
        GIT_COMMITTER_NAME="Ada",
        GIT_COMMITTER_EMAIL="ada@example.org",
    )


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """A command that is called in process sets logging up for its process; the next test starts without that."""
    loggers = [logging.getLogger(name) for name in ("", "dolmen", "uvicorn", "uvicorn.error", "uvicorn.access", "mcp")]
    before = [(one, one.level, one.propagate, one.disabled, list(one.handlers)) for one in loggers]
    yield
    for one, level, propagate, disabled, handlers in before:
        one.setLevel(level)
        one.propagate, one.disabled, one.handlers = propagate, disabled, handlers


@pytest.fixture
def cheap_passwords(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Real hashes, but quick ones."""
    from dolmen.services import passwords

    monkeypatch.setattr(passwords, "KIB", 64)
    monkeypatch.setattr(passwords, "PASSES", 1)
    kept = (passwords._hasher, passwords._absent)
    for each in kept:
        each.cache_clear()
    yield
    for each in kept:
        each.cache_clear()


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Server]:
    """The PostgreSQL server of this test run, one for all workers; starts when the first test asks for it."""
    folder = tmp_path_factory.getbasetemp()
    if hasattr(request.config, "workerinput"):
        folder = folder.parent  # the workers' folders stand in that of the run
    with shared_server(folder) as server:
        yield server


@pytest.fixture
def own_postgres() -> Iterator[Server]:
    """A server that only this test uses, and may disturb or stop."""
    with private_server() as server:
        yield server


class NewStore(Protocol):
    """Gives the URL of a fresh store of an engine.

    It has its schema already, copied from one that was migrated once: that is four times faster. With EMPTY it has
    not (and no file, on the embedded engine), for tests of the migration itself.
    """

    def __call__(self, engine: Engine, *, empty: bool = False) -> str: ...


@pytest.fixture
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewStore]:
    """For tests that want several stores, or an empty one."""
    with ExitStack() as stack:
        yield _factory(request, tmp_path, stack)


@pytest.fixture(scope="module")
def new_module_store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewStore]:
    """The same for a whole module, for stores that are dear to fill and that its tests only read."""
    with ExitStack() as stack:
        yield _factory(request, tmp_path_factory.mktemp("stores"), stack)


def _factory(request: pytest.FixtureRequest, folder: Path, stack: ExitStack) -> NewStore:
    made = 0

    def new(engine: Engine, *, empty: bool = False) -> str:
        nonlocal made
        made += 1
        if engine == "sqlite":
            file = folder / f"store{made}.db"
            if not empty:
                shutil.copyfile(request.getfixturevalue("_migrated"), file)
            return _sqlite_url(file)
        server: Server = request.getfixturevalue("postgres")
        url = server.create_database() if empty else server.create_store(_migrate)
        stack.callback(server.drop_database, url)
        return url

    return new


@pytest.fixture(scope="session")
def _migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of an embedded store that has its schema and nothing else."""
    file = tmp_path_factory.mktemp("migrated") / "store.db"
    _migrate(_sqlite_url(file))
    return file


def _sqlite_url(file: Path) -> str:
    return f"sqlite:///{file}"  # with the path's own slash: four in all


def _migrate(url: str) -> None:
    from dolmen.store.opening import open_store

    open_store(url).close()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Engine:
    """Runs the test once for each engine, in the same run."""
    name: Engine = request.param
    return name


@pytest.fixture
def engine_url(engine: Engine, new_store: NewStore) -> str:
    """The URL of a fresh store without anything in it; the test runs once for each engine."""
    return new_store(engine)


@pytest.fixture
def sqlite_url(new_store: NewStore) -> str:
    """The URL of a fresh embedded store, whose file does not exist yet, for what only that engine has."""
    return new_store("sqlite", empty=True)


@pytest.fixture
def postgres_url(new_store: NewStore) -> str:
    """The URL of an empty PostgreSQL database with pgvector and no schema, for what only that engine has."""
    return new_store("postgres", empty=True)
