"""Memories by their facts, page by page, for people at the command line and the web page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Kind, Memory, Status
from dolmen.domain.values import Actor
from dolmen.services.code.views import become
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import visible
from dolmen.store.contract import Order

LIMIT = 1000
SHORTEST_PART = 4
"""The fewest characters of an id that may stand for it."""
_ID_LENGTH = 36
_MOST_NAMED = 5
_SHOWN = 40


@dataclass(frozen=True, slots=True)
class ListRequest:
    project: str | None = None
    """`*` for every project."""
    statuses: tuple[Status, ...] = ("active",)
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    folder: str | None = None
    since: int | None = None
    until: int | None = None
    order: Order = "newest"
    limit: int = 20
    cursor: str | None = None
    stale: bool = False
    """Only those whose code has changed or is gone."""


@dataclass(frozen=True, slots=True)
class MemoryPage:
    memories: tuple[Memory, ...]
    cursor: str | None
    """Give it back for the next page; None at the end."""
    code: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For a page of stale ones: what has become of the code of each."""


def memories(rt: Runtime, actor: Actor, request: ListRequest) -> MemoryPage:
    """Whole memories in an order of their facts, not by relevance.

    Raises:
        DolmenError: `invalid-argument` for a limit that is out of range; `forbidden` for an agent that asks for what
            is not served.
    """
    require(actor, "read")
    if request.statuses != ("active",) and not actor.human:
        require(actor, "admin")
    if not 1 <= request.limit <= LIMIT:
        raise DolmenError("invalid-argument", f"limit {request.limit} is out of range.", f"Use 1 to {LIMIT}.")
    with rt.read(actor) as tx:
        sight = visible(
            tx,
            actor,
            request.project,
            statuses=request.statuses,
            kinds=request.kinds,
            tags=request.tags,
            folder=request.folder,
            since=request.since,
            until=request.until,
            include_expired=request.statuses != ("active",),
            stale=request.stale,
        )
        found = tx.memories.select(sight, request.order, request.limit + 1, request.cursor)
        shown = tuple(found[: request.limit])
        code = {memory.id: become(tx, memory) for memory in shown} if request.stale else {}
    return MemoryPage(shown, shown[-1].id if len(found) > request.limit else None, code)


def full_ref(rt: Runtime, actor: Actor, part: str) -> str:
    """The id that a person means by its first or last characters.

    Raises:
        DolmenError: `invalid-argument` for under four characters, or when several memories match; `not-found`.
    """
    require(actor, "read")
    ref = part.strip().removeprefix("dolmen://memory/").strip("…").lower()
    if len(ref) >= _ID_LENGTH:
        return ref
    if len(ref) < SHORTEST_PART or not set(ref) <= set("0123456789abcdef-"):
        note = " Notes go by their address with `dolmen note`." if "/" in part else ""
        raise DolmenError(
            "invalid-argument",
            f"{part!r} is no ref.",
            f"Give an id, or at least {SHORTEST_PART} characters of its start or end (`dolmen memory list`).{note}",
        )
    with rt.read(actor) as tx:
        found = sorted(tx.memories.matching(actor.vault, ref, _MOST_NAMED + 1))
        texts = tx.memories.many(actor.vault, found[:_MOST_NAMED]) if len(found) > 1 else {}
    if not found:
        raise DolmenError("not-found", f"No memory has an id like {part!r}.", "Look it up with `dolmen memory list`.")
    if len(found) > 1:
        more = ", and more" if len(found) > _MOST_NAMED else ""
        from dolmen.services.reading import title_of

        named = "; ".join(f"{id} ({title_of(texts[id])[:_SHOWN]})" for id in found[:_MOST_NAMED] if id in texts)
        raise DolmenError(
            "invalid-argument",
            f"{part!r} fits several memories: {named}{more}.",
            "Give more characters; the last ones differ most.",
            candidates=found[:_MOST_NAMED],
        )
    return found[0]
