"""Races between transactions that really overlap, as they do with many server processes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory
from dolmen.store.contract import Tx
from tests.contract.given import Desk, add, by, change, texts, unit

WRITERS = 6
T = TypeVar("T")


def at_once(desk: Desk, work: Callable[[Tx, int], T]) -> list[T | str]:
    """Runs the work in overlapping transactions; gives what each returned, or the code of its error."""
    begun = threading.Barrier(WRITERS)

    def one(number: int) -> T | str:
        try:
            with desk.store.write() as tx:
                begun.wait(20)
                return work(tx, number)
        except DolmenError as error:
            return error.code

    with ThreadPoolExecutor(WRITERS) as pool:
        return list(pool.map(one, range(WRITERS)))


def test_one_of_many_writers_adds_a_statement(desk: Desk) -> None:
    """C-110."""
    memories = [desk.memory("the same statement", scope="project:new") for _ in range(WRITERS)]
    assert sorted(map(str, at_once(desk, lambda tx, n: add(tx, memories[n])))) == ["False"] * 5 + ["True"]
    assert len(desk.ids(desk.sight("project:new"))) == 1
    with desk.store.read() as tx:
        assert tx.scopes.names("v") == ["project:new"]


def test_one_of_many_writers_changes_a_version_and_the_others_learn_of_it(desk: Desk) -> None:
    memory = desk.add("first")

    def change(tx: Tx, number: int) -> str:
        after = memory.with_(text=f"changed by {number}", version=2, updated_at=tx.now)
        tx.memories.update(memory, after, by(tx.now), f"key{number}")
        return "changed"

    assert sorted(at_once(desk, change)) == ["changed"] + ["conflict"] * 5
    with desk.store.read() as tx:
        assert [revision.memory.text for revision in tx.memories.revisions("v", memory.id)] == ["first"]


def test_one_of_many_calls_takes_an_idempotency_key(desk: Desk) -> None:
    """B152."""
    desk.known(*(f"memory{n}" for n in range(WRITERS)))
    taken = at_once(desk, lambda tx, n: tx.keys.put("v", "c", "key", f"memory{n}", tx.now))
    assert sorted(map(str, taken)) == ["False"] * 5 + ["True"]
    with desk.store.read() as tx:
        assert tx.keys.find("v", "c", "key") == f"memory{taken.index(True)}"


def test_one_of_many_processes_takes_a_lease(desk: Desk) -> None:
    taken = at_once(desk, lambda tx, n: tx.leases.take("backfill", f"process{n}", tx.now, tx.now + 1))
    assert sorted(map(str, taken)) == ["False"] * 5 + ["True"]


def test_a_model_that_many_register_has_one_number_and_one_index(desk: Desk) -> None:
    memory = desk.add("one")
    [model] = set(at_once(desk, lambda tx, _: tx.index.model("m", 64, tx.now)))
    assert desk.embed({memory.id: unit(1)}) == model
    assert desk.nearest(desk.sight(), int(model), unit(1)) == [memory.id]


def test_a_deadlock_ends_in_an_error_that_may_be_tried_again(desk: Desk) -> None:
    with desk.store.write() as tx:
        tx.accounts.set("v", "a", "0")
        tx.accounts.set("v", "b", "0")
    half = threading.Barrier(2)

    def cross(first: str, second: str) -> str:
        try:
            with desk.store.write() as tx:
                tx.accounts.set("v", first, first)
                half.wait(20)
                tx.accounts.set("v", second, first)
        except DolmenError as error:
            return error.code
        return "stored"

    with ThreadPoolExecutor(2) as pool:
        ends = sorted(pool.map(cross, "ab", "ba"))
    assert ends == ["store-busy", "stored"]
    with desk.store.read() as tx:
        settings = tx.accounts.settings("v")
    assert settings["a"] == settings["b"] != "0"


@pytest.mark.parametrize("text", ["one", "two"])
def test_what_one_process_added_another_finds_at_once(desk: Desk, text: str) -> None:
    memory = desk.add(text)
    with desk.store.write() as tx:
        tx.index.frequencies(desk.sight(), [text], 9)
        other = desk.add(f"{text} again")
        add(tx, own := desk.memory(f"{text} of my own"))
        assert {hit.memory for hit in tx.index.match(desk.sight(), [text], 9)} == {memory.id, other.id, own.id}


def test_a_change_that_another_was_faster_with_leaves_the_transaction_usable(desk: Desk) -> None:
    """One item of many fails alone."""
    memory = desk.add("first")
    begun = threading.Event()

    def slow() -> None:
        with desk.store.write() as tx:
            begun.set()
            with pytest.raises(DolmenError, match="changed"):
                change(tx, memory, text="second by the slow one")
            assert add(tx, desk.memory("the next item"))

    with ThreadPoolExecutor(1) as pool:
        with desk.store.write() as tx:
            change(tx, memory, text="second by the fast one")
            late = pool.submit(slow)
            begun.wait()
        late.result()
    assert sorted(texts(list(_stored(desk)))) == ["second by the fast one", "the next item"]


def _stored(desk: Desk) -> list[Memory]:
    with desk.store.read() as tx:
        return list(tx.memories.stream("v"))
