"""What other processes do to a store in the tests: real processes, each with its own `open_store`."""

from __future__ import annotations

import time
from collections.abc import Sequence

from dolmen.domain.memory import Memory
from dolmen.domain.text import analyze
from dolmen.store.contract import Filter
from dolmen.store.opening import open_store
from tests.contract.given import START, add, unit

SCOPES = ("user", "project:a", "project:b")


def open_once(url: str) -> tuple[float, int]:
    """Opens, reads, closes: (seconds, schema)."""
    began = time.monotonic()
    store = open_store(url)
    store.ping()
    schema = store.info().schema
    store.close()
    return time.monotonic() - began, schema


def write_many(url: str, name: str, number: int, vectors: bool = False) -> list[str]:
    """Stores `number` memories one by one, and one that every process tries to store; returns their ids."""
    store = open_store(url)
    written = []
    for n in range(number):
        with store.write() as tx:
            memory = Memory(
                id=tx.new_id(),
                vault="v",
                scope=SCOPES[n % 3],
                kind="fact",
                text=f"heron {name} number {n}",
                created_at=tx.now,
                updated_at=tx.now,
            )
            assert add(tx, memory)
            if vectors:
                model = tx.index.model("m", 64, tx.now)
                mine = [p.passage for p in tx.index.pending(model, 9) if p.memory == memory.id]
                tx.index.set_vectors("v", model, [(id, unit(id)) for id in mine])
            written.append(memory.id)
        with store.write() as tx:
            shared = Memory(id=tx.new_id(), vault="v", scope="user", kind="fact", text=f"shared {n}")
            if add(tx, shared):
                written.append(shared.id)
    store.close()
    return written


def read_until(url: str, total: int, seconds: float) -> int:
    """Reads in a loop until there are `total` memories; returns the rounds. Raises when it sees a wrong state."""
    store = open_store(url)
    sight = Filter("v", None, now=0)
    end, rounds, seen = time.monotonic() + seconds, 0, 0
    while seen < total and time.monotonic() < end:
        with store.read() as tx:
            number = tx.memories.count(sight)[""]
            assert number >= seen, "what was committed went away"
            assert tx.index.frequencies(sight, analyze("heron"), 10**6)[0] == number, "rows and index differ"
            seen, rounds = number, rounds + 1
    store.close()
    return rounds


def take_lease(url: str, owner: str) -> bool:
    store = open_store(url)
    with store.write() as tx:
        taken = tx.leases.take("job", owner, 0, 10)
    store.close()
    return taken


def nearest_ids(url: str, query: int, limit: int) -> Sequence[str]:
    store = open_store(url)
    with store.read() as tx:
        model = tx.index.find_model("m", 64)
        assert model is not None
        found = [hit.memory for hit in tx.index.nearest(Filter("v", None, now=0), model, unit(query), limit)]
    store.close()
    return found


def do_jobs(url: str, owner: str) -> list[str]:
    """Does every job of kind `extract` that is due; a moment after `given.START`, when old leases have run out."""
    store = open_store(url)
    done = []
    while True:
        with store.write() as tx:
            taken = tx.jobs.lease(("extract",), owner, START + 20, START + 10**9)
        if taken is None:
            break
        with store.write() as tx:
            assert tx.jobs.finish(taken, START + 30)
        done.append(taken.id)
    store.close()
    return done


def use_refresh(url: str, secret_hash: str) -> bool:
    store = open_store(url)
    with store.write() as tx:
        first = tx.oauth.use_refresh(secret_hash, START + 1)
    store.close()
    return first
