"""Storing memories: one, or a batch whose items fail alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dolmen.domain.access import decide, require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import BATCH_LIMIT, DEFAULT_IMPORTANCE, SUMMARY, Kind, Link, Memory
from dolmen.domain.text import content_key
from dolmen.domain.values import SECOND, Actor
from dolmen.services import similarity
from dolmen.services.bounds import require_room
from dolmen.services.checking import checked, replacements
from dolmen.services.code.following import record
from dolmen.services.indexing import NOTHING, Embedded, embed, index
from dolmen.services.recording import audit, queue, revise
from dolmen.services.requests import NewMemory, Outcome, Remembered
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import existing, only, ref_id, scope_for
from dolmen.services.sharing import audience_of_new
from dolmen.store.contract import Tx


class _DryRun(Exception):
    """Rolls the transaction of a dry run back, with its answer."""

    def __init__(self, results: tuple[Remembered, ...]) -> None:
        self.results = results


def remember(rt: Runtime, actor: Actor, items: Sequence[NewMemory], *, dry_run: bool = False) -> tuple[Remembered, ...]:
    """Stores up to 200 memories; one answer per item, in their order (C-76, C-88).

    A refused item answers `failed` with its error and leaves the others alone. A dry run answers what would happen and
    stores nothing.

    Raises:
        DolmenError: `read-only`; `too-large` for more than 200 items; `invalid-argument` for none; `forbidden` for
            more than the connection may keep.
    """
    require(actor, "write")
    if not items:
        raise DolmenError("invalid-argument", "There is nothing to remember.", "Pass at least one memory.")
    if len(items) > BATCH_LIMIT:
        raise DolmenError(
            "too-large", f"{len(items)} memories in one call.", f"Send at most {BATCH_LIMIT}; call again for the rest."
        )
    prepared = [_prepare(item) for item in items]
    notes = [replacements(item) for item in items]
    good = [p.content for p in prepared if isinstance(p, NewMemory)]
    vectors = iter(embed(rt.embedder, good, rt.options.inline_embeddings))
    embedded = [next(vectors) if isinstance(p, NewMemory) else NOTHING for p in prepared]
    try:
        with rt.write(actor) as tx:
            require_room(tx, actor, len(good))
            results = tuple(
                noted(_attempt(rt, tx, actor, item, vector), note)
                for item, vector, note in zip(prepared, embedded, notes, strict=True)
            )
            if dry_run:
                raise _DryRun(results)
            return results
    except _DryRun as rehearsal:
        return tuple(_would(result) for result in rehearsal.results)


def _prepare(item: NewMemory) -> NewMemory | DolmenError:
    try:
        return checked(item)
    except DolmenError as error:
        return error


def _attempt(rt: Runtime, tx: Tx, actor: Actor, item: NewMemory | DolmenError, embedded: Embedded) -> Remembered:
    """One item; its refusal becomes its answer. Nothing is written before every check has passed."""
    if isinstance(item, DolmenError):
        return Remembered("failed", error=item.as_dict())
    try:
        return store_one(rt, tx, actor, item, embedded)
    except DolmenError as error:
        if error.code in ("store-busy", "unavailable", "internal"):
            raise
        return Remembered("failed", error=error.as_dict())


def noted(result: Remembered, notes: tuple[str, ...]) -> Remembered:
    """The result with what was changed on the way in, when anything was kept of it."""
    return result if result.outcome == "failed" else replace(result, notes=(*notes, *result.notes))


def _would(result: Remembered) -> Remembered:
    """A dry run names nothing that does not exist: only refs that were there before."""
    if result.outcome == "failed":
        return result
    kept = result.ref if result.outcome in ("duplicate", "unchanged") else None
    note = f"would be {result.outcome}"
    return replace(result, outcome="would", ref=kept, proposal=None, memory=None, notes=(*result.notes, note))


def store_one(
    rt: Runtime,
    tx: Tx,
    actor: Actor,
    item: NewMemory,
    embedded: Embedded = NOTHING,
    *,
    origin: str = "remember",
    waits: str = "",
) -> Remembered:
    """Stores one checked item in the caller's transaction.

    Args:
        waits: why it waits, if it does; empty for the reason that the actor's mode or the kind gives.

    Raises:
        DolmenError: what the item asks for cannot be; nothing was written for it then.
    """
    if item.key and (known := tx.keys.find(actor.vault, actor.connection, item.key)):
        return _retry(tx, actor, item, known)
    scope = scope_for(tx, actor, item.project)
    replaced = [_replaceable(tx, actor, ref, scope) for ref in dict.fromkeys(item.supersedes)]
    audience = audience_of_new(tx, actor, item, replaced)
    earlier = _earlier_summaries(tx, actor, item, scope, audience)
    replaced += [old for old in earlier if old.id not in {m.id for m in replaced}]
    memory = _memory(tx, actor, item, scope, audience, replaced)
    key = content_key(memory.text)
    if twin := _twin(tx, actor, memory, key, item.same):
        return _duplicate(tx, actor, item, twin, replaced)

    decision, because = decide(actor, memory.kind, *(old.kind for old in replaced))
    because = waits or because
    if decision == "queue":
        memory = replace(memory, status="proposed")
    if item.key and not tx.keys.put(actor.vault, actor.connection, item.key, memory.id, tx.now):
        return _retry(tx, actor, item, tx.keys.find(actor.vault, actor.connection, item.key) or memory.id)
    if not tx.memories.add(memory, key):
        twin = tx.memories.by_content(actor.vault, scope, memory.label, memory.kind, key, audience)
        if twin is None:
            raise DolmenError("conflict", "The same statement was just changed by another writer.", "Try again.")
        return _duplicate(tx, actor, item, twin, replaced)
    index(tx, memory, embedded)
    record(tx, memory)
    for link in item.links:
        tx.links.add(actor.vault, Link(memory.id, link.rel, ref_id(link.to), link.weight, tx.now, actor.agent))

    alike = similarity.similar(rt, tx, memory, embedded, leave_out={m.id for m in replaced})
    if decision == "queue":
        payload = {"supersedes": [m.id for m in replaced]}
        proposal = queue(tx, actor, "remember", because, memory, payload, targets=replaced)
        return replace(_answer(memory, "proposed"), similar=alike, proposal=proposal.id, because=because)
    for old in replaced:
        supersede(tx, actor, old, memory.id)
    audit(tx, actor, origin, memory.id)
    return replace(_answer(memory, "stored"), similar=alike, superseded=tuple(m.id for m in replaced))


def _retry(tx: Tx, actor: Actor, item: NewMemory, ref: str) -> Remembered:
    """The same call again gets the same memory (B152); another statement under its key is not lost in silence."""
    memory = existing(tx, actor, ref)
    original = next((revision.memory for revision in tx.memories.revisions(actor.vault, ref)), memory)
    if content_key(item.content) not in {content_key(memory.text), content_key(original.text)}:
        raise DolmenError(
            "conflict",
            f"The key was used before, for another statement: {ref}.",
            "Use a new key for a new statement, or `edit` that memory.",
            ref=ref,
        )
    return _answer(memory, "duplicate", idempotent=True)


def supersede(tx: Tx, actor: Actor, old: Memory, by: str, reason: str = "") -> Memory:
    """The old memory leaves ordinary reads and stays as history (C-122)."""
    return revise(tx, actor, old, "supersede", reason, status="superseded", superseded_by=by)


def _replaceable(tx: Tx, actor: Actor, ref: str, scope: str) -> Memory:
    old = existing(tx, actor, ref)
    if old.status != "active":
        newer = f" It was replaced by {old.superseded_by}." if old.superseded_by else ""
        fix = {
            "proposed": "It waits for a person. Remember the new statement by itself; both are then decided about.",
            "deleted": "Remember the new statement without supersedes.",
        }.get(old.status, "Supersede the active one.")
        raise DolmenError("gone", f"Memory {old.id} is {old.status} and cannot be superseded.{newer}", fix)
    if old.scope != scope:
        raise DolmenError(
            "conflict",
            f"Memory {old.id} is in scope {old.scope}, the new one in {scope}.",
            "A memory replaces one of the same scope: pass that scope's project.",
        )
    return old


def _earlier_summaries(tx: Tx, actor: Actor, item: NewMemory, scope: str, audience: str) -> list[Memory]:
    """A session keeps one summary: a new one replaces those of the same agent and session (C-123)."""
    session = item.session or actor.session
    if item.label != SUMMARY or not session:
        return []
    tx.scopes.lock(actor.vault, scope, audience)  # of two at once, the second finds the first
    earlier = only(tx, actor, scope, kinds=("episode",), labels=(SUMMARY,), session=session)
    found = tx.memories.select(earlier, limit=10)
    return [old for old in found if old.agent == actor.agent and old.audience == audience]


def _twin(tx: Tx, actor: Actor, memory: Memory, key: str, same: Sequence[Kind]) -> Memory | None:
    """The memory that says this already; one whose time is over makes room."""
    for kind in dict.fromkeys((memory.kind, *same)):
        twin = tx.memories.by_content(actor.vault, memory.scope, memory.label, kind, key, memory.audience)
        if twin is None:
            continue
        if twin.expires_at is None or twin.expires_at > tx.now:
            return twin
        revise(tx, actor, twin, "expire", status="deleted")
    return None


def _memory(tx: Tx, actor: Actor, item: NewMemory, scope: str, audience: str, replaced: Sequence[Memory]) -> Memory:
    kind: Kind = item.kind or (replaced[0].kind if replaced else "fact")
    label = item.label or (replaced[0].label if replaced and item.kind is None else "")
    made = tx.now if item.created_at is None else min(item.created_at, tx.now)
    return Memory(
        id=item.id or tx.new_id(),
        vault=actor.vault,
        scope=scope,
        audience=audience,
        kind=kind,
        label=label,
        text=item.content,
        trust="user" if actor.human else "agent",
        title=item.title,
        folder=item.folder,
        tags=item.tags,
        importance=DEFAULT_IMPORTANCE[kind] if item.importance is None else item.importance,
        pinned=item.pinned,
        agent=actor.agent,
        person=actor.person,
        connection=actor.connection,
        session=item.session or actor.session or "",
        source=item.source,
        case=item.case,
        attrs=item.attrs,
        created_at=made,
        updated_at=tx.now,
        expires_at=None if item.ttl_seconds is None else tx.now + item.ttl_seconds * SECOND,
        supersedes=replaced[0].id if replaced else item.replaced,
    )


def _duplicate(tx: Tx, actor: Actor, item: NewMemory, twin: Memory, replaced: Sequence[Memory]) -> Remembered:
    """The statement is already here (C-110). What it was to replace is replaced by the one that stands.

    One that only waited for a person holds from now on, when this writer may say it without waiting.
    """
    if item.key:
        tx.keys.put(actor.vault, actor.connection, item.key, twin.id, tx.now)
    others = [old for old in replaced if old.id != twin.id]
    done: list[str] = []
    if decide(actor, twin.kind, *(old.kind for old in others))[0] == "apply" and not _persons(tx, actor, twin):
        if twin.status == "proposed":
            twin = _activate(tx, actor, item, twin, others)
        done = [supersede(tx, actor, old, twin.id).id for old in others]
    return replace(_answer(twin, "duplicate"), superseded=tuple(done))


def _persons(tx: Tx, actor: Actor, twin: Memory) -> bool:
    """Whether it waits for a person because of what it is, such as extracted (C-275), and not because its writer may
    only suggest: no agent's word decides about it then."""
    if actor.human or twin.status != "proposed":
        return False
    return any(p.status == "pending" and p.because != "mode" for p in tx.proposals.for_memory(actor.vault, twin.id))


