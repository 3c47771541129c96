"""Between sessions: leave unfinished work for the next agent, pick it up, keep what a session taught."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from dolmen.domain.access import decide, require
from dolmen.domain.audience import written_by
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import HANDOFF, HANDOFF_TTL, HANDOFF_TTL_LIMIT, SUMMARY, Case, Kind, Memory
from dolmen.domain.text import clean, content_key
from dolmen.domain.values import SECOND, Actor
from dolmen.services.bounds import require_room
from dolmen.services.checking import checked, replacements
from dolmen.services.indexing import NOTHING, Embedded, embed
from dolmen.services.recording import audit, revise
from dolmen.services.remember import noted, store_one, supersede
from dolmen.services.requests import Handoff, HandoffView, NewMemory, Outcome, Reflected, Reflection, Remembered
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import only, scope_for
from dolmen.store.contract import Tx

STEPS_LIMIT, STEP_LIMIT = 20, 1_000
REFLECT_LIMIT = 50
_ABOUT = 60 * SECOND
"""A handoff left again within this time of the first is a retry."""


# -------------------------------------------------------------------------------------------------------------- handoff
def handoff(rt: Runtime, actor: Actor, request: Handoff) -> HandoffView:
    """Leaves a note so that another agent or session can go on (C-202). One is active per project: the new one
    supersedes the one before.

    Raises:
        DolmenError: `secret-detected`, `too-large`, `invalid-argument`.
    """
    require(actor, "write")
    steps = _steps(request.next_steps)
    notes = replacements(request)
    ttl = HANDOFF_TTL // SECOND if request.ttl_seconds is None else request.ttl_seconds
    if not 0 < ttl * SECOND <= HANDOFF_TTL_LIMIT:
        raise DolmenError("invalid-argument", f"ttl_seconds {ttl} is out of range.", "Use 1 second to 30 days.")
    item = checked(
        NewMemory(
            content=request.summary,
            kind="state",
            label=HANDOFF,
            project=request.project,
            ttl_seconds=ttl,
            attrs={"next_steps": list(steps)},
        )
    )
    [embedded] = embed(rt.embedder, [item.content], rt.options.inline_embeddings)
    with rt.write(actor) as tx:
        scope = scope_for(tx, actor, request.project)
        audience = written_by(actor)
        tx.scopes.lock(actor.vault, scope, audience)  # of two at once, the second finds the first
        before = [each for each in handoffs(tx, actor, scope) if each.audience == audience]
        if (same := _same(before, item)) is not None:
            return view(_prolonged(tx, actor, same, ttl), "duplicate", notes=notes)
        if decide(actor, "state")[0] == "apply":
            twin = tx.memories.by_content(actor.vault, scope, HANDOFF, "state", content_key(item.content), audience)
            fresh = twin.id if twin is not None and twin.status == "proposed" else tx.new_id()
            for old in before:
                supersede(tx, actor, old, fresh)
            item = replace(item, id=fresh, replaced=before[0].id if before else None)
        require_room(tx, actor)
        result = store_one(rt, tx, actor, item, embedded, origin="handoff")
        if result.memory is None:
            raise DolmenError("internal", "The handoff was not stored.", "Try again.")
        replaced = before[0].id if before else None
        return view(result.memory, result.outcome, replaced, result.proposal, notes)


def _same(before: Sequence[Memory], item: NewMemory) -> Memory | None:
    """The handoff that says the same and that nobody has picked up: a retry, not a new state of the work."""
    steps = item.attrs["next_steps"]
    waiting = (m for m in before if not m.attrs.get("resumed_by"))
    return next((m for m in waiting if m.text == item.content and m.attrs.get("next_steps", []) == steps), None)


def _prolonged(tx: Tx, actor: Actor, memory: Memory, ttl: int) -> Memory:
    """With the time that was asked for now, unless that is about the same or the writer has to wait."""
    expires = tx.now + ttl * SECOND
    if abs(expires - (memory.expires_at or 0)) < _ABOUT or decide(actor, memory.kind)[0] == "queue":
        return memory
    return revise(tx, actor, memory, "amend", "left again", expires_at=expires)


def resume(rt: Runtime, actor: Actor, project: str | None = None) -> HandoffView | None:
    """The latest unexpired handoff; the first call records who resumed it and when (C-203).

    A connection whose writes wait reads it and leaves no mark.
    """
    require(actor, "write")
    with rt.write(actor) as tx:
        scope = scope_for(tx, actor, project)
        if waiting := handoffs(tx, actor, scope):
            tx.scopes.lock(actor.vault, scope, waiting[0].audience)
        found = handoffs(tx, actor, scope)
        if not found:
            return None
        latest = found[0]
        if "resumed_by" not in latest.attrs and decide(actor, latest.kind)[0] == "apply":
            attrs = {**latest.attrs, "resumed_by": actor.agent, "resumed_at": tx.now}
            tx.memories.note(actor.vault, latest.id, attrs)
            latest = latest.with_(attrs=attrs)
            audit(tx, actor, "resume", latest.id)
        return view(latest, "unchanged")


def handoffs(tx: Tx, actor: Actor, scope: str) -> list[Memory]:
    """Active, unexpired handoffs of a scope, newest first."""
    return tx.memories.select(only(tx, actor, scope, kinds=("state",), labels=(HANDOFF,)), limit=10)


def view(
    memory: Memory,
    outcome: Outcome,
    superseded: str | None = None,
    proposal: str | None = None,
    notes: tuple[str, ...] = (),
) -> HandoffView:
    """A handoff as it is shown."""
    return HandoffView(
        ref=memory.id,
        summary=memory.text,
        next_steps=tuple(memory.attrs.get("next_steps", ())),
        scope=memory.scope,
        agent=memory.agent,
        created_at=memory.created_at,
        expires_at=memory.expires_at,
        resumed_by=memory.attrs.get("resumed_by", ""),
        resumed_at=memory.attrs.get("resumed_at"),
        outcome=outcome,
        superseded=superseded,
        proposal=proposal,
        notes=notes,
        memory=memory,
    )


def _steps(steps: Sequence[str]) -> tuple[str, ...]:
    kept = tuple(s for step in steps if (s := clean(step)[0].strip()))
    if len(kept) > STEPS_LIMIT or any(len(step) > STEP_LIMIT for step in kept):
        raise DolmenError(
            "too-large", "The next steps are too many or too long.", "Use at most 20 steps of 1,000 characters each."
        )
    return kept


# -------------------------------------------------------------------------------------------------------------- reflect
def reflect(rt: Runtime, actor: Actor, request: Reflection) -> Reflected:
    """Keeps what a session taught: each item becomes a memory of its own, each failing alone (C-204).

    The summary (or the narrative) becomes an `episode`; with a session id it supersedes the earlier summary of the same
    agent and session, so that each session keeps one (C-123).
    """
    require(actor, "write")
    parts = _parts(request)
    if len(parts) > REFLECT_LIMIT:
        raise DolmenError("too-large", f"{len(parts)} items.", f"Reflect on at most {REFLECT_LIMIT} at once.")
    prepared = [(name, _checked(item), replacements(item)) for name, item in parts]
    texts = [item.content for _, item, _ in prepared if isinstance(item, NewMemory)]
    vectors = iter(embed(rt.embedder, texts, rt.options.inline_embeddings))
    results: list[Remembered] = []
    breakdown: Counter[str] = Counter()
    with rt.write(actor) as tx:
        require_room(tx, actor, len(parts))
        for name, item, notes in prepared:
            result = item if isinstance(item, Remembered) else _keep(rt, tx, actor, item, next(vectors, NOTHING))
            results.append(noted(result, notes))
            breakdown[name] += result.outcome in ("stored", "proposed")
    return Reflected(tuple(results), dict(breakdown))


def _checked(item: NewMemory) -> NewMemory | Remembered:
    try:
        return checked(item)
    except DolmenError as error:
        return Remembered("failed", error=error.as_dict())


def _keep(rt: Runtime, tx: Tx, actor: Actor, item: NewMemory, embedded: Embedded) -> Remembered:
    return store_one(rt, tx, actor, item, embedded, origin="reflect")


def _parts(request: Reflection) -> list[tuple[str, NewMemory]]:
    story = request.narrative.strip() or request.summary.strip()
    parts: list[tuple[str, NewMemory]] = []

    def add(name: str, kind: Kind, texts: Sequence[str], label: str = "", case: Case | None = None) -> None:
        for text in texts:
            if text.strip():
                item = NewMemory(content=text, kind=kind, label=label, project=request.project, case=case)
                parts.append((name, item))

    case = Case("", outcome=request.outcome) if request.outcome else None
    add("summary", "episode", [story], SUMMARY, case)
    if request.narrative.strip() and request.summary.strip() and request.summary.strip() != story:
        add("summary", "fact", [request.summary])
    add("decisions", "decision", request.decisions)
    add("errors_resolved", "error", request.errors_resolved)
    add("procedures", "procedure", request.procedures)
    add("open_questions", "state", request.open_questions, "open-question")
    return parts
