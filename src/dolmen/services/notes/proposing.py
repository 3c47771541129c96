"""Proposals about notes: what a person sees of one, whether it still fits, and doing it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dolmen.domain.errors import DolmenError
from dolmen.domain.note import Note, address, content_sha
from dolmen.domain.proposal import Proposal
from dolmen.domain.values import Actor
from dolmen.markdown import merge_sources
from dolmen.services.notes.creating import create_in, drafted, from_payload
from dolmen.services.notes.drafting import Draft
from dolmen.services.notes.editing import edit_in, plan
from dolmen.services.notes.finding import Place, deleted, lasting, locked
from dolmen.services.notes.moving import move_in, restore_in, restored
from dolmen.services.notes.reading import difference
from dolmen.services.requests.notes import NoteEdit, NoteWritten
from dolmen.store.contract import Tx

_WHOLE = 1_000_000
"""Lines of a diff around a change: all of them, so that a person sees what is agreed to."""


def about_note(proposal: Proposal) -> bool:
    return proposal.op.startswith("note_")


def place_of(tx: Tx, proposal: Proposal) -> Place | None:
    """The note that a proposal is about; None for one that it would create, and when it was purged."""
    note = None if proposal.note is None else tx.notes.get(proposal.vault, proposal.note)
    return None if note is None else Place(note, _block(proposal))


def _block(proposal: Proposal) -> str | None:
    """The block that a proposal changes; every other operation is about the whole note, whatever its ref named."""
    return proposal.payload.get("block") if proposal.payload.get("op") == "replace_block" else None


def subject(tx: Tx, proposal: Proposal) -> tuple[str, str, str]:
    """(address, scope, kind) of what it is about; of a new note, the title in place of an address."""
    place = place_of(tx, proposal)
    if place is not None:
        return address(lasting(tx, place.note), place.block), place.note.scope, place.note.label
    if proposal.op != "note_create":
        return "", "", ""
    draft = drafted(from_payload(proposal.payload["note"]))
    return draft.note.title, "", draft.note.label


def moved(tx: Tx, proposal: Proposal) -> bool:
    """Whether the note is not any more what the writer saw, as far as the change depends on it.

    What is only added, or set by its name, still fits; a block is named by what it says.
    """
    if proposal.op == "note_create":  # another note may have the address of the one that it would replace by now
        replaced = [tx.notes.get(proposal.vault, id) for id in proposal.payload.get("replaces", ())]
        return any(note is None or note.status == "deleted" for note in replaced)
    place = place_of(tx, proposal)
    if place is None:
        return True
    if place.note.status == "deleted" and proposal.op != "note_restore":
        return True
    op = proposal.payload.get("op")
    if op == "replace_block":
        return place.block not in place.note.blocks
    if op in ("append", "prepend", "set_property") or proposal.op == "note_move":
        return False
    seen = proposal.payload.get("base_sha") or place.note.sha
    if place.note.version == proposal.base_version and place.note.sha == seen:
        return False
    return op != "replace_note" or _merged(tx, place.note, proposal) is None


def refuse_gone(tx: Tx, proposal: Proposal) -> None:
    """Refuses a change to a note that is not here any more, which nobody can insist on.

    Raises:
        DolmenError: `gone`.
    """
    if proposal.op in ("note_create", "note_restore"):
        return
    place = place_of(tx, proposal)
    if place is None:
        raise DolmenError("gone", "The note of this proposal was purged.", "Reject the proposal.")
    if place.note.status == "deleted":
        raise DolmenError(
            "gone",
            deleted(place.note),
            f"Reject the proposal, or bring the note back first: `dolmen note undo {lasting(tx, place.note)}`.",
            reason=place.note.reason,
        )


def _merged(tx: Tx, note: Note, proposal: Proposal) -> str | None:
    """A whole that was proposed for another version than the current one, with what has changed in between; None when
    both touch the same blocks, or the version that its writer saw is not known."""
    seen, content = proposal.payload.get("base_sha"), proposal.payload.get("content")
    if content is None or seen in (None, note.sha):
        return None
    past = (revision.note.source for revision in tx.notes.revisions(note.vault, note.id))
    base = next((source for source in past if content_sha(source) == seen), None)
    if base is None:
        return None
    both = merge_sources(base, content, note.source)
    return None if both.clash else both.source


def shown(tx: Tx, proposal: Proposal) -> str:
    """The whole note with what would change in it."""
    place = place_of(tx, proposal)
    if proposal.op == "note_create":
        request = from_payload(proposal.payload["note"])
        lines = [f"+title: {request.title}"] if request.title else []
        return "\n".join([*lines, difference("", drafted(request).note.source, _WHOLE)])
    if place is None:
        return ""
    lines = [f"note: {place.note.permalink}"]
    if place.note.status == "deleted" and proposal.op != "note_restore":
        lines = [f"({deleted(place.note)})", *lines]
        place = replace(place, note=place.note.with_(status="active"))  # what was proposed is a change of what it said
    try:
        draft = _draft(tx, place, proposal)
    except DolmenError as error:
        return "\n".join([*lines[:-1], f"({error.message})"])
    note, after = place.note, draft.note
    names = ("title", "permalink", "status")
    for name in names:
        if getattr(note, name) != getattr(after, name):
            lines += [f"-{name}: {getattr(note, name)}", f"+{name}: {getattr(after, name)}"]
    if after.status == "deleted":
        lines += ["-" + line for line in note.source.splitlines()]
    else:
        lines.append(difference(note.source, after.source, _WHOLE))
    return "\n".join(line for line in lines if line)


def _draft(tx: Tx, place: Place, proposal: Proposal) -> Draft:
    payload = proposal.payload
    if proposal.op == "note_edit":
        return plan(place, request_of(tx, place, proposal))
    if proposal.op == "note_restore":
        return restored(tx, place.note, payload.get("version"))
    after = place.note.with_(
        permalink=payload.get("permalink") or place.note.permalink, title=payload.get("title") or place.note.title
    )
    return Draft(after, {}, {})


def request_of(tx: Tx, place: Place, proposal: Proposal) -> NoteEdit:
    """The edit that was proposed, not pinned to the version that its writer saw: `moved` judges that. What others have
    changed since in other blocks stays."""
    given = proposal.payload
    content = given.get("content")
    if given["op"] == "replace_note" and (merged := _merged(tx, place.note, proposal)) is not None:
        content = merged
    block = _block(proposal)
    return NoteEdit(
        ref=f"{proposal.note}#{block}" if block else proposal.note or "",
        op=given["op"],
        content=content,
        key=given.get("key"),
        value=given.get("value"),
        reason=proposal.reason,
    )


def apply_note(tx: Tx, actor: Actor, proposal: Proposal) -> NoteWritten:
    """Does what was proposed; when a person agreed, what is new is trusted and verified as theirs.

    Raises:
        DolmenError: `gone` when the note was purged; `forbidden` when only a person may agree.
    """
    agreed: Mapping[str, Any] = {"verification": "accepted", "verified_by": ""}
    if actor.human:
        agreed = {"trust": "user", "verification": "verified", "verified_by": actor.person}
    done = _apply(tx, actor, proposal, agreed)
    if done.outcome in ("queued", "proposed"):
        raise DolmenError(
            "forbidden",
            "Only a person decides about a preference.",
            "Leave it to the owner: `dolmen review` or the web page.",
        )
    return done


def _apply(tx: Tx, actor: Actor, proposal: Proposal, agreed: Mapping[str, Any]) -> NoteWritten:
    payload = proposal.payload
    if proposal.op == "note_create":
        request = from_payload(payload["note"])
        return create_in(tx, actor, request, drafted(request), agreed=agreed, audience=proposal.audience)
    if place_of(tx, proposal) is None:
        raise DolmenError("gone", "The note of this proposal was purged.", "Reject the proposal.")
    here = locked(tx, actor, proposal.note or "", live=proposal.op != "note_restore")
    place = replace(here, block=_block(proposal))
    if proposal.op == "note_edit":
        return edit_in(tx, actor, place, request_of(tx, place, proposal), agreed)
    if proposal.op == "note_move":
        return move_in(tx, actor, place, payload, proposal.reason, agreed)
    return restore_in(tx, actor, place, payload["version"], proposal.reason, agreed)
