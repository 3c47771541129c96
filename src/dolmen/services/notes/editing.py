"""The eight operations that change a note (C-100 to C-102)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, get_args

from dolmen.domain.access import decide, require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import REASON_LIMIT
from dolmen.domain.note import address, checked_permalink, match
from dolmen.domain.policy import Operation, Write
from dolmen.domain.values import Actor
from dolmen.markdown import Spliced, append, parse, prepend, read_properties, replace_block, set_property
from dolmen.services import checking
from dolmen.services.notes.drafting import Draft, document_of, draft_change
from dolmen.services.notes.finding import Place, existing_note, locked, no_block
from dolmen.services.notes.settling import standing_of
from dolmen.services.notes.writing import (
    conflict,
    is_seen,
    keep,
    source_text,
    vectors_of,
    within_limit,
    written,
)
from dolmen.services.recording import audit, reason_text, refuse_secrets, revise, strings
from dolmen.services.requests.notes import NoteEdit, NoteOp, NoteWritten
from dolmen.services.runtime import Runtime
from dolmen.store.contract import Tx

OPS: tuple[NoteOp, ...] = get_args(NoteOp)

READS: Mapping[str, tuple[NoteOp, ...]] = {
    "content": ("append", "prepend", "replace_block", "replace_note"),
    "key": ("set_property",),
    "value": ("set_property",),
    "expected_sha": ("append", "prepend", "replace_block", "replace_note", "set_property", "delete_note", "retract"),
}
"""Which operations read a field; every one reads `ref` and `reason`. A field that the operation does not read is
refused (C-102)."""


def edit_note(rt: Runtime, actor: Actor, request: NoteEdit) -> NoteWritten:
    """Changes a note that is there; the state before it stays as a revision.

    Raises:
        DolmenError: `invalid-argument` for a field that the operation does not read, or a missing one; `not-found`;
            `gone` for a deleted note; `conflict` with the current sha when `expected_sha` is stale.
    """
    require(actor, "write")
    notes = checking.replacements(request)
    request = checked_edit(request, blind=actor.writing.unseen == "queue" and not actor.human)
    if request.op == "withdraw":
        return withdraw(rt, actor, request)
    with rt.read(actor) as tx:
        place = existing_note(tx, actor, request.ref)
    _refuse_unseen(actor, place, request)
    draft = plan(place, request)  # before the transaction, since a long note takes its time
    vectors = vectors_of(rt, draft, place.note)
    with rt.write(actor) as tx:
        now = locked(tx, actor, request.ref)
        if now.note.version != place.note.version:
            draft = plan(now, request)
        if request.op == "retract":
            _retractable(tx, actor, now)
        return replace(_keep(tx, actor, now, draft, request, vectors), notes=notes)


def edit_in(
    tx: Tx, actor: Actor, place: Place, request: NoteEdit, agreed: Mapping[str, Any] | None = None
) -> NoteWritten:
    """Does a checked edit in the caller's transaction."""
    if request.op == "retract":
        _retractable(tx, actor, place)
    _refuse_unseen(actor, place, request)
    return _keep(tx, actor, place, plan(place, request), request, None, agreed)


def _keep(
    tx: Tx,
    actor: Actor,
    place: Place,
    draft: Draft,
    request: NoteEdit,
    vectors: Mapping[str, Any] | None = None,
    agreed: Mapping[str, Any] | None = None,
) -> NoteWritten:
    return keep(
        tx,
        actor,
        place.note,
        draft,
        request.op,
        request.reason,
        vectors,
        proposal=("note_edit", payload(request, place)),
        agreed=agreed,
        write=write_of(place, request),
    )


def write_of(place: Place, request: NoteEdit) -> Write:
    """What an edit is to the write policy. What is added, or set by its name, and a block, which is named by what it
    says, are worked out from the version at hand: only a whole that names no version is blind (C-119)."""
    seen = is_seen(place.note, request.expected_sha)
    blind = request.op == "replace_note" and request.expected_sha is None
    return Write(_OPERATIONS.get(request.op, "edit"), "blind" if blind else "current" if seen else "stale")


_OPERATIONS: Mapping[NoteOp, Operation] = {"delete_note": "delete", "retract": "retract", "withdraw": "withdraw"}


