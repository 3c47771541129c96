"""The numbers of passages: sums of rows that writers add without waiting for each other, true whatever happens."""

from __future__ import annotations

import random
import threading

import pytest

from dolmen.domain.memory import Memory
from dolmen.store.contract import Tx
from dolmen.store.postgres.engine import PostgresStore
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.sql import Query
from tests.contract.given import Desk, add, passage, unit

COUNTED = Query(
    "test.counted",
    "SELECT scope_id, live, model_id, sum(passages)::int FROM passage_count WHERE vault_id = :vault"
    " GROUP BY 1, 2, 3 HAVING sum(passages) <> 0 ORDER BY 1, 2, 3",
)
TRUE = Query(
    "test.true",
    "SELECT p.scope_id, p.live, v.model_id, count(*)::int FROM passage p"
    " JOIN passage_vector v ON v.vault_id = p.vault_id AND v.passage_id = p.id AND v.live = p.live"
    " WHERE p.vault_id = :vault GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
)
ROWS = Query("test.rows", "SELECT count(*) FROM passage_count WHERE vault_id = :vault")
PASSAGES = Query("test.passages", "SELECT count(*) FROM passage WHERE vault_id = :vault")


def session_of(tx: Tx) -> PostgresSession:
    session: PostgresSession = tx.index._session  # type: ignore[attr-defined]  # of PostgresIndex
    return session


def check(store: PostgresStore) -> int:
    """Holds the counts against the passages; returns how many passages there are."""
    with store.read() as tx:
        session = session_of(tx)
        assert session.all(COUNTED, {"vault": "v"}) == session.all(TRUE, {"vault": "v"})
        [(number,)] = session.all(PASSAGES, {"vault": "v"})
    return int(number)


@pytest.mark.parametrize("seed", range(5))
def test_counts_follow_every_kind_of_change(store: PostgresStore, desk: Desk, seed: int) -> None:
    chance = random.Random(seed)
    memories: list[Memory] = []
    with store.write() as tx:
        models = [tx.index.model("a", 64, 1), tx.index.model("b", 64, 1)]
    for step in range(60):
        with store.write() as tx:
            memory = chance.choice(memories) if memories else None
            match chance.randrange(8):
                case 0 if memory:
                    tx.index.retire("v", memory.id, tx.now)
                    tx.index.put("v", [passage(memory, tx.now)])
                case 1 if memory:
                    tx.index.set_live("v", memory.id, chance.random() < 0.5)
                case 2 if memory:
                    tx.index.move("v", [memory.id], chance.choice([1, 2, 3]))  # type: ignore[attr-defined]  # of EngineIndex
                case 3 if memory:
                    memories.remove(memory)
                    tx.memories.purge("v", [memory.id])
                case 4 | 5:
                    model = chance.choice(models)
                    items = [(each.passage, unit(step)) for each in tx.index.pending(model, 3)]
                    tx.index.set_vectors("v", model, items)
                case _:
                    made = desk.memory(f"memory {step}", scope=chance.choice(["user", "project:a", "project:b"]))
                    add(tx, made)
                    memories.append(made)
    assert check(store) > 0
    with store.write() as tx:
        tx.index.clear("v")
    assert check(store) == 0


def test_many_rows_are_folded_into_few_while_others_write(store: PostgresStore, desk: Desk) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for step in range(80):
                with store.write() as tx:
                    add(tx, desk.memory(f"memory {number} {step}", scope=f"project:{step % 2}"))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        store.tidy()
    for thread in threads:
        thread.join()
    assert failures == []
    assert check(store) == 320
    with store.read() as tx:
        assert tx.index.health(desk.sight("project:0", "project:1"), None).passages == 320
        [(rows,)] = session_of(tx).all(ROWS, {"vault": "v"})
    assert rows <= 256


def test_embedding_and_destroying_at_the_same_time_leaves_true_counts(store: PostgresStore, desk: Desk) -> None:
    memories = [desk.add(f"memory {n}") for n in range(60)]
    with store.write() as tx:
        model = tx.index.model("m", 64, 1)
    failures: list[BaseException] = []

    def embed() -> None:
        try:
            for _ in range(20):
                with store.read() as tx:
                    waiting = tx.index.pending(model, 20)
                with store.write() as tx:
                    tx.index.set_vectors("v", model, [(each.passage, unit(each.passage)) for each in waiting])
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=embed)
    thread.start()
    for memory in memories[::2]:
        with store.write() as tx:
            tx.memories.purge("v", [memory.id])
    for memory in memories[1::4]:
        with store.write() as tx:
            tx.index.set_live("v", memory.id, False)
    thread.join()
    assert failures == []
    assert check(store) == 30


def test_an_index_of_a_model_without_vectors_is_dropped_once_a_newer_model_is_there(
    store: PostgresStore, desk: Desk
) -> None:
    memory = desk.add("one")
    old = desk.embed({memory.id: unit(1)}, "old")
    exists = Query("test.exists", "SELECT to_regclass(:name)::text")
    new = desk.embed({}, "new")
    store.tidy()
    with store.read() as tx:
        assert session_of(tx).one(exists, {"name": f"passage_vector_hnsw_{old}"}) != (None,)
    desk.embed({memory.id: unit(1)}, "new")
    store.tidy()
    with store.read() as tx:
        assert session_of(tx).one(exists, {"name": f"passage_vector_hnsw_{old}"}) == (None,)
        assert session_of(tx).one(exists, {"name": f"passage_vector_hnsw_{new}"}) != (None,)
    assert desk.nearest(desk.sight(), new, unit(1)) == [memory.id]
