"""remember, edit, link, verify, forget, feedback: arguments into requests, results into JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Case
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp.arguments import read_as
from dolmen.interfaces.mcp.presenting import Json, compact
from dolmen.interfaces.mcp.registry import Arguments
from dolmen.interfaces.mcp.toolsets.core import notes
from dolmen.interfaces.mcp.toolsets.core.outcomes import remembered
from dolmen.interfaces.mcp.toolsets.core.schemas import EDITABLE
from dolmen.services import edit as editing
from dolmen.services import feedback as judging
from dolmen.services import forget as forgetting
from dolmen.services import remember as remembering
from dolmen.services.notes.marking import link_notes, verify_claims
from dolmen.services.requests import Edit, FeedbackRequest, Forget, NewLink, NewMemory, Remembered
from dolmen.services.runtime import Runtime


def remember(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    """One result per item, in their order; an item that the schema refuses fails alone like any other."""
    given: Sequence[Mapping[str, Any] | DolmenError] = args["memories"]
    dry_run = args.get("dry_run", False)
    good = [new_memory(item) for item in given if not isinstance(item, DolmenError) and not item.get("note")]
    stored: list[Remembered] = []
    if good or not given:
        stored = list(remembering.remember(rt, actor, good, dry_run=dry_run))
    answers = iter(stored)
    results: list[Json] = []
    for item in given:
        if isinstance(item, DolmenError):
            results.append(failed(item))
        elif item.get("note"):
            results.append(notes.new_note(rt, actor, item, dry_run=dry_run))
        else:
            results.append(remembered(next(answers)))
    return {"results": results}


def failed(error: DolmenError) -> Json:
    return {"outcome": "failed", "error": error.as_dict()}


def new_memory(item: Mapping[str, Any]) -> NewMemory:
    return NewMemory(
        content=item["content"],
        kind=item.get("kind"),
        project=item.get("project"),
        title=item.get("title", ""),
        folder=item.get("folder", ""),
        tags=tuple(item.get("tags", ())),
        importance=item.get("importance"),
        links=tuple(
            NewLink(link.get("rel_type", "relates_to"), link["to"], link.get("weight", 1.0))
            for link in item.get("links", ())
        ),
        supersedes=tuple(item.get("supersedes", ())),
        ttl_seconds=item.get("ttl_seconds"),
        case=new_case(item.get("case")),
        source=item.get("source", ""),
        key=item.get("key"),
    )


def new_case(fields: Mapping[str, str] | None) -> Case | None:
    return None if fields is None else Case(**fields)


def edit(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    if (of_note := notes.edit(rt, actor, args)) is not None:
        return of_note
    done = editing.edit(
        rt,
        actor,
        Edit(
            ref=args["ref"],
            op=args["op"],
            content=args.get("content"),
            fields=_fields(args),
            reason=args.get("reason", ""),
            expected_sha=args.get("expected_sha"),
            version=args.get("version"),
        ),
    )
    return compact(
        {
            "outcome": done.outcome,
            "ref": done.ref,
            "version": done.version or None,
            "sha": done.sha,
            "new_ref": done.new_ref,
            "proposal": done.proposal,
            "because": done.because,
            "notes": list(done.notes),
        }
    )


def _fields(args: Arguments) -> dict[str, Any]:
    """`fields`, and the one field that `key` and `value` name."""
    fields = dict(args.get("fields", {}))
    if "value" in args and "key" not in args:
        raise DolmenError("invalid-argument", "value without key.", "Name the field to set with key.")
    if "key" in args:
        if "value" not in args:
            raise DolmenError("invalid-argument", "key without value.", "Pass the field's new value with value.")
        if args["key"] in fields and fields[args["key"]] != args["value"]:
            raise DolmenError("invalid-argument", f"{args['key']} is set twice, to different values.", "Set it once.")
        fields[args["key"]] = args["value"]
    for name, schema in EDITABLE.items():
        if fields.get(name) is not None:
            fields[name] = read_as(schema, fields[name], name)
    if isinstance(fields.get("case"), Mapping):
        fields["case"] = _case(fields["case"])
    return fields


def _case(value: Mapping[str, Any]) -> Case:
    known = {"id", "goal", "outcome", "resolution", "phase"}
    if "id" not in value or not set(value) <= known or not all(isinstance(text, str) for text in value.values()):
        raise DolmenError("invalid-argument", "That is no case.", "A case has id, goal, outcome, resolution, phase.")
    return Case(**value)


def link(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    if notes.is_note(rt, actor, args["from"]):
        done = link_notes(rt, actor, args["from"], args["rel_type"], args["to"])
    else:
        done = editing.link(rt, actor, args["from"], args["rel_type"], args["to"], args.get("weight", 1.0))
    return compact(
        {
            "outcome": done.outcome,
            "from": done.source,
            "rel_type": done.rel,
            "to": done.to,
            "resolved": done.resolved,
            "proposal": done.proposal,
            "because": done.because,
        },
        "resolved",
    )


def verify(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    done = verify_claims(rt, actor, tuple(args["refs"]), args["state"], args.get("note", ""))
    return compact(
        {
            "state": done.state,
            "marked": list(done.marked),
            "missing": list(done.missing),
            "proposal": done.proposal,
            "because": done.because,
        },
        "marked",
    )


def forget(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    done = forgetting.forget(
        rt,
        actor,
        Forget(
            ref=args.get("ref"),
            query=args.get("query"),
            mode=args.get("mode", "soft"),
            reason=args.get("reason", ""),
            project=args.get("project"),
            dry_run=args.get("dry_run", False),
        ),
    )
    return compact(
        {
            "outcome": done.outcome,
            "mode": done.mode,
            "refs": list(done.refs),
            "texts": list(done.texts),
            "traces": list(done.traces),
            "truncated": done.truncated,
            "proposal": done.proposal,
            "because": done.because,
        },
        "refs",
    )


def feedback(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    made = judging.feedback(
        rt,
        actor,
        FeedbackRequest(
            event=args.get("event"),
            refs=tuple(args.get("refs", ())),
            relevant=args.get("relevant"),
            sufficient=args.get("sufficient"),
            reason=args.get("reason", ""),
        ),
    )
    return {"feedback": made}
