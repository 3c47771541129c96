"""Writes that wait for a person: list them, see them as a diff, apply or reject."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dolmen.domain.access import decide, require, require_decider
from dolmen.domain.errors import DolmenError, not_found
from dolmen.domain.memory import HANDOFF, KINDS, Case, Link, Memory
from dolmen.domain.proposal import Group, Proposal, ProposalStatus
from dolmen.domain.values import Actor
from dolmen.services import showing
from dolmen.services.checking import content_text
from dolmen.services.edit import EDITABLE, amend_in, checked_fields, earlier, restore_in, successor
from dolmen.services.forget import forget_in, scrub
from dolmen.services.indexing import NOTHING
from dolmen.services.notes import proposing
from dolmen.services.notes.marking import mark_in
from dolmen.services.notes.removing import applied
from dolmen.services.recording import audit, reason_text, refuse_secrets, revise
from dolmen.services.remember import store_one, supersede
from dolmen.services.requests import ReviewItem
from dolmen.services.runtime import Runtime
from dolmen.services.sessions import handoffs
from dolmen.services.similarity import similar
from dolmen.store.contract import Tx

REWORDABLE = frozenset({"remember", "handoff", "amend", "supersede"})
"""Proposals that store one text."""
_ALL = 10_000
_AS_TOLD = "prop_"
"""How ids of proposals begin for agents with kmem's tools, who tell them to people."""


def pending(
    rt: Runtime,
    actor: Actor,
    status: ProposalStatus | None = "pending",
    limit: int = 200,
    group: Group | None = None,
) -> list[ReviewItem]:
    """Proposals, oldest first, each with what it would change; agents see their own, people all."""
    require(actor, "read")
    with rt.read(actor) as tx:
        own = None if actor.human or actor.mode == "admin" else actor.connection
        found = tx.proposals.select(actor.vault, status, own, limit if group is None else _ALL)
        return [item(rt, tx, each) for each in found if group in (None, each.group)][:limit]


def named(rt: Runtime, actor: Actor, part: str) -> list[str]:
    """Ids of proposals, decided ones too, that start or end with `part`; agents see their own, people all."""
    require(actor, "read")
    with rt.read(actor) as tx:
        own = None if actor.human or actor.mode == "admin" else actor.connection
        found = tx.proposals.select(actor.vault, None, own, _ALL)
    part = part.removeprefix(_AS_TOLD)
    return [each.id for each in found if each.id.startswith(part) or each.id.endswith(part)]


def one(rt: Runtime, actor: Actor, id: str) -> ReviewItem:
    """One proposal, decided or not.

    Raises:
        DolmenError: `not-found`, also for that of somebody else.
    """
    require(actor, "read")
    with rt.read(actor) as tx:
        proposal = tx.proposals.get(actor.vault, id.removeprefix(_AS_TOLD))
        own = actor.human or actor.mode == "admin" or (proposal and proposal.connection == actor.connection)
        if proposal is None or not own:
            raise not_found("Proposal", id)
        return item(rt, tx, proposal)


def apply(
    rt: Runtime, actor: Actor, id: str, note: str = "", *, force: bool = False, text: str | None = None
) -> ReviewItem:
    """Does what was proposed; when a person agreed, the result is trusted as the user's.

    The history names both: the agent that proposed it as who changed the memory, and who agreed in the reason.

    Args:
        text: what to store instead of the proposed text (C-137); for proposals that store one text.

    Raises:
        DolmenError: `not-found`; `conflict` when it was decided already, or when the memory changed since the proposal
            and `force` is not set; `forbidden` for anybody but a person or an admin connection, and for an admin
            connection when it is about a preference.
    """
    require_decider(actor)
    note = reason_text(note)
    with rt.write(actor) as tx:
        proposal = _open(tx, actor, id)
        touched = showing.targets(tx, proposal)
        _decidable(tx, actor, proposal, touched)
        shown = item(rt, tx, proposal)
        if proposing.about_note(proposal):
            proposing.refuse_gone(tx, proposal)
        if (moved := showing.changed(tx, proposal, touched)) and not force:
            raise DolmenError(
                "conflict",
                f"{_named(proposal, moved)} changed since this was proposed.",
                "Look at it again, then apply with `force`, or reject it.",
            )
        purge = proposal.payload.get("mode") == "purge"
        if not purge:  # a purge takes its own proposal along
            _decide(tx, actor, proposal, "applied", note)
        if text is not None:
            proposal = _reworded(tx, actor, proposal, text)
        agreed = replace(proposal, reason=reason_text(_agreed(tx, actor, proposal, note)))
        _APPLY[proposal.op](rt, tx, replace(actor, agent=proposal.agent), agreed)
    if purge:
        scrub(rt)
    return replace(shown, status="applied", note=note, diff="" if purge else shown.diff)


