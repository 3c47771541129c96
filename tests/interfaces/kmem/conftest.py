"""The kmem tools over a real store on each engine, and agents that call them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

from dolmen.interfaces.mcp.registry import face
from dolmen.models.contract import Embedder
from dolmen.models.e5 import e5_embedder
from dolmen.services import review
from dolmen.services.notes.marking import verify_claims
from dolmen.services.policy import set_policy
from tests.interfaces.agents import ToolAgent
from tests.services.conftest import close_house, open_house

KMEM = face("kmem")


@dataclass(frozen=True)
class Agent(ToolAgent):
    """One agent at the kmem tools."""

    face = KMEM

    def note(self, content: str, kind: str = "note", **args: Any) -> str:
        """The permalink of a new note."""
        stored = self.do("remember", content=content, kind=kind, **args)
        assert stored["outcome"] == "created", stored
        permalink: str = stored["permalink"]
        return permalink

    def read(self, ref: str, **args: Any) -> dict[str, Any]:
        return self.do("read", ref=ref, **args)

    def block(self, ref: str, words: str) -> str:
        """The ref of the one block that says this."""
        [found] = [b["ref"] for b in self.read(ref)["blocks"] if words in self.read(b["ref"])["text"]]
        return str(found)

    def claims(self, query: str, **args: Any) -> list[dict[str, Any]]:
        claims: list[dict[str, Any]] = self.do("recall", query=query, **args)["claims"]
        return claims

    def as_(self, **changes: Any) -> Agent:
        return replace(self, actor=replace(self.actor, **changes))

    def set(self, name: str, value: str) -> None:
        """What the owner does with `dolmen settings`."""
        set_policy(self.house.rt, self.house.owner, name, value)

    def approve(self, proposal: str, **args: Any) -> None:
        """What the owner does with `dolmen review`."""
        review.apply(self.house.rt, self.house.owner, proposal.removeprefix("prop_"), **args)

    def person_verifies(self, ref: str) -> None:
        verify_claims(self.house.rt, self.house.owner, [ref], "verified")


@pytest.fixture
def agent(engine_url: str) -> Iterator[Agent]:
    """An agent in mode write; without a model, so recall goes by words."""
    house = open_house(engine_url)
    yield Agent(house, replace(house.agent, toolset="kmem"))
    close_house(house)


@pytest.fixture(scope="session")
def model() -> Iterator[Embedder]:
    embedder = e5_embedder()
    embedder.embed_query("loaded")
    yield embedder
    embedder.close()


@pytest.fixture
def knowing(engine_url: str, model: Embedder) -> Iterator[Agent]:
    """The same with the embedded model."""
    house = open_house(engine_url, model)
    yield Agent(house, replace(house.agent, toolset="kmem"))
    close_house(house)
