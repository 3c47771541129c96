"""Marks on claims of notes, and links between notes. A mark never changes a byte of a note (C-144, C-245, C-246)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from dolmen.domain.access import decide, require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import VERIFICATIONS, Memory, Verification
from dolmen.domain.note import Note, address, key, target_name
from dolmen.domain.proposal import Proposal
from dolmen.domain.values import Actor
from dolmen.services import checking
from dolmen.services.edit import verify_in
from dolmen.services.notes.drafting import document_of
from dolmen.services.notes.editing import checked_edit, edit_in
from dolmen.services.notes.finding import find, locked, memory_of, no_block, resolve
from dolmen.services.notes.settling import link_target, standing_of
from dolmen.services.recording import queue, reason_text, refuse_secrets, revise
from dolmen.services.requests import Linked, Verified
from dolmen.services.requests.notes import NoteEdit
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import ref_id
from dolmen.store.contract import NoteLine, Tx

SUPERSEDED = "superseded"
STATES = (*VERIFICATIONS, SUPERSEDED)


def verify_claims(rt: Runtime, actor: Actor, refs: Sequence[str], state: str, note: str = "") -> Verified:
    """Marks what somebody checked: a block ref one claim, a note ref every claim in it, the id of a memory that one.

    `superseded` takes a claim out of ordinary answers; any other state brings it back.

    Raises:
        DolmenError: `invalid-argument` for an unknown state; `not-found` when none of the refs is here.
    """
    require(actor, "write")
    if state not in STATES:
        raise DolmenError("invalid-argument", f"No state {state!r}.", f"Use one of {', '.join(STATES)}.")
    if not refs:
        raise DolmenError("invalid-argument", "There is nothing to verify.", "Pass at least one ref.")
    mark: Verification | Literal["superseded"] = next((v for v in VERIFICATIONS if v == state), "superseded")
    refs, note = checking.refs(refs), reason_text(note)
    with rt.write(actor) as tx:
        found = {ref: claims_of(tx, actor, ref) for ref in refs}
        claims = list({m.id: m for each in found.values() for m in each or ()}.values())
        missing = tuple(ref for ref, each in found.items() if each is None)
        if missing and not claims:
            raise DolmenError("not-found", "None of the refs is here.", "Browse or recall to find them again.")
        free = [m for m in claims if decide(actor, m.kind)[0] == "apply"]
        marked = mark_in(tx, actor, free, state, note) if free else ()
        waiting = [m for m in claims if m not in free]
        if not waiting:
            return Verified(mark, marked, missing)
        because = decide(actor, waiting[0].kind)[1]
        payload = {"state": state, "refs": [m.id for m in waiting]}
        proposal = queue(tx, actor, "verify", because, waiting[0], payload, note, waiting)
        return Verified(mark, marked, missing, proposal.id, because)


def claims_of(tx: Tx, actor: Actor, ref: str) -> list[Memory] | None:
    """The memories that a ref stands for; None when nothing is there."""
    place = find(tx, actor, ref)
    if place is None:
        memory = tx.memories.get(actor.vault, ref_id(ref))
        return None if memory is None else [memory]
    if place.note.status == "deleted":
        return None
    if place.block is None:
        return list(standing_of(tx, place.note).values())
    memory = memory_of(tx, place)
    if memory is not None:
        return [memory]
    if place.block not in document_of(place.note)[1]:
        raise no_block(place.note, place.block)
    return []  # a heading: there is nothing to mark


def mark_in(tx: Tx, actor: Actor, claims: Sequence[Memory], state: str, note: str = "") -> tuple[str, ...]:
    """Marks memories in the caller's transaction."""
    if state == SUPERSEDED:
        for memory in claims:
            if memory.status == "active":
                revise(tx, actor, memory, "verify", note, status=SUPERSEDED)
        return tuple(memory.id for memory in claims)
    back: list[Memory] = []
    for memory in claims:
        home = tx.notes.get(memory.vault, memory.note) if memory.note and memory.status == SUPERSEDED else None
        holds = home is not None and home.status == "active"
        back.append(revise(tx, actor, memory, "verify", note, status="active") if holds else memory)
    mark: Verification = next(v for v in VERIFICATIONS if v == state)
    return verify_in(tx, actor, back, mark, note)