def _refuse_unseen(actor: Actor, place: Place, request: NoteEdit) -> None:
    """Before a draft is worked out, which may fail at what changed."""
    if decide(actor, write=write_of(place, request))[0] == "refuse":
        raise conflict(place.note)


def plan(place: Place, request: NoteEdit) -> Draft:
    """The note as it would be, worked out from the version at hand; nothing is read or written.

    Raises:
        DolmenError: `not-found` for an unknown block; `invalid-argument` for a part of a note where the whole is meant.
    """
    if place.block is not None and request.op != "replace_block":
        raise DolmenError(
            "invalid-argument",
            f"{request.op} takes a whole note, and the ref names a part of one.",
            f"Use the ref of the note, {address(place.note.permalink)}; to change one block, call edit with op "
            "replace_block, and with empty content to remove it.",
        )
    return within_limit(_PLANS[request.op](place, request))


def _append(place: Place, request: NoteEdit) -> Draft:
    document, ids = document_of(place.note)
    return _spliced(place, ids, append(document, request.content or ""))


def _prepend(place: Place, request: NoteEdit) -> Draft:
    document, ids = document_of(place.note)
    return _spliced(place, ids, prepend(document, request.content or ""))


def _replace_block(place: Place, request: NoteEdit) -> Draft:
    document, ids = document_of(place.note)
    if place.block not in ids:
        raise no_block(place.note, place.block or "")
    return _spliced(place, ids, replace_block(document, ids.index(place.block or ""), request.content or ""))


def _spliced(place: Place, ids: tuple[str, ...], spliced: Spliced) -> Draft:
    return draft_change(place.note, ids, spliced.document, spliced.matching(len(ids)))


def _replace_note(place: Place, request: NoteEdit) -> Draft:
    return rewritten(place, request.content or "")


def rewritten(place: Place, source: str) -> Draft:
    """The note with another source; its blocks are recognised by what they say."""
    document, ids = document_of(place.note)
    after = parse(source)
    return draft_change(place.note, ids, after, match(document.blocks, after.blocks))


def _listed(value: str) -> list[str]:
    """A list as clients write it in a text: `a, b`, or one of YAML or JSON in brackets (B091)."""
    if value.lstrip().startswith("["):
        found = read_properties(f"---\nlist: {value.strip()}\n---\n").values.get("list")
        if isinstance(found, list):
            return [str(each) for each in found]
        value = value.strip().removeprefix("[").removesuffix("]")  # `[#ops]`, which YAML takes for a comment
        return [each.strip().strip("\"'") for each in value.split(",")]
    return value.split(",")


def _set_property(place: Place, request: NoteEdit) -> Draft:
    document, ids = document_of(place.note)
    key, value = request.key or "", request.value
    if key in ("tags", "aliases") and isinstance(value, str):
        value = [word for each in _listed(value) if (word := each.strip().lstrip("#").strip())]
    after = parse(set_property(place.note.source, key, value))
    draft = draft_change(place.note, ids, after, match(document.blocks, after.blocks))
    if key == "permalink" and isinstance(value, str):
        draft = Draft(draft.note.with_(permalink=checked_permalink(value)), draft.statements, draft.reworded)
    return draft


def _delete(place: Place, request: NoteEdit) -> Draft:
    after = place.note.with_(status="deleted", reason=request.reason)
    return Draft(after, {}, {})


_PLANS: Mapping[NoteOp, Callable[[Place, NoteEdit], Draft]] = {
    "append": _append,
    "prepend": _prepend,
    "replace_block": _replace_block,
    "replace_note": _replace_note,
    "set_property": _set_property,
    "delete_note": _delete,
    "retract": _delete,
}


