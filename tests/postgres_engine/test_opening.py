"""Opening: several processes at once, what the database must have, and what is said when it has not."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import apsw
import psycopg
import pytest

from dolmen.domain.errors import DolmenError
from dolmen.store.opening import open_store
from tests.conftest import NewStore
from tests.postgres import Server
from tests.postgres_engine.conftest import Open

ROOT = Path(__file__).resolve().parents[2]
OWN_INDEX = {"passage", "passage_vector", "passage_count", "passage_text", "passage_clock", "vector", "signature"}
"""Tables of the search index, which each engine has in its own way."""


def columns_of_postgres(url: str) -> dict[str, set[str]]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0"
            " WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition"
        ).fetchall()
    return {table: {column for other, column in rows if other == table} for table, _ in rows}


def columns_of_sqlite(url: str) -> dict[str, set[str]]:
    open_store(url).close()
    connection = apsw.Connection(url.removeprefix("sqlite:///"))
    names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    found = {name: {row[1] for row in connection.execute(f"PRAGMA table_info({name})")} for name in names}
    connection.close()
    return found


def test_four_processes_that_start_at_once_migrate_once(postgres_url: str) -> None:
    program = "import sys; from dolmen.store.opening import open_store; print(open_store(sys.argv[1]).info().schema)"
    started = [
        subprocess.Popen([sys.executable, "-c", program, postgres_url], cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = {process.communicate(timeout=60)[0].strip() for process in started}
    with psycopg.connect(postgres_url) as connection:
        applied = connection.execute("SELECT number FROM schema_migration ORDER BY number").fetchall()
    assert said == {str(len(applied))}
    assert applied == [(number + 1,) for number in range(len(applied))]


def test_both_engines_have_the_same_tables_and_columns(new_store: NewStore, open_at: Open) -> None:
    url = new_store("postgres")
    open_at(url)
    here, there = columns_of_postgres(url), columns_of_sqlite(new_store("sqlite"))
    portable = {name for name in there if not name.startswith(("passage", "sqlite_"))} - OWN_INDEX
    assert set(here) - OWN_INDEX == portable
    # `n` is the number that SQLite gives each row; `centre` belongs to its vector index.
    assert {name: there[name] - here[name] for name in portable if there[name] != here[name]} == {
        "memory": {"n"},
        "vector_model": {"centre"},
    }
    assert {name: here[name] - there[name] for name in portable if here[name] - there[name]} == {}


def test_every_key_leads_with_the_vault_and_large_tables_are_split_by_it(postgres_url: str, open_at: Open) -> None:
    open_at(postgres_url)
    with psycopg.connect(postgres_url) as connection:
        keys = connection.execute(
            "SELECT t.relname, a.attname FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid"
            " JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = i.indkey[0]"
            " WHERE i.indisprimary AND NOT t.relispartition AND t.relnamespace = 'public'::regnamespace"
        ).fetchall()
        parts = connection.execute(
            "SELECT p.relname, pg_get_partkeydef(p.oid), count(*)"
            " FROM pg_class p JOIN pg_inherits h ON h.inhparent = p.oid WHERE p.relkind = 'p' GROUP BY 1, 2"
        ).fetchall()
    leading = dict(keys)
    of_no_vault = {"vault", "lease", "schema_migration", "vector_model", "oauth_client", "sign_in_failure"}
    # Looked up by a secret, before it is known whose it is; small, and gone when they end.
    of_no_vault |= {"oauth_code", "oauth_token", "oauth_device", "browser_session", "entry_link", "sign_in_step"}
    assert {name: column for name, column in leading.items() if name not in of_no_vault and column != "vault_id"} == {}
    assert of_no_vault <= set(leading)
    large = [
        "code_ref", "link", "memory", "memory_tag", "note", "note_revision", "passage", "passage_vector", "revision",
    ]  # fmt: skip
    assert sorted(parts) == [(name, "HASH (vault_id)", 8) for name in large]


def test_the_extension_is_created_by_a_role_that_may(postgres: Server, open_at: Open) -> None:
    url = postgres.create_database(vector=False)
    name = url.partition("@/")[2].partition("?")[0]
    open_at(postgres.url(name)).close()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT 1 FROM pg_extension WHERE extname = 'vector'").fetchone() == (1,)
    postgres.drop_database(url)


def test_without_the_extension_the_error_says_what_the_administrator_has_to_do(postgres: Server, open_at: Open) -> None:
    url = postgres.create_database(vector=False)
    with pytest.raises(DolmenError) as refused:
        open_at(url)
    postgres.drop_database(url)
    assert refused.value.code == "configuration"
    assert "pgvector" in refused.value.message
    assert "CREATE EXTENSION vector" in refused.value.fix


def test_a_newer_schema_is_refused(postgres_url: str, open_at: Open) -> None:
    open_at(postgres_url)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("INSERT INTO schema_migration VALUES (9999, 'future', 'x', 0)")
    with pytest.raises(DolmenError) as refused:
        open_at(postgres_url)
    assert refused.value.code == "store-too-new"


def test_tables_of_another_program_are_left_alone(postgres_url: str, open_at: Open) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE memory (mine text)")
    with pytest.raises(DolmenError) as refused:
        open_at(postgres_url)
    assert refused.value.code == "configuration"
    assert "search_path" in refused.value.fix
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT * FROM memory").fetchall() == []
        assert connection.execute("SELECT to_regclass('vault')").fetchone() == (None,)


def test_a_schema_of_its_own_keeps_them_apart(postgres_url: str, open_at: Open) -> None:
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE TABLE memory (mine text)")
        connection.execute("CREATE SCHEMA dolmen")
    store = open_at(f"{postgres_url}&options={quote('-csearch_path=dolmen,public')}")
    with store.read() as tx:
        assert tx.accounts.vaults() == []


@pytest.fixture
def other_encoding(postgres: Server) -> Iterator[str]:
    name = f"test_{uuid.uuid4().hex}"
    with psycopg.connect(postgres.url(), autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE_PROVIDER libc LOCALE 'C'".encode()
        )
    yield postgres.url(name)
    postgres.drop_database(postgres.url(name))


def test_a_database_that_cannot_hold_every_character_is_refused(other_encoding: str, open_at: Open) -> None:
    with pytest.raises(DolmenError) as refused:
        open_at(other_encoding)
    assert refused.value.code == "configuration"
    assert "UTF8" in refused.value.fix


def test_a_missing_driver_is_named_with_the_line_that_installs_it() -> None:
    program = (
        "import sys; sys.modules['psycopg_pool'] = None\n"
        "from dolmen.domain.errors import DolmenError; from dolmen.store.opening import open_store\n"
        "try: open_store('postgresql://nowhere/x')\n"
        "except DolmenError as error: print(error.code, '|', error.fix)"
    )
    said = subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, text=True)
    assert said.startswith("configuration | ")
    assert 'pip install "psycopg[binary,pool]"' in said


def test_info_names_versions_size_and_what_the_administrator_turned_off(postgres_url: str, open_at: Open) -> None:
    info = open_at(postgres_url).info()
    assert info.engine == "postgres"
    assert info.version.startswith("PostgreSQL 18.")
    assert ", pgvector 0." in info.version
    assert info.size > 1_000_000
    # The tests' own server lives without durability.
    assert [warning.split(" ")[0] for warning in info.warnings] == ["autovacuum", "fsync", "full_page_writes"]
