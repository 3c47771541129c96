"""The kenfold tools over a real store on each engine, and agents that call them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from dolmen.domain.memory import Memory
from dolmen.interfaces.mcp.registry import face
from dolmen.models.e5 import e5_embedder
from dolmen.services import review
from tests.interfaces.agents import ToolAgent
from tests.services.conftest import close_house, open_house

REPO = "https://github.com/Org/Repo.git"
SCOPE = "project:github.com/org/repo"

KENFOLD = face("kenfold")


@dataclass(frozen=True)
class Agent(ToolAgent):
    """One agent at the kenfold tools."""

    face = KENFOLD

    def remember(self, content: str, **args: Any) -> str:
        """The id of a new memory."""
        stored = self.do("remember", content=content, **args)
        assert stored["deduplicated"] is False, stored
        id: str = stored["id"]
        return id

    def recalled(self, query: str, **args: Any) -> list[str]:
        """What a recall finds, by content."""
        return [memory["content"] for memory in self.do("recall", query=query, **args)["memories"]]

    def as_(self, **changes: Any) -> Agent:
        return replace(self, actor=replace(self.actor, **changes))

    def with_runtime(self, **changes: Any) -> Agent:
        """The same agent at a server that was set up otherwise, on the same store."""
        return replace(self, house=replace(self.house, rt=replace(self.house.rt, **changes)))

    def stored(self, id: str) -> Memory:
        with self.house.rt.store.read() as tx:
            memory = tx.memories.get(self.actor.vault, id)
        assert memory is not None
        return memory

    def approve(self, id: str) -> None:
        """What the owner does with `dolmen review`."""
        [item] = [one for one in review.pending(self.house.rt, self.house.owner) if one.ref == id]
        review.apply(self.house.rt, self.house.owner, item.id)


@pytest.fixture
def claude(engine_url: str) -> Iterator[Agent]:
    """An agent with write access; without a model, so recall goes by words."""
    house = open_house(engine_url)
    yield Agent(house, replace(house.agent, toolset="kenfold"))
    close_house(house)


@pytest.fixture
def knowing(engine_url: str) -> Iterator[Agent]:
    """The same with the embedded model."""
    embedder = e5_embedder()
    embedder.embed_query("loaded")
    house = open_house(engine_url, embedder)
    yield Agent(house, replace(house.agent, toolset="kenfold"))
    close_house(house)
    embedder.close()