# ------------------------------------------------------------------------------------------------------------- checking
def checked_edit(request: NoteEdit, *, blind: bool = False) -> NoteEdit:
    """The request as it will be done.

    Args:
        blind: a whole note may be replaced without naming the version that was read; the policy judges that.

    Raises:
        DolmenError: `invalid-argument`, `too-large` or `secret-detected`.
    """
    if request.op not in OPS:
        raise DolmenError("invalid-argument", f"There is no op {request.op!r}.", f"Use one of {', '.join(OPS)}.")
    given = {"content": request.content, "key": request.key, "value": request.value}
    for name, value in {**given, "expected_sha": request.expected_sha}.items():
        if value is not None and request.op not in READS[name]:
            raise DolmenError(
                "invalid-argument", f"{request.op} does not read {name}.", f"Ops that do: {', '.join(READS[name])}."
            )
    _complete(request, blind=blind)
    content = None if request.content is None else source_text(request.content)
    refuse_secrets(content or "", *strings([request.key, request.value]))
    reason = reason_text(request.reason)
    return replace(request, content=content, reason=reason)


def _complete(request: NoteEdit, *, blind: bool) -> None:
    op = request.op
    if op in ("append", "prepend") and not (request.content or "").strip():
        raise _missing(op, "content", "the Markdown to add")
    if op in ("replace_block", "replace_note") and request.content is None:
        raise _missing(op, "content", "the Markdown that takes its place; empty removes a block")
    if op == "replace_note" and not request.expected_sha and not blind:
        raise _missing(op, "expected_sha", "the sha of the version that you read")
    if op == "replace_block" and "#blk_" not in request.ref:
        raise _missing(op, "ref", "the address of a block, `note#blk_…`, as read lists it")
    if op == "set_property" and not request.key:
        raise _missing(op, "key", "the name of the property")
    if op in ("delete_note", "retract") and not request.reason.strip():
        raise _missing(op, "reason", f"why; at most {REASON_LIMIT} characters, kept forever")


def _missing(op: str, name: str, what: str) -> DolmenError:
    return DolmenError("invalid-argument", f"{op} needs {name}.", f"Pass {name}: {what}.")


# --------------------------------------------------------------------------------------------------- taking things back
def withdraw(rt: Runtime, actor: Actor, request: NoteEdit) -> NoteWritten:
    """Takes back a write that this connection queued (C-100)."""
    id = request.ref.removeprefix("prop_")
    with rt.write(actor) as tx:
        proposal = tx.proposals.get(actor.vault, id)
        if proposal is None or (proposal.connection != actor.connection and not actor.human):
            raise DolmenError(
                "not-found",
                f"Proposal {request.ref!r} is not here.",
                "Pass the prop_ id of a write that this connection queued; browse with queued: true lists them.",
            )
        if not tx.proposals.decide(
            actor.vault, id, "withdrawn", tx.now, actor.person or actor.agent, request.reason
        ):  # fmt: skip
            raise DolmenError(
                "conflict",
                f"The proposal {request.ref} was already {proposal.status}.",
                "There is nothing left to take back: to undo what was applied, edit the note.",
            )
        audit(tx, actor, "review:withdrawn", id)
        waiting = None if proposal.memory is None else tx.memories.get(actor.vault, proposal.memory)
        if proposal.op == "remember" and waiting is not None and waiting.status == "proposed":
            revise(tx, actor, waiting, "withdraw", request.reason, status="deleted")
        note = None if proposal.note is None else tx.notes.get(actor.vault, proposal.note)
        if note is None:
            return NoteWritten("deleted", request.ref, proposal=id)
        return replace(written("deleted", note), proposal=id)


def _retractable(tx: Tx, actor: Actor, place: Place) -> None:
    """Only what this writer wrote, as long as nobody else relies on it (C-100, C-109)."""
    note = place.note
    if note.connection != actor.connection or (actor.session and note.session and note.session != actor.session):
        raise DolmenError(
            "forbidden", "Only a note that this session wrote can be retracted.", "Use delete_note with a reason."
        )
    for memory in standing_of(tx, note).values():
        if memory.verification in ("verified", "stale", "rejected"):
            raise DolmenError(
                "conflict",
                f"Somebody has marked a claim of {note.permalink} as {memory.verification}.",
                "Use delete_note with a reason.",
            )


def payload(request: NoteEdit, place: Place) -> dict[str, Any]:
    """An edit as JSON, for a proposal; `base_sha` is the version that its writer saw."""
    return {
        "op": request.op,
        "block": place.block,
        "content": request.content,
        "key": request.key,
        "value": request.value,
        "base_sha": (request.expected_sha or place.note.sha).lower(),
    }
