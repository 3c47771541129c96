"""Opening migrates, once, in order, and refuses what it does not know (B048, B206)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.store.contract import Store
from dolmen.store.migrate import Migration, migrate, migrations
from dolmen.store.opening import open_store
from dolmen.store.sql import Query

ENGINES = ("sqlite", "postgres")


def known(engine: str) -> list[Migration]:
    return migrations(files("dolmen.store") / engine / "schema")


def test_both_engines_have_the_same_migrations() -> None:
    first, second = ([(each.number, each.name) for each in known(engine)] for engine in ENGINES)
    assert first == second


def change(store: Store, statement: str) -> None:
    with store.exclusive() as session:  # type: ignore[attr-defined]
        session.run(Query("test", statement))


def test_opening_again_changes_nothing(engine_url: str, engine: str) -> None:
    for _ in range(3):
        store = open_store(engine_url)
        assert store.info().schema == len(known(engine))
        assert store.applied() == {each.number: each.checksum for each in known(engine)}  # type: ignore[attr-defined]
        store.close()


def test_many_open_a_new_store_at_once(engine_url: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        stores = list(pool.map(lambda _: open_store(engine_url), range(6)))
    for store in stores:
        store.ping()
        store.close()


def test_a_store_of_a_newer_program_is_refused(engine_url: str, engine: str) -> None:
    store = open_store(engine_url)
    change(store, "INSERT INTO schema_migration (number, name, checksum, applied_at) VALUES (99, 'future', 'x', 0)")
    store.close()
    with pytest.raises(DolmenError) as refused:
        open_store(engine_url)
    assert refused.value.code == "store-too-new"
    assert "99" in refused.value.message
    assert refused.value.fix


def test_a_store_whose_schema_has_another_text_is_refused(engine_url: str) -> None:
    store = open_store(engine_url)
    change(store, "UPDATE schema_migration SET checksum = 'other' WHERE number = 1")
    store.close()
    with pytest.raises(DolmenError) as refused:
        open_store(engine_url)
    assert refused.value.code == "store-too-new"


def test_an_old_store_is_refused_and_left_alone_where_migrating_is_switched_off(engine_url: str, engine: str) -> None:
    """C-378: `auto_migrate`."""
    open_store(engine_url).close()
    store = open_store(engine_url, migrating=False)
    newer = [*known(engine), Migration(len(known(engine)) + 1, "later", "CREATE TABLE later (a INTEGER);")]
    with pytest.raises(DolmenError) as refused:
        migrate(store, newer, allowed=False)  # type: ignore[arg-type]
    assert f"has schema {len(known(engine))}" in refused.value.message
    assert "dolmen migrate" in refused.value.fix
    assert len(store.applied()) == len(known(engine))  # type: ignore[attr-defined]
    store.close()


def test_no_store_is_made_where_migrating_is_switched_off(tmp_path: Path) -> None:
    with pytest.raises(DolmenError) as refused:
        open_store(f"sqlite:///{tmp_path}/new.db", migrating=False)
    assert (refused.value.code, "The store is empty" in refused.value.message) == ("configuration", True)


def test_migrations_are_applied_in_order_and_a_failed_one_not_at_all(engine_url: str, engine: str) -> None:
    store = open_store(engine_url)
    more = [
        *known(engine),
        Migration(len(known(engine)) + 1, "good", "CREATE TABLE later (a INTEGER); INSERT INTO later VALUES (1);"),
        Migration(len(known(engine)) + 2, "bad", "UPDATE later SET a = 2; CREATE TABLE later (b INTEGER);"),
    ]
    with pytest.raises(DolmenError):
        migrate(store, more)  # type: ignore[arg-type]
    with store.exclusive() as session:  # type: ignore[attr-defined]
        assert session.all(Query("test", "SELECT a FROM later")) == [(1,)]
    assert sorted(store.applied()) == [each.number for each in more[:-1]]  # type: ignore[attr-defined]
    assert migrate(store, more[:-1]) == len(more) - 1  # type: ignore[arg-type]
    store.close()
