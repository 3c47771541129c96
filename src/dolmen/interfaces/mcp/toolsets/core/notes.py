"""Notes behind remember, read, edit, link and restore: what names a note goes to the notes' services."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dolmen.domain.errors import DolmenError
from dolmen.domain.note import parse_ref
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp import clock
from dolmen.interfaces.mcp.presenting import FRAME, Json, age, compact, exact, memory, moment
from dolmen.interfaces.mcp.registry import Arguments
from dolmen.services.notes.creating import create_note
from dolmen.services.notes.editing import OPS, edit_note
from dolmen.services.notes.finding import find
from dolmen.services.notes.moving import restore_note
from dolmen.services.notes.reading import read_note
from dolmen.services.requests import HistoryEntry, NewLink
from dolmen.services.requests.notes import BlockView, NewNote, NoteEdit, NoteView, NoteWritten
from dolmen.services.runtime import Runtime

_OF_A_NOTE = frozenset({"content", "kind", "project", "title", "folder", "tags", "links", "supersedes", "note"})


def is_note(rt: Runtime, actor: Actor, ref: str) -> bool:
    """Whether a ref is the address of a note or of a block; the id of a block's memory names the memory."""
    with rt.read(actor) as tx:
        place = find(tx, actor, ref)
    return place is not None and (place.block is None or parse_ref(ref) is not None)


def new_note(rt: Runtime, actor: Actor, item: Mapping[str, Any], *, dry_run: bool) -> Json:
    """One item of remember that is a note."""
    try:
        if unread := sorted(set(item) - _OF_A_NOTE):
            raise DolmenError(
                "invalid-argument", f"A note does not take {unread[0]}.", f"It takes {', '.join(sorted(_OF_A_NOTE))}."
            )
        links = tuple(NewLink(link.get("rel_type", ""), link["to"]) for link in item.get("links", ()))
        request = NewNote(
            content=item["content"],
            kind=item.get("kind", ""),
            title=item.get("title", ""),
            folder=item.get("folder", ""),
            links=links,
            supersedes=tuple(item.get("supersedes", ())),
            tags=tuple(item.get("tags", ())),
            project=item.get("project"),
        )
        return written(create_note(rt, actor, request, dry_run=dry_run))
    except DolmenError as error:
        if error.code in ("store-busy", "unavailable", "internal", "read-only"):
            raise
        return {"outcome": "failed", "error": error.as_dict()}


def edit(rt: Runtime, actor: Actor, args: Arguments) -> Json | None:
    """A change of a note; None when the call is about a memory."""
    op, ref = args["op"], args["ref"]
    if op in OPS:
        if unread := sorted({"version", "fields"} & set(args)):
            raise DolmenError("invalid-argument", f"{op} does not read {unread[0]}.", "Leave it out.")
        request = NoteEdit(
            ref=ref,
            op=op,
            content=args.get("content"),
            key=args.get("key"),
            value=args.get("value"),
            reason=args.get("reason", ""),
            expected_sha=args.get("expected_sha"),
        )
        return written(edit_note(rt, actor, request))
    if op != "restore" or not is_note(rt, actor, ref) or "#" in ref:
        return None
    if unread := sorted({"content", "fields", "key", "value"} & set(args)):
        raise DolmenError("invalid-argument", f"restore does not read {unread[0]}.", "Pass `version`, or nothing.")
    sha, reason = args.get("expected_sha"), args.get("reason", "")
    return written(restore_note(rt, actor, ref, args.get("version"), reason=reason, expected_sha=sha))


def written(done: NoteWritten) -> Json:
    return compact(
        {
            "outcome": done.outcome,
            "ref": done.ref,
            "title": done.title,
            "version": done.version or None,
            "sha": done.sha,
            "added": list(done.added),
            "changed": list(done.changed),
            "removed": list(done.removed),
            "superseded": list(done.superseded),
            "address_in_use": dict(done.address_in_use or {}),
            "proposal": done.proposal,
            "because": done.because,
            "notes": list(done.notes),
        }
    )


def read(rt: Runtime, actor: Actor, args: Arguments) -> Json | None:
    """A note, a section or a block; None when the ref names none."""
    if not is_note(rt, actor, args["ref"]):
        return None
    view = read_note(rt, actor, args["ref"], args.get("view", "content"), args.get("section"))
    now = clock.now()
    answer: Json = {"about": FRAME, **_head(view, now)}
    if view.view == "content":
        answer |= compact({"text": view.text, "blocks": [_block(each) for each in view.blocks]}, "text")
        if view.block and view.blocks[0].memory:
            answer |= memory(view.blocks[0].memory, now) | {"ref": view.ref}
            answer.pop("blocks")
    if view.view == "history":
        answer["history"] = [history(entry, now) for entry in view.history]
    if view.view == "links":
        answer["links"] = [
            compact({"from": e.source, "rel_type": e.rel, "to": e.to, "resolved": e.resolved}, "resolved")
            for e in view.links
        ]
    return {**answer, **compact({"proposals": list(view.proposals)})}


def _head(view: NoteView, now: int) -> Json:
    note = view.note
    return compact(
        {
            "ref": view.ref,
            "title": note.title,
            "kind": note.label,
            "scope": note.scope,
            "status": "" if note.status == "active" else note.status,
            "agent": note.agent,
            "created": moment(note.created_at),
            "updated": moment(note.updated_at) if note.updated_at > note.created_at else None,
            "age": age(note.created_at, now),
            "version": note.version,
            "sha": view.sha,
            "moved": view.moved,
        }
    )


def _block(block: BlockView) -> Json:
    state = "" if block.verification == "accepted" else block.verification
    status = "" if block.status == "active" else block.status
    return compact({"id": block.id, "kind": block.kind or block.type, "verification": state, "status": status})


def history(entry: HistoryEntry, now: int) -> Json:
    """One version of a note or a memory."""
    return compact(
        {
            "version": entry.version,
            "op": entry.op,
            "at": exact(entry.at),
            "age": age(entry.at, now),
            "agent": entry.agent,
            "reason": entry.reason,
            "changed": list(entry.changed),
            "diff": entry.diff,
        }
    )
