"""recall, read, browse: arguments into requests, results into JSON."""

from __future__ import annotations

import re
from typing import Any, Literal

from dolmen.domain.packing import asked
from dolmen.domain.timeframe import parse
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp import clock
from dolmen.interfaces.mcp.presenting import (
    FRAME,
    Json,
    claim,
    code_ref,
    compact,
    links,
    memory,
    moment,
    plain,
    score,
)
from dolmen.interfaces.mcp.registry import Arguments
from dolmen.interfaces.mcp.toolsets.core import notes
from dolmen.services import reading
from dolmen.services import recall as recalling
from dolmen.services.code.views import is_stale
from dolmen.services.requests import Browse, CaseView, Pack, Recall
from dolmen.services.runtime import Runtime

_TIMESTAMP = re.compile(r"\s*\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:?\d\d)\s*\Z", re.IGNORECASE)
NO_PROJECT = "No project was named: only user-wide memories were searched. Pass project to include a project's."


def recall(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    now = clock.now()
    since, until = _time(rt, args, "since", now), _time(rt, args, "until", now, "end")
    as_of = _time(rt, args, "as_of", now, "end")
    pack = recalling.recall(
        rt,
        actor,
        Recall(
            query=args["query"],
            project=args.get("project"),
            kinds=tuple(args.get("kinds", ())),
            tags=tuple(args.get("tags", ())),
            since=since,
            until=until,
            as_of=as_of,
            mode=args.get("mode", "claims"),
            include=tuple(args.get("include", ())),
            limit=args.get("limit", 10),
            budget_tokens=asked(args.get("budget_tokens", 4000)),
            cursor=args.get("cursor"),
        ),
    )
    said = [*pack.notes, *_understood(rt, args, since=since, until=until, as_of=as_of)]
    if args.get("project") is None and actor.project is None:
        said.append(NO_PROJECT)
    return compact(
        {
            "about": FRAME if pack.claims or pack.cases else "",
            "query": pack.query,
            "claims": [claim(one, now) for one in pack.claims],
            "cases": [_case(one, now) for one in pack.cases],
            "conflicts": [{"refs": list(one.refs), "why": one.why} for one in pack.conflicts],
            "gaps": list(pack.gaps),
            "index_health": plain(pack.index_health),
            "budget": _budget(pack),
            "partial": pack.partial,
            "cursor": pack.cursor,
            "event": pack.event,
            "notes": said,
        },
        *("query", "claims", "conflicts", "gaps", "index_health", "budget", "partial", "cursor", "event"),
    )


def _budget(pack: Pack) -> Json:
    return {"requested": pack.budget.requested, "used": pack.budget.used, "dropped": pack.budget.dropped}


def _case(view: CaseView, now: int) -> Json:
    return compact(
        {
            "id": view.id,
            "goal": view.goal,
            "outcome": view.outcome,
            "resolution": view.resolution,
            "score": score(view.score),
            "events": [claim(one, now) for one in view.events],
        }
    )


def read(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    if (of_note := notes.read(rt, actor, args)) is not None:
        return of_note
    view = args.get("view", "content")
    found = reading.read(rt, actor, args["ref"], view, args.get("section"))
    now = clock.now()
    answer: Json = {"about": FRAME, **memory(found.memory, now), "sha": found.sha}
    if view == "content":
        answer["text"] = found.text
        answer |= compact({"stale": is_stale(found.memory), "code_refs": [code_ref(each) for each in found.code_refs]})
    if view == "history":
        answer["history"] = [notes.history(entry, now) for entry in found.history]
    if view == "links":
        answer["links"] = links(found.links, found.memory.id)
    return {**answer, **compact({"proposals": list(found.proposals)})}


def browse(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    now = clock.now()
    listing = reading.browse(
        rt,
        actor,
        Browse(
            path=args.get("path"),
            project=args.get("project"),
            depth=args.get("depth", 1),
            changed_since=_time(rt, args, "changed_since", now),
            queued=args.get("queued", False),
            limit=args.get("limit", 50),
            cursor=args.get("cursor"),
        ),
    )
    entries: list[dict[str, Any]] = [
        compact(
            {
                "type": entry.type,
                "name": entry.name,
                "ref": entry.ref,
                "count": entry.count or None,
                "kind": entry.kind,
                "at": moment(entry.at),
            }
        )
        for entry in listing.entries
    ]
    return compact({"entries": entries, "cursor": listing.cursor, "truncated": listing.truncated}, "entries")


def _understood(rt: Runtime, args: Arguments, **times: int | None) -> list[str]:
    """Which moments the given times mean, and in which zone their days begin (B166); nothing for full timestamps."""
    said = [
        f"{name} = {moment(at)}" for name, at in times.items() if at is not None and not _TIMESTAMP.match(args[name])
    ]
    return [f"{', '.join(said)} (days of {rt.options.zone})"] if said else []


def _time(rt: Runtime, args: Arguments, name: str, now: int, edge: Literal["start", "end"] = "start") -> int | None:
    """The moment that an argument names; `until` and `as_of` a day mean its end (B166)."""
    value = args.get(name)
    return None if value is None else parse(value, now, rt.options.zone, edge=edge)
