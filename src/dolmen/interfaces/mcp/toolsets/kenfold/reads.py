"""get_context, recall: arguments into requests, results into JSON."""

from __future__ import annotations

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import USER_SCOPE, Actor
from dolmen.interfaces.mcp.presenting import Json, compact
from dolmen.interfaces.mcp.registry import Arguments
from dolmen.interfaces.mcp.toolsets.kenfold.types import KINDS_OF, kinds_of
from dolmen.interfaces.mcp.toolsets.kenfold.views import found, summaries, view, views, with_code
from dolmen.services import context as briefing
from dolmen.services import recall as recalling
from dolmen.services.requests import ContextRequest, Recall
from dolmen.services.runtime import Runtime

LIMIT, LIMIT_MOST, BUDGET = 10, 50, 2_000


def project_in(args: Arguments) -> str:
    """The project that the call names; without one it is about the user, not about the connection's project (C-28)."""
    return str(args.get("project") or "").strip() or USER_SCOPE


def get_context(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    brief = briefing.context(
        rt,
        actor,
        ContextRequest(
            task=args.get("task", ""),
            project=project_in(args),
            budget_tokens=args.get("budget_tokens") or BUDGET,
            priority=("preferences", "handoff", "recent", "project", "relevant"),
            project_kinds=KINDS_OF["project"],
            excerpt=None,
        ),
    )
    waiting = brief.handoff.memory if brief.handoff else None
    project, relevant = views(brief.project), found(brief.relevant)
    with_code(rt, actor, [*project, *relevant])
    return compact(
        {
            "preferences": views(brief.preferences),
            "handoff": None if waiting is None else view(waiting),
            "recent": summaries(brief.recent),
            "project": project,
            "relevant": relevant,
            "truncated": brief.truncated,
            "notes": list(brief.notes),
        },
        *("preferences", "recent", "project", "relevant", "truncated"),
    )


def recall(rt: Runtime, actor: Actor, args: Arguments) -> Json:
    if not args["query"].strip():
        raise DolmenError("invalid-argument", "The query is empty.", "Say what you want to know.")
    asked = args.get("limit") or LIMIT
    limit = min(asked, LIMIT_MOST) if asked > 0 else LIMIT
    pack = recalling.recall(
        rt,
        actor,
        Recall(
            query=args["query"],
            project=project_in(args),
            kinds=kinds_of(args.get("types", ())),
            limit=limit,
            budget_tokens=None,
            fold=False,
        ),
    )
    notes = [*([f"limit {asked} was taken as {limit}"] if asked != limit else []), *pack.notes]
    memories = found(pack.claims)
    with_code(rt, actor, memories)
    return compact({"memories": memories, "notes": notes}, "memories")