def _reworded(tx: Tx, actor: Actor, proposal: Proposal, text: str) -> Proposal:
    """The proposal with another text; a new memory gets it at once, by whoever decides."""
    if proposal.op not in REWORDABLE:
        raise DolmenError("invalid-argument", "This proposal has no text to edit.", "Apply it as it is, or reject it.")
    text = content_text(text)
    refuse_secrets(text)
    if proposal.op in ("remember", "handoff"):
        memory = _target(tx, actor, proposal)
        if memory.text != text:
            revise(tx, actor, memory, "amend", "edited before it was approved", text=text)
        return proposal
    return replace(proposal, payload={**proposal.payload, "content": text})


def _named(proposal: Proposal, moved: Sequence[str]) -> str:
    what = "Note" if proposing.about_note(proposal) else "Memory" if len(moved) == 1 else "Memories"
    return f"{what} {', '.join(moved)}"


def _decidable(tx: Tx, actor: Actor, proposal: Proposal, touched: Mapping[str, Memory | None]) -> None:
    """Refuses an agent, also one in mode `admin`, that would decide about a preference."""
    kinds = [memory.kind for memory in touched.values() if memory is not None]
    kinds += [kind for kind in KINDS if kind == dict(proposal.payload.get("fields") or {}).get("kind")]
    memory = touched.get(proposal.memory or "")
    if proposal.op == "restore" and memory is not None:
        kinds.append(earlier(tx, memory, proposal.payload.get("version")).kind)
    if proposal.op != "forget" and decide(actor, *kinds)[0] == "queue":
        raise DolmenError(
            "forbidden",
            "Only a person decides about a preference.",
            "Leave it to the owner: `dolmen review` or the web page.",
        )


def _agreed(tx: Tx, actor: Actor, proposal: Proposal, note: str) -> str:
    """`why it was proposed; applied by the owner: why it was applied`."""
    if not actor.human:
        who = actor.agent
    else:
        who = "the owner" if actor.person == tx.accounts.owner(actor.vault) else actor.person
    said = f"applied by {who}" + (f": {note}" if note.strip() else "")
    return f"{proposal.reason}; {said}" if proposal.reason else said


def reject(rt: Runtime, actor: Actor, id: str, note: str = "") -> ReviewItem:
    """Says no: a proposed memory is deleted (and kept as history), a proposed change is not made."""
    note = reason_text(note)
    with rt.write(actor) as tx:
        proposal = _open(tx, actor, id)
        own = proposal.connection == actor.connection
        if own:
            require(actor, "write")
        else:
            require_decider(actor)
        shown = item(rt, tx, proposal)
        memory = None if proposal.memory is None else tx.memories.get(actor.vault, proposal.memory)
        if proposal.op == "remember" and memory is not None and memory.status == "proposed":
            revise(tx, actor, memory, "reject", note, status="deleted", verification="rejected")
        status: ProposalStatus = "withdrawn" if own and not actor.human else "rejected"
        _decide(tx, actor, proposal, status, note)
        return replace(shown, status=status, note=note)


def item(rt: Runtime, tx: Tx, proposal: Proposal) -> ReviewItem:
    """A proposal as a person sees it."""
    touched = showing.targets(tx, proposal)
    memory = touched.get(proposal.memory or "")
    alike = similar(rt, tx, memory, NOTHING) if memory is not None and proposal.op == "remember" else ()
    ref, scope, kind = proposing.subject(tx, proposal) if proposing.about_note(proposal) else ("", "", "")
    return ReviewItem(
        id=proposal.id,
        op=proposal.op,
        ref=proposal.memory or ref or None,
        scope=memory.scope if memory else scope,
        kind=memory.kind if memory else kind,
        agent=proposal.agent,
        created_at=proposal.created_at,
        because=proposal.because,
        reason=proposal.reason,
        diff=showing.diff(tx, proposal, touched),
        stale=proposal.status == "pending" and bool(showing.changed(tx, proposal, touched)),
        status=proposal.status,
        similar=alike,
        note=proposal.decision_note,
        group=proposal.group,
        text=_text(proposal, memory),
        evidence=str(memory.attrs.get("evidence", "")) if memory else "",
        change=str(proposal.payload.get("op") or ""),
        judge=str(proposal.payload.get("judge") or (memory.attrs.get("extractor_model", "") if memory else "")),
    )


def _text(proposal: Proposal, memory: Memory | None) -> str:
    """What would be stored, if that is one text."""
    if proposal.op not in REWORDABLE or memory is None:
        return ""
    content = proposal.payload.get("content")
    return memory.text if content is None else str(content)


def _open(tx: Tx, actor: Actor, id: str) -> Proposal:
    proposal = tx.proposals.get(actor.vault, id.removeprefix(_AS_TOLD))
    if proposal is None:
        raise not_found("Proposal", id)
    if proposal.status != "pending":
        raise DolmenError("conflict", f"The proposal was already {proposal.status}.", "List what is pending.")
    return proposal


