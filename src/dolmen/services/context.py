"""What to know before a task: preferences, the handoff, recent sessions, the project, and what the task is about."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from dolmen.domain.access import require
from dolmen.domain.memory import HANDOFF, SUMMARY, Memory
from dolmen.domain.packing import CLAIM_OVERHEAD, clamp, cost, excerpt
from dolmen.domain.values import USER_SCOPE, Actor
from dolmen.services.claims import price as pricing
from dolmen.services.claims import quoted
from dolmen.services.code.views import become, is_stale
from dolmen.services.requests import Brief, Claim, ContextRequest, HandoffView, Section
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import only, scope_for, visible
from dolmen.services.search import NOTHING, Result, answered, prepare, search
from dolmen.services.sessions import handoffs, view
from dolmen.store.contract import Filter, Tx

RECENT, RECENT_CHARACTERS = 3, 800
_SPARE = 50
"""Memories that a section looks at beyond those that could be paid for: some do not count, stale ones come last."""
_RELEVANT = 15


class _Purse:
    """The budget of one brief, spent section by section; each memory is bought once."""

    def __init__(self, budget: int) -> None:
        self.left = budget
        self.most = budget // CLAIM_OVERHEAD + _SPARE
        self.used = 0
        self.dropped = 0
        self.seen: set[str] = set()

    def pays(self, ref: str, price: int) -> bool:
        """Whether the memory is bought now; one that costs too much is counted."""
        if ref in self.seen:
            return False
        if price > self.left:
            self.dropped += 1
            return False
        self.left -= price
        self.used += price
        self.seen.add(ref)
        return True

    def buy(
        self, tx: Tx, memories: Iterable[Memory], limit: int | None, scores: Mapping[str, float] | None = None
    ) -> tuple[Claim, ...]:
        """What can be had of the memories, each cut to `limit` characters."""
        claims = (claim_of(tx, memory, limit, (scores or {}).get(memory.id, 0.0)) for memory in memories)
        return tuple(claim for claim in claims if self.pays(claim.ref, pricing(claim)))


def context(rt: Runtime, actor: Actor, request: ContextRequest) -> Brief:
    """Everything relevant at the start of a task, within a budget (C-194), in order of priority.

    Only what a person confirmed is among the preferences; everything else is reference data.
    """
    require(actor, "read")
    query = prepare(rt, request.task) if request.task.strip() else None
    purse = _Purse(clamp(request.budget_tokens))

    def first(tx: Tx) -> tuple[Filter, Result]:
        sight = visible(tx, actor, request.project)
        return sight, NOTHING if query is None else search(tx, sight, query, limit=_RELEVANT)

    def then(tx: Tx, sight: Filter, result: Result) -> Brief:
        scope = scope_for(tx, actor, request.project)
        filling: Mapping[Section, Callable[[], Any]] = {
            "preferences": lambda: _preferences(tx, actor, request, purse),
            "handoff": lambda: _handoff(tx, actor, scope, purse),
            "recent": lambda: _recent(tx, actor, scope, purse),
            "project": lambda: _project(tx, actor, scope, request, purse),
            "relevant": lambda: _relevant(tx, result, request, purse),
        }
        sections = {section: filling[section]() for section in request.priority}
        return Brief(
            scope,
            **sections,
            truncated=purse.dropped > 0,
            dropped=purse.dropped,
            used_tokens=purse.used,
            partial=purse.dropped > 0 or bool(result.notes),
            notes=result.notes,
        )

    return answered(rt, actor, query, first, then)


def _preferences(tx: Tx, actor: Actor, request: ContextRequest, purse: _Purse) -> tuple[Claim, ...]:
    sight = visible(tx, actor, request.project, kinds=("preference",))
    found = tx.memories.select(sight, "importance", purse.most)
    return purse.buy(tx, (m for m in found if m.trust == "user"), request.excerpt)


def _handoff(tx: Tx, actor: Actor, scope: str, purse: _Purse) -> HandoffView | None:
    """The latest handoff that nobody has resumed (C-194)."""
    waiting = [m for m in handoffs(tx, actor, scope) if not m.attrs.get("resumed_by")]
    if not waiting:
        return None
    shown = view(waiting[0], "unchanged")
    return shown if purse.pays(shown.ref, CLAIM_OVERHEAD + cost(shown.summary, *shown.next_steps)) else None


def _recent(tx: Tx, actor: Actor, scope: str, purse: _Purse) -> tuple[Claim, ...]:
    summaries = only(tx, actor, scope, kinds=("episode",), labels=(SUMMARY,))
    return purse.buy(tx, tx.memories.select(summaries, limit=RECENT), RECENT_CHARACTERS)


def _project(tx: Tx, actor: Actor, scope: str, request: ContextRequest, purse: _Purse) -> tuple[Claim, ...]:
    if scope == USER_SCOPE:
        return ()
    listed = tx.memories.select(only(tx, actor, scope, kinds=request.project_kinds), "importance", purse.most)
    return purse.buy(tx, _stale_last(m for m in listed if m.label != HANDOFF), request.excerpt)


def _relevant(tx: Tx, result: Result, request: ContextRequest, purse: _Purse) -> tuple[Claim, ...]:
    found = result.found[:_RELEVANT]
    scores = {each.memory: round(each.score, 4) for each in found}
    return purse.buy(tx, (result.memories[each.memory] for each in found), request.excerpt, scores)


def _stale_last(memories: Iterable[Memory]) -> Sequence[Memory]:
    return sorted(memories, key=lambda m: m.verification == "stale" or is_stale(m))


def claim_of(tx: Tx, memory: Memory, limit: int | None, score: float = 0.0) -> Claim:
    """A memory as a line of a brief: whole when it is short, its beginning when it is longer than `limit`."""
    length = len(memory.text)
    start, end = (0, length) if limit is None else excerpt(memory.text, 0, min(length, limit), limit)
    return quoted(memory, start, end, score, code=become(tx, memory))
