"""The stores that the tests are given are fresh, apart from one another, and gone afterwards."""

from __future__ import annotations

import fcntl
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.conftest import Engine, NewStore
from tests.postgres import Server, shared_server

ROOT = Path(__file__).resolve().parent.parent


def test_each_store_is_another_one(engine: Engine, new_store: NewStore) -> None:
    assert new_store(engine) != new_store(engine)


def test_the_database_is_postgresql_18_with_pgvector_and_its_owner_is_no_superuser(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        version = connection.execute("SELECT current_setting('server_version_num')::int / 10000").fetchone()
        distance = connection.execute("SELECT '[1,2]'::vector <-> '[1,5]'").fetchone()
        role = connection.execute("SELECT current_setting('is_superuser')").fetchone()
    assert (version, distance, role) == ((18,), (3.0,), ("off",))


def test_a_store_comes_with_its_schema_unless_an_empty_one_is_asked_for(new_store: NewStore) -> None:
    def tables(url: str) -> int:
        with psycopg.connect(url) as connection:
            row = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'").fetchone()
        return int(row[0]) if row else 0

    assert tables(new_store("postgres")) > 0
    assert tables(new_store("postgres", empty=True)) == 0


def test_a_database_can_be_had_without_the_extension(postgres: Server) -> None:
    url = postgres.create_database(vector=False)
    with psycopg.connect(url) as connection:
        found = connection.execute("SELECT count(*) FROM pg_extension WHERE extname = 'vector'").fetchone()
    postgres.drop_database(url)
    assert found == (0,)


@pytest.mark.slow
def test_the_server_and_its_data_go_when_the_process_that_used_them_is_killed(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from tests.postgres import shared_server\n"
        "with shared_server(Path(sys.argv[1])) as server:\n"
        "    print(server.folder, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], check=False, cwd=ROOT, capture_output=True, text=True
    )
    folder = Path(done.stdout.strip())
    assert done.returncode == -9
    assert folder.name.startswith("dolmen-pg-")
    with (tmp_path / "postgres.keeper").open() as keeper:
        fcntl.flock(keeper, fcntl.LOCK_SH)  # its keeper holds this lock until everything is gone
    assert not folder.exists()
    with shared_server(tmp_path) as next_one:
        assert next_one.folder != folder
