"""context, handoff, resume, reflect: arguments into requests, results into JSON."""

from __future__ import annotations

from dolmen.domain.packing import asked
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp import clock
from dolmen.interfaces.mcp.presenting import FRAME, Json, age, claim, compact, moment
from dolmen.interfaces.mcp.registry import Arguments
from dolmen.interfaces.mcp.toolsets.core.outcomes import remembered
from dolmen.services import context as briefing
from dolmen.services import sessions
from dolmen.services.requests import ContextRequest, Handoff, HandoffView, Reflection
from dolmen.services.runtime import Runtime

NO_PROJECT = "No project was named: this is what holds everywhere. Pass project for a project's own memories."


def context(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    brief = briefing.context(
        rt,
        actor,
        ContextRequest(args.get("task", ""), args.get("project"), asked(args.get("budget_tokens", 2000))),
    )
    now = clock.now()
    notes = list(brief.notes)
    if args.get("project") is None and actor.project is None:
        notes.append(NO_PROJECT)
    sections = {
        "preferences": [claim(one, now) for one in brief.preferences],
        "handoff": None if brief.handoff is None else note_of(brief.handoff, now),
        "recent": [claim(one, now) for one in brief.recent],
        "project": [claim(one, now) for one in brief.project],
        "relevant": [claim(one, now) for one in brief.relevant],
    }
    return compact(
        {
            "about": FRAME if any(sections.values()) else "",
            "scope": brief.scope,
            **sections,
            "used_tokens": brief.used_tokens,
            "truncated": brief.truncated,
            "dropped": brief.dropped or None,
            "partial": brief.partial,
            "notes": notes,
        },
        "used_tokens",
        "truncated",
    )


def note_of(view: HandoffView, now: int) -> Json:
    """A handoff as it is quoted to the next agent."""
    return compact(
        {
            "ref": view.ref,
            "summary": view.summary,
            "next_steps": list(view.next_steps),
            "scope": view.scope,
            "agent": view.agent,
            "created": moment(view.created_at),
            "age": age(view.created_at, now),
            "expires": moment(view.expires_at),
            "resumed_by": view.resumed_by,
            "resumed": moment(view.resumed_at),
        }
    )


def handoff(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    view = sessions.handoff(
        rt,
        actor,
        Handoff(args["summary"], tuple(args.get("next_steps", ())), args.get("project"), args.get("ttl_seconds")),
    )
    return compact(
        {
            "outcome": view.outcome,
            "ref": view.ref,
            "scope": view.scope,
            "expires": moment(view.expires_at),
            "superseded": view.superseded,
            "proposal": view.proposal,
            "notes": list(view.notes),
        }
    )


def resume(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    view = sessions.resume(rt, actor, args.get("project"))
    if view is None:
        return {"notes": ["There is no handoff here."]}
    return {"about": FRAME, "handoff": note_of(view, clock.now())}


def reflect(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    done = sessions.reflect(
        rt,
        actor,
        Reflection(
            summary=args["summary"],
            decisions=tuple(args.get("decisions", ())),
            errors_resolved=tuple(args.get("errors_resolved", ())),
            procedures=tuple(args.get("procedures", ())),
            open_questions=tuple(args.get("open_questions", ())),
            narrative=args.get("narrative", ""),
            project=args.get("project"),
            outcome=args.get("outcome", ""),
        ),
    )
    return {"results": [remembered(result) for result in done.results], "breakdown": dict(done.breakdown)}
