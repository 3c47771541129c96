"""A purge while another transaction, not committed yet, is adding to the same memory: no word of it stays behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext

import psycopg
import pytest

from dolmen.domain.code import CodeRef
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory
from dolmen.store.contract import Tx
from dolmen.store.postgres.engine import PURGED
from tests.contract.given import START, Desk, change, link, passage, proposal

WORD = "zanzibarquokka"

ADDING: dict[str, Callable[[Tx, Memory], object]] = {
    "amend": lambda tx, memory: change(tx, memory, text=f"{WORD} {WORD}", tags=(WORD,)),
    "note": lambda tx, memory: tx.memories.note("v", memory.id, {"said": WORD}),
    "link": lambda tx, memory: tx.links.add("v", link(memory.id, WORD)),
    "proposal": lambda tx, memory: tx.proposals.add(proposal("p", memory=memory.id, payload={"content": WORD})),
    "key": lambda tx, memory: tx.keys.put("v", "c", WORD, memory.id, START),
    "code ref": lambda tx, memory: tx.code_refs.add("v", [CodeRef(memory.id, "statement", f"{WORD}.py", "")]),
    "passage": lambda tx, memory: tx.index.put("v", [passage(memory, START)]),
}


def purge(desk: Desk, memory: Memory) -> None:
    with desk.store.write() as tx:
        tx.memories.purge("v", [memory.id])


def traces(url: str, *words: str) -> list[tuple[str, str]]:
    """(table, row) for each row of any table that has one of the words."""
    found = []
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (table,) in tables:
            for (row,) in connection.execute(f"SELECT t::text FROM {table} t").fetchall():
                found += [(table, row) for word in words if word in row]
    return found


@contextmanager
def waiting(url: str) -> Iterator[Callable[[Future[None]], None]]:
    """Gives what returns when some connection to the database waits for a lock, or the work has ended."""
    with psycopg.connect(url, autocommit=True) as connection:

        def wait(work: Future[None]) -> None:
            while (
                not work.done()
                and not connection.execute(
                    "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
                ).fetchall()
            ):
                pass

        yield wait


@pytest.mark.parametrize("what", sorted(ADDING))
def test_a_purge_waits_for_what_is_just_being_added_and_takes_it_too(desk: Desk, postgres_url: str, what: str) -> None:
    memory = desk.add(f"the {WORD} is hidden", title=WORD, tags=("old",))
    late = pytest.raises(DolmenError, match="purged") if what == "key" else nullcontext()  # keys are checked at the end
    with ThreadPoolExecutor(1) as pool, waiting(postgres_url) as wait:
        with late, desk.store.write() as tx:  # type: ignore[attr-defined]
            ADDING[what](tx, memory)
            purged = pool.submit(purge, desk, memory)
            wait(purged)
        purged.result()
    assert traces(postgres_url, WORD, memory.id) == []
    with desk.store.read() as tx:
        assert tx.index.health(desk.sight(), None).passages == 0


@pytest.mark.parametrize("what", sorted(ADDING))
def test_what_is_added_while_a_purge_is_at_work_comes_too_late(desk: Desk, postgres_url: str, what: str) -> None:
    memory = desk.add(f"the {WORD} is hidden", title=WORD, tags=("old",))

    def late() -> None:
        with desk.store.write() as tx:
            ADDING[what](tx, memory)

    with ThreadPoolExecutor(1) as pool, waiting(postgres_url) as wait:
        with desk.store.write() as tx:
            tx.memories.purge("v", [memory.id])
            adding = pool.submit(late)
            wait(adding)
        if what == "note":  # nothing is left to note it on
            adding.result()
        else:
            with pytest.raises(DolmenError) as refused:
                adding.result()
            assert refused.value.code == "conflict"
    assert traces(postgres_url, WORD, memory.id) == []
    with desk.store.read() as tx:
        assert tx.index.health(desk.sight(), None).passages == 0


def test_a_change_that_comes_too_late_leaves_nothing_when_its_refusal_is_passed_over(
    desk: Desk, postgres_url: str
) -> None:
    memory = desk.add(f"the {WORD} is hidden")

    def late() -> None:
        with desk.store.write() as tx:
            with pytest.raises(DolmenError, match="purged"):
                change(tx, memory, text=f"another {WORD}")

    with ThreadPoolExecutor(1) as pool, waiting(postgres_url) as wait:
        with desk.store.write() as tx:
            tx.memories.purge("v", [memory.id])
            changing = pool.submit(late)
            wait(changing)
        with pytest.raises(DolmenError, match="purged"):
            changing.result()
    assert traces(postgres_url, WORD, memory.id) == []


def test_what_is_kept_of_a_memory_goes_with_its_row(desk: Desk, postgres_url: str) -> None:
    """Also when somebody deletes the row by hand."""
    memory = desk.change(desk.add(f"the {WORD}", tags=("a",)), text=f"the other {WORD}")
    with desk.store.write() as tx:
        for add in ADDING.values():
            if add not in (ADDING["amend"], ADDING["note"]):
                add(tx, memory)
    with psycopg.connect(postgres_url) as connection:
        connection.execute("DELETE FROM memory")
    kept = traces(postgres_url, WORD, memory.id)
    assert kept == []
    assert "passage" in PURGED
