"""The example: what three agents learned about an invented parcel service, in English and Korean (`story.json`)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from dolmen.domain.values import DAY

if TYPE_CHECKING:
    from dolmen.domain.memory import Memory
    from dolmen.domain.values import Actor
    from dolmen.services.requests import NewMemory
    from dolmen.services.runtime import Runtime

PROJECT = "dolmen-demo"
SOURCE = "dolmen demo"

_WORDS: dict[str, Any] = json.loads(files(__package__).joinpath("story.json").read_text(encoding="utf-8"))
QUESTIONS: tuple[str, ...] = tuple(_WORDS["questions"])

Said = Mapping[str, Any]
"""`{kind, days (ago), agent, title, tags, text}`."""


def load(rt: Runtime, owner: Actor) -> int:
    """Stores the story, as if the agents had told it over two months; again without harm. Returns how many memories."""
    from dolmen.services.remember import remember
    from dolmen.services.requests import Handoff
    from dolmen.services.sessions import handoff

    with rt.store.read() as tx:
        now = tx.now
    for agent in sorted({said["agent"] for said in _WORDS["said"]}):
        items = [_item(said, now) for said in _WORDS["said"] if said["agent"] == agent]
        remember(rt, _agent(owner, agent), items)
    replaced, replacement, wish, left = (_WORDS[name] for name in ("replaced", "replacement", "wish", "handoff"))
    if replaced["text"] in {memory.text for memory in _kept(rt, owner)}:
        return len(refs(rt, owner))
    [old] = remember(rt, _agent(owner, replaced["agent"]), [_item(replaced, now)])
    if old.ref:
        remember(rt, _agent(owner, replacement["agent"]), [_item(replacement, now, supersedes=(old.ref,))])
        remember(rt, _agent(owner, wish["agent"], mode="suggest"), [_item(wish, now)])
        handoff(rt, _agent(owner, left["agent"]), Handoff(left["summary"], tuple(left["next_steps"]), PROJECT))
    return len(refs(rt, owner))


def _agent(owner: Actor, agent: str, mode: str = "write") -> Actor:
    return replace(owner, agent=agent, mode=mode, human=False)  # type: ignore[arg-type]  # one of MODES


def _item(said: Said, now: int, supersedes: tuple[str, ...] = ()) -> NewMemory:
    from dolmen.services.requests import NewMemory

    return NewMemory(
        content=said["text"],
        kind=said["kind"],
        project=PROJECT,
        title=said.get("title", ""),
        tags=tuple(said.get("tags", ())),
        source=SOURCE,
        supersedes=supersedes,
        created_at=now - said["days"] * DAY,
    )


def refs(rt: Runtime, owner: Actor) -> list[str]:
    """Every memory of the example's project, whatever its state."""
    return [memory.id for memory in _kept(rt, owner)]


def _kept(rt: Runtime, owner: Actor) -> list[Memory]:
    from dolmen.domain.identity import scope_of
    from dolmen.domain.memory import STATUSES
    from dolmen.services.listing import ListRequest, memories

    found: list[Memory] = []
    cursor: str | None = None
    while True:
        page = memories(
            rt, owner, ListRequest(project=PROJECT, statuses=STATUSES, limit=1000, cursor=cursor, order="oldest")
        )
        found += [memory for memory in page.memories if memory.scope == scope_of(PROJECT)]
        if (cursor := page.cursor) is None:
            return found


def purge(rt: Runtime, owner: Actor, refs: Sequence[str]) -> None:
    """Destroys the example."""
    from dolmen.services.forget import forget
    from dolmen.services.requests import Forget

    forget(rt, owner, Forget(refs=tuple(refs), mode="purge", reason="end of the demo"))