def _activate(tx: Tx, actor: Actor, item: NewMemory, twin: Memory, replaced: Sequence[Memory]) -> Memory:
    """What somebody proposed is said by one who may: it is served, and its proposal is done with."""
    said = f"said again by {'a person' if actor.human else actor.agent}"
    changes: dict[str, Any] = {"status": "active", "trust": "user" if actor.human else "agent"}
    if actor.human:
        changes |= {"verification": "verified", "verified_by": actor.person}
    if item.attrs:
        changes["attrs"] = {**twin.attrs, **item.attrs}
    if item.ttl_seconds is not None:
        changes["expires_at"] = tx.now + item.ttl_seconds * SECOND
    changes["supersedes"] = replaced[0].id if replaced else item.replaced
    active = revise(tx, actor, twin, "approve", said, **changes)
    for proposal in tx.proposals.for_memory(actor.vault, twin.id):
        if proposal.status == "pending" and proposal.op in ("remember", "handoff"):
            tx.proposals.decide(actor.vault, proposal.id, "applied", tx.now, actor.person or actor.agent, said)
            audit(tx, actor, "review:applied", proposal.id)
    return active


def _answer(memory: Memory, outcome: Outcome, *, idempotent: bool = False) -> Remembered:
    return Remembered(
        outcome=outcome,
        ref=memory.id,
        kind=memory.kind,
        scope=memory.scope,
        status=memory.status,
        deduplicated=outcome == "duplicate",
        idempotent=idempotent,
        memory=memory,
    )
