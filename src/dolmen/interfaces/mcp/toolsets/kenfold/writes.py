"""remember, handoff, resume, forget: arguments into requests, results into JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import KINDS, REASON_LIMIT, Kind
from dolmen.domain.values import USER_SCOPE, Actor
from dolmen.interfaces.mcp.presenting import Json, compact, moment
from dolmen.interfaces.mcp.registry import Arguments
from dolmen.interfaces.mcp.toolsets.kenfold.reads import project_in
from dolmen.interfaces.mcp.toolsets.kenfold.types import KINDS_OF, Type, label_of, type_of
from dolmen.interfaces.mcp.toolsets.kenfold.views import view, with_code
from dolmen.services import forget as forgetting
from dolmen.services import reading, sessions
from dolmen.services import remember as remembering
from dolmen.services.checking import content_text
from dolmen.services.recording import refuse_secrets
from dolmen.services.requests import Forget, Handoff, NewMemory, Remembered
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import ref_id

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def remember(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    try:
        return _remember(rt, actor, args)
    except DolmenError as error:
        if error.code == "gone" and "`edit`" in error.fix:  # which is no tool of Kenfold's
            raise DolmenError("gone", error.message, "Remember the new statement without supersedes.") from error
        raise


def _remember(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    old = memory_id(args["supersedes"], "supersedes") if (args.get("supersedes") or "").strip() else None
    kind, source, same = _kind(rt, actor, args, old)
    type = type_of(kind)
    ttl = args.get("ttl_seconds") or None
    if type == "temporary" and ttl is None:
        raise DolmenError(
            "invalid-argument",
            "A temporary memory needs ttl_seconds.",
            "Pass how many seconds it holds, at most a year, or choose another type.",
        )
    [stored] = remembering.remember(
        rt,
        actor,
        [
            NewMemory(
                content=args["content"],
                kind=kind,
                label=label_of(type),
                project=project_in(args),
                supersedes=() if old is None else (old,),
                ttl_seconds=ttl,
                attrs={"type_source": source},
                same=same,
            )
        ],
    )
    return _remembered(rt, actor, stored)


def _kind(rt: Runtime, actor: Actor, args: Arguments, old: str | None) -> tuple[Kind, str, tuple[Kind, ...]]:
    """The kind of a new memory, where its type comes from (C-53, C-78), and under which kinds the same statement is the
    same memory: those of its type, or all when the caller names none, so that a retry does not depend on a model."""
    if "type" in args:
        type: Type = args["type"]
        return KINDS_OF[type][0], "agent", KINDS_OF[type]
    if old is not None:
        kind = reading.read(rt, actor, old).memory.kind
        return kind, "superseded", KINDS_OF[type_of(kind)]
    in_project = project_in(args) != USER_SCOPE
    default = KINDS_OF["project" if in_project else "semantic"][0]
    if rt.chat is None:
        return default, "default", KINDS
    from dolmen.services.extraction import classify  # takes long to load, and few have a chat model

    content = content_text(args["content"])
    refuse_secrets(content)  # before a model reads it
    found = classify(rt, content, default, in_project=in_project)
    return found.kind, found.source, KINDS


def _remembered(rt: Runtime, actor: Actor, stored: Remembered) -> Json:
    if stored.error is not None or stored.memory is None:
        raise _refusal(stored.error or {})
    similar = [view(one.memory, one.similarity) for one in stored.similar if one.memory is not None]
    with_code(rt, actor, similar)
    return compact(
        {
            "id": stored.memory.id,
            "type": type_of(stored.memory.kind),
            "status": stored.memory.status,
            "deduplicated": stored.deduplicated,
            "similar": similar,
            "notes": list(stored.notes),
        },
        *("deduplicated", "similar"),
    )


def _refusal(error: Mapping[str, Any]) -> DolmenError:
    """The refusal of the one item as that of the call."""
    return DolmenError(**error) if error else DolmenError("internal", "The memory was not stored.", "Try again.")


def handoff(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    left = sessions.handoff(
        rt,
        actor,
        Handoff(
            args["summary"],
            tuple(args.get("next_steps", ())),
            project_in(args),
            args.get("ttl_seconds") or None,
        ),
    )
    return compact({"id": left.ref, "expires_at": moment(left.expires_at), "notes": list(left.notes)})


def resume(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    taken = sessions.resume(rt, actor, project_in(args))
    return {} if taken is None or taken.memory is None else {"handoff": view(taken.memory)}


def forget(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    id = memory_id(args["id"], "id")
    given = args.get("reason", "").strip()
    reason = given[: 4 * REASON_LIMIT]  # what is kept of it is cut after it was redacted
    done = forgetting.forget(rt, actor, Forget(ref=id, reason=reason))
    cut = f"the reason was cut from {len(given)} to {REASON_LIMIT} characters"
    notes = [cut] if len(given) > REASON_LIMIT and done.outcome != "unchanged" else []
    if done.outcome != "queued":
        return {"id": id, "status": "deleted", **({"notes": notes} if notes else {})}
    waits = "The deletion waits until a person agrees to it."
    return {"id": id, "status": reading.read(rt, actor, id).memory.status, "notes": [waits, *notes]}


def memory_id(given: str, argument: str) -> str:
    """The id as it is kept.

    Raises:
        DolmenError: `invalid-argument` for what cannot be one (C-104).
    """
    id = ref_id(given)
    if not _ID.fullmatch(id):
        raise DolmenError(
            "invalid-argument",
            f"{argument}: {given[:80]!r} is no memory id.",
            "Pass an id that remember, recall or get_context returned.",
        )
    return id
