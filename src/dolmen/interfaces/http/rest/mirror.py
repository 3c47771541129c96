"""Under /api/v1/mirror: what `dolmen mirror --server` asks of a vault, and what it writes there."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, get_args

from dolmen.domain.errors import DolmenError
from dolmen.domain.mirroring import MirrorWrite, NoteState, Waits, WriteOp
from dolmen.domain.operations import within_preset
from dolmen.domain.values import Actor
from dolmen.interfaces.http.responses import MIRROR
from dolmen.interfaces.http.rest.endpoint import Asked
from dolmen.interfaces.mcp import clock
from dolmen.services.notes.mirror_desk import Done, MirrorDesk, Source
from dolmen.services.runtime import Runtime
from dolmen.store.contract import AuditEntry
from dolmen.store.ids import rising

SECONDS = 10.0
"""That the writes of one call may take; what is left is sent again."""
_WRITE = f"POST {MIRROR}/write"
_new_id = rising(clock.now)
_FIELDS = {each.name for each in fields(MirrorWrite)}


def about(rt: Runtime, actor: Actor, asked: Asked) -> Mapping[str, Any]:
    """Which vault and scope these are, what the connection may do there, and a text that is another one after a note
    was written."""
    asked.only("project")
    desk = MirrorDesk.of(rt, actor, asked.query.get("project"))
    mode = "write" if actor.mode == "admin" else actor.mode
    if not within_preset(actor.preset, _WRITE):
        mode = "read"
    newest = json.dumps(desk.notes.newest(), separators=(",", ":"))
    return {"vault": desk.vault(), "scope": desk.notes.scope(), "mode": mode, "newest": newest}


def listed(rt: Runtime, actor: Actor, asked: Asked) -> Mapping[str, Any]:
    """A page of the live notes, without what they say; `after` is the `next` of the page before."""
    asked.only("project", "after")
    desk = MirrorDesk.of(rt, actor, asked.query.get("project"))
    page, following = desk.page(asked.query.get("after"))
    _audited(rt, actor, "mirror:list", desk.notes.scope())
    return {"notes": [asdict(each) for each in page], "next": following}


def read(rt: Runtime, actor: Actor, asked: Asked) -> Mapping[str, Any]:
    """Notes, which of them a purge destroyed, what they said once, and what became of proposals; lists that are shorter
    than what was asked for go on in the next call."""
    body = _object(asked, {"project", "notes", "sources", "proposals"})
    desk = MirrorDesk.of(rt, actor, _text(body, "project", None))
    found = desk.read(_texts(body, "notes"), _sources(body), _texts(body, "proposals"))
    _audited(rt, actor, "mirror:read", f"{len(found.notes)} notes")
    return {
        "notes": [None if note is None else {**_state(note), "source": note.source} for note in found.notes],
        "sources": found.sources,
        "proposals": found.proposals,
        "purged": sorted(found.purged),
    }


def written(rt: Runtime, actor: Actor, asked: Asked) -> Mapping[str, Any]:
    """What became of each write, in their order; those without a result were not done yet."""
    body = _object(asked, {"project", "writes"})
    desk = MirrorDesk.of(rt, actor, _text(body, "project", None))
    writes = [_write(each) for each in _list(body, "writes")]
    end = time.monotonic() + SECONDS
    return {"results": [_result(done) for done in desk.write(writes, lambda: time.monotonic() > end)]}


# ------------------------------------------------------------------------------------------------------- what was done
def _state(note: NoteState) -> Mapping[str, Any]:
    return {"standing": asdict(note.standing), "sha": note.sha, "live": note.live, "here": note.here}


def _result(done: Done) -> Mapping[str, Any]:
    if isinstance(done, Waits):
        return {"proposal": done.proposal}
    if isinstance(done, DolmenError):
        return {"error": {"code": done.code, "message": done.message, "fix": done.fix}}
    return {"note": None if done is None else _state(done)}


def _audited(rt: Runtime, actor: Actor, op: str, detail: str) -> None:
    who = (actor.vault, clock.now(), actor.connection, actor.agent)
    rt.journal.audit(AuditEntry(_new_id(), *who, op, detail, actor.origin))


# ------------------------------------------------------------------------------------------------------- what was sent
def _object(asked: Asked, known: set[str]) -> dict[str, Any]:
    asked.only()
    body = asked.body
    if not isinstance(body, dict):
        raise _wrong("The body is no object.", f"Send an object with {', '.join(sorted(known))}.")
    if unknown := sorted(set(body) - known):
        raise _wrong(f"Unknown field {unknown[0][:40]!r}.", "Leave it out.")
    return body


def _list(body: Mapping[str, Any], name: str) -> list[Any]:
    found = body.get(name, [])
    if not isinstance(found, list):
        raise _wrong(f"{name} is no list.", f"Send a list of {name}.")
    return found


def _text(body: Mapping[str, Any], name: str, default: str | None = "") -> Any:
    found = body.get(name, default)
    if not isinstance(found, str | type(default)):
        raise _wrong(f"{name} is no text.", f"Send {name} as a text.")
    return found


def _texts(body: Mapping[str, Any], name: str) -> list[str]:
    found = _list(body, name)
    if not all(isinstance(each, str) for each in found):
        raise _wrong(f"{name} holds something else than texts.", "Send ids.")
    return found


def _sources(body: Mapping[str, Any]) -> list[Source]:
    found: list[Source] = []
    for each in _list(body, "sources"):
        if not isinstance(each, dict) or set(each) - {"id", "sha", "after"}:
            raise _wrong("A source is no object with id, sha, after.", "Send objects with these three.")
        after = each.get("after", 0)
        if type(after) is not int:
            raise _wrong("after is no number.", "Send the number of a version.")
        found.append((_text(each, "id"), _text(each, "sha"), after))
    return found


def _write(given: object) -> MirrorWrite:
    if not isinstance(given, dict) or set(given) - _FIELDS:
        raise _wrong("A write has unknown fields, or is no object.", f"Known are: {', '.join(sorted(_FIELDS))}.")
    values = {name: _text(given, name) for name in _FIELDS}
    if values["op"] not in get_args(WriteOp):
        raise _wrong(f"There is no op {values['op'][:40]!r}.", f"Use one of {', '.join(get_args(WriteOp))}.")
    return MirrorWrite(**values)


def _wrong(message: str, fix: str) -> DolmenError:
    return DolmenError("invalid-argument", message, fix)