def _decide(tx: Tx, actor: Actor, proposal: Proposal, status: ProposalStatus, note: str) -> None:
    by = actor.person or actor.agent
    if not tx.proposals.decide(actor.vault, proposal.id, status, tx.now, by, note):
        raise DolmenError("conflict", "Somebody decided this proposal just now.", "List what is pending.")
    audit(tx, actor, f"review:{status}", proposal.id)


def _target(tx: Tx, actor: Actor, proposal: Proposal) -> Memory:
    memory = None if proposal.memory is None else tx.memories.get(actor.vault, proposal.memory)
    if memory is None:
        raise DolmenError("gone", "The memory of this proposal was purged.", "Reject the proposal.")
    return memory


def _apply_remember(rt: Runtime, tx: Tx, actor: Actor, proposal: Proposal) -> None:
    memory = _target(tx, actor, proposal)
    if memory.status != "proposed":
        raise DolmenError("conflict", f"The memory is {memory.status} now.", "Reject the proposal.")
    older = [m for id in proposal.payload.get("supersedes", ()) if (m := tx.memories.get(actor.vault, id))]
    if memory.label == HANDOFF:
        older += handoffs(tx, actor, memory.scope)
    agreed: dict[str, Any] = {"verification": "accepted", "verified_by": ""}
    if actor.human:
        agreed = {"trust": "user", "verification": "verified", "verified_by": actor.person}
    after = revise(tx, actor, memory, "approve", proposal.reason, status="active", **agreed)
    for old in older:
        if old.status == "active" and old.id != after.id:
            supersede(tx, actor, old, after.id)


def _fields(payload: dict[str, Any]) -> dict[str, Any]:
    fields = dict(payload.get("fields") or {})
    if isinstance(fields.get("case"), dict):
        fields["case"] = Case(**fields["case"])
    return checked_fields({name: value for name, value in fields.items() if name in EDITABLE})


def _apply_amend(rt: Runtime, tx: Tx, actor: Actor, proposal: Proposal) -> None:
    payload = dict(proposal.payload)
    amend_in(tx, actor, _target(tx, actor, proposal), payload.get("content"), _fields(payload), proposal.reason)


def _apply_supersede(rt: Runtime, tx: Tx, actor: Actor, proposal: Proposal) -> None:
    old, payload = _target(tx, actor, proposal), dict(proposal.payload)
    store_one(rt, tx, actor, successor(old, payload["content"], _fields(payload)), origin="review:supersede")


def _apply_restore(rt: Runtime, tx: Tx, actor: Actor, proposal: Proposal) -> None:
    restore_in(tx, actor, _target(tx, actor, proposal), proposal.payload.get("version"), proposal.reason)


def _apply_forget(rt: Runtime, tx: Tx, actor: Actor, proposal: Proposal) -> None:
    if applied(tx, actor, proposal.payload, proposing.place_of(tx, proposal)):
        return
    found = tx.memories.many(actor.vault, list(proposal.payload.get("refs", ())))
    forget_in(tx, actor, list(found.values()), proposal.payload["mode"], proposal.reason)


def _apply_link(rt: Runtime, tx: Tx, actor: Actor, proposal: Proposal) -> None:
    memory, payload = _target(tx, actor, proposal), proposal.payload
    tx.links.add(actor.vault, Link(memory.id, payload["rel"], payload["to"], payload["weight"], tx.now, proposal.agent))


def _apply_replace(rt: Runtime, tx: Tx, actor: Actor, proposal: Proposal) -> None:
    """One memory stands for another from now on (C-265): a duplicate, or the newer one of a contradiction."""
    old, keep = _target(tx, actor, proposal), tx.memories.get(actor.vault, proposal.payload["by"])
    if keep is None or keep.status != "active" or old.status != "active":
        raise DolmenError("conflict", "One of the two memories is not active any more.", "Reject the proposal.")
    supersede(tx, actor, old, keep.id, proposal.reason)
    tx.links.add(actor.vault, Link(keep.id, "replaces", old.id, 1.0, tx.now, proposal.agent))


def _apply_verify(rt: Runtime, tx: Tx, actor: Actor, proposal: Proposal) -> None:
    found = tx.memories.many(actor.vault, list(proposal.payload.get("refs", ())))
    mark_in(tx, actor, list(found.values()), proposal.payload["state"], proposal.reason)


def _apply_note(rt: Runtime, tx: Tx, actor: Actor, proposal: Proposal) -> None:
    proposing.apply_note(tx, actor, proposal)


_APPLY = {
    "remember": _apply_remember,
    "amend": _apply_amend,
    "supersede": _apply_supersede,
    "restore": _apply_restore,
    "forget": _apply_forget,
    "link": _apply_link,
    "verify": _apply_verify,
    "handoff": _apply_remember,
    "note_create": _apply_note,
    "note_edit": _apply_note,
    "note_move": _apply_note,
    "note_restore": _apply_note,
    "replace": _apply_replace,
}