# ----------------------------------------------------------------------------------------------------------------- link
def link_notes(rt: Runtime, actor: Actor, source: str, rel: str, to: str) -> Linked:
    """Writes an edge as a relation line into the note that it starts from; the same edge twice answers `unchanged`.

    The target may not exist yet: the edge attaches when somebody writes it.

    Raises:
        DolmenError: `not-found` or `gone` for the source; `invalid-argument` for no relation, or no target.
    """
    require(actor, "write")
    rel, name = checking.relation(rel), target_name(checking.target(to))
    if not name or any(sign in name for sign in "[]|\n"):
        raise DolmenError("invalid-argument", f"{to!r} is no link target.", "Use a permalink, a ref or a title.")
    refuse_secrets(name)
    with rt.write(actor) as tx:
        here = locked(tx, actor, source)
        if here.block is not None and here.block not in document_of(here.note)[1]:
            raise no_block(here.note, here.block)
        here = replace(here, block=None)
        target = resolve(tx, actor.vault, [name], here.note.folder).get(name)
        if target is not None and target.id == here.note.id:
            raise DolmenError("invalid-argument", "A note is not linked to itself.", "Name another note in `to`.")
        block = name.partition("#")[2]
        as_written = name if target is None else target.permalink + (f"#{block}" if block else "")
        end = name if target is None else address(target.permalink, block or None)
        resolved = target is not None and _has(tx, actor.vault, target, block)
        edges = _ends(tx, here.note, rel)
        if edges & {link_target(name), link_target(as_written), key(name), key(as_written)} or (
            target is not None and _leads_to(tx, here.note, edges, target, block)
        ):
            return Linked("unchanged", here.ref, rel, end, resolved)
        request = checked_edit(NoteEdit(here.ref, "append", f"- {rel} [[{as_written}]]"))
        if (waiting := _queued(tx, actor, here.note, request)) is not None:
            return Linked("queued", here.ref, rel, end, resolved, waiting.id, waiting.because)
        done = edit_in(tx, actor, here, request)
        outcome = "stored" if done.outcome == "updated" else done.outcome
        return Linked(outcome, here.ref, rel, end, resolved, done.proposal, done.because)


def _queued(tx: Tx, actor: Actor, note: Note, request: NoteEdit) -> Proposal | None:
    """The same line, when this connection has it wait already: the same edge twice is one edge (C-120)."""
    for each in tx.proposals.for_note(note.vault, note.id):
        same = (each.payload.get("op"), each.payload.get("content")) == (request.op, request.content)
        if same and each.status == "pending" and each.connection == actor.connection:
            return each
    return None


def _has(tx: Tx, vault: str, line: NoteLine, block: str) -> bool:
    """Whether the note, and the block of it that a link names, is there."""
    note = tx.notes.get(vault, line.id) if block else None
    return not block or (note is not None and block in document_of(note)[1])


def _ends(tx: Tx, note: Note, rel: str) -> set[str]:
    """The names that a note's lines of this relation lead to."""
    ids = [memory.id for memory in standing_of(tx, note).values()]
    edges = tx.links.around(note.vault, ids) if ids else []
    return {edge.target for edge in edges if edge.source in ids and edge.rel == rel}


def _leads_to(tx: Tx, note: Note, names: set[str], target: NoteLine, block: str) -> bool:
    """Whether one of the names is another one of the target: a title, a former address, the last part of an address."""
    found = resolve(tx, note.vault, sorted(names), note.folder)
    return any(line.id == target.id and name.partition("#")[2] == block for name, line in found.items())
