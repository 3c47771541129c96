"""Short ways to put things into a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dolmen.domain.memory import Link, Memory
from dolmen.domain.proposal import Proposal
from dolmen.domain.text import analyze, content_key
from dolmen.domain.values import SECOND, Change
from dolmen.store.contract import Filter, Passage, Store, Tx

START = 1_700_000_000 * SECOND
DIM = 64


class Clock:
    """Time as the test says it."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def pass_(self, seconds: int = 1) -> int:
        """Moves on and returns the new time."""
        self.now += seconds * SECOND
        return self.now


def unit(seed: int, dim: int = DIM) -> NDArray[np.float32]:
    """A vector of length 1, the same for the same seed, pointing anywhere."""
    vector = np.random.default_rng(seed).normal(size=dim).astype(np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


def near(vector: NDArray[np.float32], seed: int, apart: float = 0.3) -> NDArray[np.float32]:
    """A vector of length 1 close to another."""
    moved = vector + apart * unit(seed, len(vector))
    return (moved / np.linalg.norm(moved)).astype(np.float32)


@dataclass
class Desk:
    """A store with two vaults, `v` and `w`, and its clock."""

    store: Store
    clock: Clock

    def memory(self, text: str, **fields: Any) -> Memory:
        """A memory that is not stored."""
        with self.store.read() as tx:
            id = tx.new_id()
        made = Memory(id=id, vault="v", scope="user", kind="fact", text=text)
        return replace(made, **{"created_at": self.clock.now, "updated_at": self.clock.now} | fields)

    def add(self, text: str, **fields: Any) -> Memory:
        """Stores a memory and indexes it as one passage."""
        memory = self.memory(text, **fields)
        with self.store.write() as tx:
            assert add(tx, memory)
        return memory

    def known(self, *ids: str, vault: str = "v") -> None:
        """Stores memories with these ids, for what belongs to one."""
        with self.store.write() as tx:
            for id in ids:
                tx.memories.add(self.memory(f"memory {id}", id=id, vault=vault), id)

    def change(self, memory: Memory, **fields: Any) -> Memory:
        """Changes it as the services do: the row, a revision, the index."""
        with self.store.write() as tx:
            return change(tx, memory, **fields)

    def sight(self, *scopes: str, **fields: Any) -> Filter:
        """Sees the given scopes of vault `v` (`user` when none is given)."""
        return Filter(**{"vault": "v", "scopes": scopes or ("user",), "now": self.clock.now} | fields)

    def ids(self, filter: Filter, **page: Any) -> list[str]:
        with self.store.read() as tx:
            return [memory.id for memory in tx.memories.select(filter, **page)]

    def found(self, filter: Filter, query: str, limit: int = 50) -> list[str]:
        """Memories that the text leg finds."""
        with self.store.read() as tx:
            return [hit.memory for hit in tx.index.match(filter, analyze(query, query=True), limit)]

    def embed(self, vectors: dict[str, NDArray[np.float32]], model: str = "m", dim: int = DIM) -> int:
        """Gives each memory's passages a vector; returns the model's number."""
        with self.store.write() as tx:
            number = tx.index.model(model, dim, self.clock.now)
            items = [
                (p.vault, (p.passage, vectors[p.memory]))
                for p in tx.index.pending(number, 1_000_000)
                if p.memory in vectors
            ]
            for vault in {vault for vault, _ in items}:
                tx.index.set_vectors(vault, number, [item for other, item in items if other == vault])
        return number

    def nearest(self, filter: Filter, model: int, query: NDArray[np.float32], limit: int = 50) -> list[str]:
        """Memories that the vector leg finds."""
        with self.store.read() as tx:
            return [hit.memory for hit in tx.index.nearest(filter, model, query, limit)]


def add(tx: Tx, memory: Memory) -> bool:
    if not tx.memories.add(memory, content_key(memory.text)):
        return False
    tx.index.put(memory.vault, [passage(memory, tx.now)])
    return True


def passage(memory: Memory, at: int) -> Passage:
    return Passage(
        memory=memory.id,
        scope=memory.scope,
        audience=memory.audience,
        ord=0,
        start=0,
        end=len(memory.text),
        tokens=tuple(analyze(memory.text)),
        live=memory.status == "active",
        valid_from=at,
    )


def change(tx: Tx, before: Memory, **fields: Any) -> Memory:
    after = before.with_(**{"version": before.version + 1, "updated_at": tx.now} | fields)
    tx.memories.update(before, after, by(tx.now), content_key(after.text))
    if after.text != before.text:
        tx.index.retire(after.vault, after.id, tx.now)
        tx.index.put(after.vault, [passage(after, tx.now)])
    elif after.status != before.status:
        tx.index.set_live(after.vault, after.id, after.status == "active")
    return after


def by(at: int, op: str = "amend") -> Change:
    return Change(at=at, op=op, agent="claude-code", person="o", connection="c", reason="as asked")


def link(source: str, target: str, rel: str = "supports", **fields: Any) -> Link:
    return Link(**{"source": source, "rel": rel, "target": target, "created_at": START, "agent": "codex"} | fields)


def proposal(id: str, **fields: Any) -> Proposal:
    return Proposal(**{"id": id, "vault": "v", "op": "amend", "memory": None, "base_version": None} | fields)


def texts(memories: Sequence[Memory]) -> list[str]:
    return [memory.text for memory in memories]
