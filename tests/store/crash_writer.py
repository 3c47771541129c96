"""A process that writes until it is killed: `python -m tests.store.crash_writer URL NAME`.

Each change is announced on standard output before it is made (`try`) and acknowledged after its commit (`done`), both
as one JSON line: `{"say", "id", "version", "status", "text"}`; `version` 0 says that the memory was purged. Lines reach
the reader even when the process dies right after them: they are written to the pipe at once.
"""

from __future__ import annotations

import json
import os
import random
import sys

from dolmen.domain.memory import Memory
from dolmen.store.contract import Store, Tx
from dolmen.store.opening import open_store
from tests.contract.given import add, change, unit

SCOPES = ("user", "project:a", "project:b")


def say(word: str, memory: Memory, version: int) -> None:
    line = {"say": word, "id": memory.id, "version": version, "status": memory.status, "text": memory.text}
    os.write(1, (json.dumps(line) + "\n").encode())


def embed(tx: Tx, memory: Memory) -> None:
    model = tx.index.model("m", 64, tx.now)
    items = [(p.passage, unit(p.passage)) for p in tx.index.pending(model, 64) if p.memory == memory.id]
    tx.index.set_vectors(memory.vault, model, items)


def remember(store: Store, name: str, n: int) -> Memory:
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
        say("try", memory, 1)
        assert add(tx, memory)
        embed(tx, memory)
    say("done", memory, 1)
    return memory


def edit(store: Store, memory: Memory, **fields: object) -> Memory:
    with store.write() as tx:
        say("try", memory.with_(**fields), memory.version + 1)
        after = change(tx, memory, **fields)
        embed(tx, after)
    say("done", after, after.version)
    return after


def purge(store: Store, memory: Memory) -> None:
    with store.write() as tx:
        say("try", memory, 0)
        tx.memories.purge("v", [memory.id])
    say("done", memory, 0)


def main(url: str, name: str) -> None:
    store, chance = open_store(url), random.Random(name)
    mine: list[Memory] = []
    n = 0
    while True:
        n += 1
        step = chance.random()
        if step < 0.5 or not mine:
            mine.append(remember(store, name, n))
        elif step < 0.7:
            mine.append(edit(store, mine.pop(chance.randrange(len(mine))), text=f"stork {name} number {n}"))
        elif step < 0.85:
            memory = mine.pop(chance.randrange(len(mine)))
            mine.append(edit(store, memory, status="active" if memory.status == "deleted" else "deleted"))
        elif step < 0.95:
            purge(store, mine.pop(chance.randrange(len(mine))))
        else:
            store.tidy()


if __name__ == "__main__":
    main(*sys.argv[1:])
