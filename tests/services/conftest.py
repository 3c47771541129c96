"""A house to work in: a real store on each engine, a clock that the test moves, and the people and agents in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from dolmen.domain.values import Actor
from dolmen.models.contract import Embedder
from dolmen.models.e5 import e5_embedder
from dolmen.services.journal import JournalBuffer
from dolmen.services.recall import recall
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory, Pack, Recall, Remembered
from dolmen.services.runtime import Runtime
from dolmen.store.opening import open_store

START = 1_790_000_000_000_000
"""A day in September 2026."""


@dataclass
class Clock:
    now: int = START

    def __call__(self) -> int:
        self.now += 1
        return self.now

    def advance(self, microseconds: int) -> None:
        self.now += microseconds


@dataclass
class House:
    """Everything that a test of a service needs."""

    rt: Runtime
    clock: Clock
    url: str
    owner: Actor
    agent: Actor

    def actor(self, **changes: object) -> Actor:
        return replace(self.agent, **changes)  # type: ignore[arg-type]  # fields of Actor, by name

    def remember(self, content: str, actor: Actor | None = None, **fields: object) -> Remembered:
        """Stores one memory and answers with what became of it."""
        item = NewMemory(content=content, **fields)  # type: ignore[arg-type]  # fields of NewMemory, by name
        [result] = remember(self.rt, actor or self.agent, [item])
        return result

    def stored(self, content: str, actor: Actor | None = None, **fields: object) -> str:
        """Stores one memory that must be new; returns its ref."""
        result = self.remember(content, actor, **fields)
        assert result.outcome == "stored", result
        assert result.ref is not None
        return result.ref

    def recall(self, query: str, actor: Actor | None = None, **fields: object) -> Pack:
        return recall(self.rt, actor or self.agent, Recall(query=query, **fields))  # type: ignore[arg-type]

    def refs(self, query: str, actor: Actor | None = None, **fields: object) -> list[str]:
        return [claim.ref for claim in self.recall(query, actor, **fields).claims]


def open_house(url: str, embedder: Embedder | None = None, clock: Clock | None = None) -> House:
    """A house over the store at that address, with its first vault."""
    clock = clock or Clock()
    store = open_store(url, clock=clock)
    with store.write() as tx:
        tx.accounts.add_vault("main", "Main", "owner", "Ada")
        tx.accounts.add_vault("other", "Other", "stranger", "Eve")
    owner = Actor("main", "owner", "cli", "admin", "local", human=True)
    agent = Actor("main", "owner", "claude-code", "write", "key-1")
    return House(Runtime(store, embedder, JournalBuffer(store)), clock, url, owner, agent)


def close_house(house: House) -> None:
    house.rt.journal.flush()
    house.rt.store.close()


@pytest.fixture
def house(engine_url: str) -> Iterator[House]:
    """Without a model: recall goes by words."""
    built = open_house(engine_url)
    yield built
    close_house(built)


@pytest.fixture(scope="session")
def e5() -> Iterator[Embedder]:
    embedder = e5_embedder()
    embedder.embed_query("loaded once for all tests")
    yield embedder
    embedder.close()


@pytest.fixture
def knowing_house(engine_url: str, e5: Embedder) -> Iterator[House]:
    """With the embedded model."""
    built = open_house(engine_url, e5)
    yield built
    close_house(built)
