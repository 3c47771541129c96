"""`contract.Store` and `contract.Tx`: snapshots, roll-back, threads, closing."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.store.contract import Job, Tx
from dolmen.store.ids import rising
from dolmen.store.opening import open_store
from tests.contract.given import START, Clock, Desk, add, link, proposal, unit


def test_a_write_that_fails_leaves_nothing_behind(desk: Desk) -> None:
    kept = desk.add("kept heron")
    lost = desk.memory("lost heron", scope="project:new")
    with pytest.raises(RuntimeError, match="stop"), desk.store.write() as tx:  # noqa: PT012
        add(tx, lost)
        tx.memories.purge("v", [kept.id])
        tx.links.add("v", link(lost.id, "b"))
        tx.keys.put("v", "c", "k", lost.id, START)
        raise RuntimeError("stop")
    with desk.store.read() as tx:
        assert list(tx.memories.stream("v")) == [kept]
        assert list(tx.links.stream("v")) == []
        assert tx.keys.find("v", "c", "k") is None
        assert tx.scopes.names("v") == ["user"]
        assert tx.memories.count(desk.sight(scopes=None))[""] == 1
    assert desk.found(desk.sight(scopes=None), "heron") == [kept.id]
    assert desk.add("lost heron", scope="project:new")


def test_a_read_sees_one_snapshot(desk: Desk) -> None:
    old = desk.add("old")
    with desk.store.read() as tx:
        assert tx.memories.count(desk.sight())[""] == 1
        new = desk.add("new")
        assert tx.memories.count(desk.sight())[""] == 1
        assert tx.memories.get("v", new.id) is None
        assert tx.memories.get("v", old.id) == old
    with desk.store.read() as tx:
        assert tx.memories.count(desk.sight())[""] == 2


WRITES = {
    "memories": lambda tx, memory: tx.memories.add(memory, "k"),
    "purge": lambda tx, memory: tx.memories.purge("v", [memory.id]),
    "links": lambda tx, memory: tx.links.add("v", link("a", "b")),
    "proposals": lambda tx, memory: tx.proposals.add(proposal("p")),
    "keys": lambda tx, memory: tx.keys.put("v", "c", "k", "m", START),
    "leases": lambda tx, memory: tx.leases.take("l", "o", 1, 2),
    "jobs": lambda tx, memory: tx.jobs.enqueue(Job("j", "v", "extract", "k")),
    "index": lambda tx, memory: tx.index.clear("v"),
    "models": lambda tx, memory: tx.index.model("new", 3, START),
    "settings": lambda tx, memory: tx.accounts.set("v", "k", "x"),
}


@pytest.mark.parametrize("what", sorted(WRITES))
def test_a_read_refuses_writes(desk: Desk, what: str) -> None:
    memory = desk.memory("not to be stored")
    with pytest.raises(DolmenError), desk.store.read() as tx:
        WRITES[what](tx, memory)
    desk.add("a write still works")
    with desk.store.read() as tx:
        assert tx.memories.count(desk.sight(scopes=None))[""] == 1


def test_time_stands_still_in_a_transaction_and_ids_rise(desk: Desk) -> None:
    with desk.store.write() as tx:
        desk.clock.pass_()
        assert tx.now == START
        ids = [tx.new_id() for _ in range(100)]
    with desk.store.read() as tx:
        assert tx.now == desk.clock.now
        ids += [tx.new_id() for _ in range(100)]
    assert ids == sorted(set(ids))
    assert all(id[14] == "7" for id in ids)


def test_threads_read_and_write_at_once_without_an_error(desk: Desk) -> None:
    """B049, B052, B054: one writes in a loop while others read in loops."""
    stop = threading.Event()

    def read() -> int:
        seen = 0
        while not stop.is_set():
            with desk.store.read() as tx:
                number = tx.memories.count(desk.sight(scopes=None))[""]
                assert len(list(tx.memories.stream("v"))) == number
                assert len(tx.index.match(desk.sight(scopes=None), ["heron"], 999)) == number
            assert number >= seen
            seen = number
        return seen

    def write(name: int) -> None:
        for n in range(25):
            desk.add(f"heron {name} {n}", scope=f"project:{name % 2}")

    with ThreadPoolExecutor(7) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        writers = [pool.submit(write, name) for name in range(4)]
        for each in writers:
            each.result()
        stop.set()
        assert all(each.result() <= 100 for each in readers)
    assert len(desk.ids(desk.sight(scopes=None), limit=999)) == 100


def test_one_of_many_racing_for_a_statement_a_key_or_a_lease_gets_it(desk: Desk) -> None:
    barrier = threading.Barrier(6)

    def race(n: int) -> tuple[bool, bool, bool]:
        barrier.wait()
        with desk.store.write() as tx:
            added = add(tx, desk.memory("the same statement"))
            own = desk.memory(f"statement {n}")
            add(tx, own)
            return added, tx.keys.put("v", "c", "key", own.id, START), tx.leases.take("job", str(n), 0, 10)

    with ThreadPoolExecutor(6) as pool:
        outcomes = list(pool.map(race, range(6)))
    assert [sum(column) for column in zip(*outcomes, strict=True)] == [1, 1, 1]


def test_a_second_writer_of_the_same_statement_waits_for_the_first(desk: Desk) -> None:
    entered, outcomes = threading.Event(), []

    def second() -> None:
        entered.wait()
        with desk.store.write() as tx:
            outcomes.append(add(tx, desk.memory("the statement")))

    thread = threading.Thread(target=second)
    thread.start()
    with desk.store.write() as tx:
        assert add(tx, desk.memory("the statement"))
        entered.set()
        tx.accounts.set("v", "still", "at work")
    thread.join()
    assert outcomes == [False]
    assert len(desk.ids(desk.sight())) == 1


def test_a_store_says_what_and_where_it_is_without_its_password(desk: Desk, engine: str, engine_url: str) -> None:
    info = desk.store.info()
    assert info.engine == desk.store.engine == engine
    assert info.version.startswith("SQLite 3." if engine == "sqlite" else "PostgreSQL ")
    assert info.schema >= 1
    assert info.size > 0
    if engine == "sqlite":
        assert info.warnings == ()
        assert Path(info.location) == Path(engine_url.removeprefix("sqlite:///"))
    desk.store.ping()
    desk.store.tidy()
    desk.store.ping()


def test_a_closed_store_says_that_it_is_closed(desk: Desk) -> None:
    desk.store.close()
    desk.store.close()
    for use in (desk.store.ping, desk.store.tidy, lambda: desk.add("x")):
        with pytest.raises(DolmenError) as refused:
            use()
        assert refused.value.code == "unavailable"


def test_what_was_written_is_there_when_the_store_is_opened_again(desk: Desk, engine_url: str) -> None:
    memory = desk.add("heron")
    model = desk.embed({memory.id: unit(1)})
    desk.store.close()
    again = open_store(engine_url, desk.clock, rising(desk.clock))
    with again.read() as tx:
        assert tx.memories.get("v", memory.id) == memory
        assert tx.index.find_model("m", 64) == model
        assert [hit.memory for hit in tx.index.match(desk.sight(), ["heron"], 9)] == [memory.id]
        assert [hit.memory for hit in tx.index.nearest(desk.sight(), model, unit(1), 9)] == [memory.id]
    again.close()


def test_a_store_opens_with_the_real_clock_and_real_ids(engine_url: str) -> None:
    store = open_store(engine_url)
    with store.write() as tx:
        assert tx.now > START
        assert len(tx.new_id()) == 36
    store.close()


def test_an_error_of_the_caller_passes_through_unchanged(desk: Desk) -> None:
    class OwnError(Exception):
        pass

    def fail(tx: Tx) -> None:
        raise OwnError

    for begin in (desk.store.read, desk.store.write):
        with pytest.raises(OwnError), begin() as tx:
            fail(tx)
    desk.add("still usable")


def test_the_clock_is_asked_when_a_transaction_begins(engine_url: str) -> None:
    clock = Clock()
    store = open_store(engine_url, clock, rising(clock))
    with store.write() as tx:
        tx.accounts.add_vault("v", "n", "o", "O")
        first = tx.now
    clock.pass_(5)
    with store.write() as tx:
        assert tx.now == first + 5_000_000
    store.close()
