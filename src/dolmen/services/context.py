"""What to know before a task: preferences, the handoff, recent sessions, the project, and what the task is about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from dolmen.domain.access import require
from dolmen.domain.memory import HANDOFF, KINDS, SUMMARY, Kind, Memory
from dolmen.domain.packing import CLAIM_OVERHEAD, clamp, cost, excerpt
from dolmen.domain.values import USER_SCOPE, Actor
from dolmen.services.claims import price as pricing
from dolmen.services.claims import quoted
from dolmen.services.requests import Brief, Claim, ContextRequest, HandoffView
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import only, scope_for, visible
from dolmen.services.search import prepare, search
from dolmen.services.sessions import handoffs, view
from dolmen.store.contract import Tx

RECENT, RECENT_CHARACTERS = 3, 800
_EACH = 50
_RELEVANT = 15
_PROJECT_KINDS: tuple[Kind, ...] = tuple(k for k in KINDS if k not in ("preference", "episode", "state"))


class _Purse:
    """The budget of one brief, spent section by section; each memory is bought once."""

    def __init__(self, budget: int) -> None:
        self.left = budget
        self.used = 0
        self.dropped = 0
        self.seen: set[str] = set()

    def buy(
        self, memories: Iterable[Memory], limit: int = 0, scores: dict[str, float] | None = None
    ) -> tuple[Claim, ...]:
        bought = []
        for memory in memories:
            if memory.id in self.seen:
                continue
            claim = claim_of(memory, limit, (scores or {}).get(memory.id, 0.0))
            price = pricing(claim)
            if price > self.left:
                self.dropped += 1
                continue
            self.left -= price
            self.used += price
            self.seen.add(memory.id)
            bought.append(claim)
        return tuple(bought)


def context(rt: Runtime, actor: Actor, request: ContextRequest) -> Brief:
    """Everything relevant at the start of a task, within a budget (C-194), in order of priority.

    Only what a person confirmed is among the preferences; everything else is reference data.
    """
    require(actor, "read")
    query = prepare(rt, request.task) if request.task.strip() else None
    purse = _Purse(clamp(request.budget_tokens))
    with rt.store.read() as tx:
        scope = scope_for(tx, actor, request.project)
        sight = visible(tx, actor, request.project)
        preferences = tx.memories.select(replace(sight, kinds=("preference",)), "importance", _EACH)
        brief = Brief(scope, preferences=purse.buy(m for m in preferences if m.trust == "user"))
        brief = replace(brief, handoff=_handoff(tx, actor, scope, purse))
        summaries = only(tx, actor, scope, kinds=("episode",), labels=(SUMMARY,))
        brief = replace(brief, recent=purse.buy(tx.memories.select(summaries, limit=RECENT), RECENT_CHARACTERS))
        if query is not None:
            # Searched before the project's list is bought, so that the task's own answers are not crowded out by it.
            result = search(tx, sight, query, limit=_RELEVANT)
            scores = {f.memory: round(f.score, 4) for f in result.found}
            brief = replace(brief, relevant=purse.buy((result.memories[f.memory] for f in result.found), 0, scores))
        if scope != USER_SCOPE:
            listed = tx.memories.select(only(tx, actor, scope, kinds=_PROJECT_KINDS), "importance", _EACH)
            brief = replace(brief, project=purse.buy(_stale_last(m for m in listed if m.label != HANDOFF)))
    notes = query.notes if query else ()
    return replace(
        brief,
        truncated=purse.dropped > 0,
        dropped=purse.dropped,
        used_tokens=purse.used,
        partial=purse.dropped > 0 or bool(notes),
        notes=notes,
    )


def _handoff(tx: Tx, actor: Actor, scope: str, purse: _Purse) -> HandoffView | None:
    """The latest handoff that nobody has resumed (C-194)."""
    waiting = [m for m in handoffs(tx, actor, scope) if not m.attrs.get("resumed_by")]
    if not waiting:
        return None
    shown = view(waiting[0], "unchanged")
    price = CLAIM_OVERHEAD + cost(shown.summary, *shown.next_steps)
    if price > purse.left:
        purse.dropped += 1
        return None
    purse.left -= price
    purse.used += price
    purse.seen.add(shown.ref)
    return shown


def _stale_last(memories: Iterable[Memory]) -> Sequence[Memory]:
    return sorted(memories, key=lambda m: m.verification == "stale" or "code" in m.attrs)


def claim_of(memory: Memory, limit: int = 0, score: float = 0.0) -> Claim:
    """A memory as a line of a brief: whole when it is short, its beginning when it is long."""
    start, end = excerpt(memory.text, 0, min(len(memory.text), limit or len(memory.text)), limit or 1_500)
    return quoted(memory, start, end, score)
