"""kmem's resource and its two prompts (C-197 to C-199)."""

from __future__ import annotations

from collections.abc import Mapping

from dolmen.domain.values import Actor
from dolmen.interfaces.mcp.registry import Prompt, Resource
from dolmen.interfaces.mcp.toolsets.kmem.refs import outward
from dolmen.services.notes.briefing import conventions, rendered
from dolmen.services.runtime import Runtime

HOW = """Call `recall` before you answer anything about this project, and cite claims by their ref. When it returns
gaps, say what is missing; do not fill it in. When it returns conflicts, show both sides.

Call `remember` for decisions, conventions, constraints and current state, and `edit` with op `append` to add to a note
that exists. Leave out transient debugging, and never store secrets. What you write may wait for a person: `outcome` and
`because` say so."""

BRIEF_SAYS = "This team's curated conventions, and how to use the knowledge base."


def brief(rt: Runtime, actor: Actor) -> str:
    return rendered(conventions(rt, actor), HOW, outward)


RESOURCES = (
    Resource("signpost://brief", "brief", BRIEF_SAYS, brief),
    Resource("dolmen://brief", "dolmen-brief", "The same as signpost://brief.", brief),
)

_FIRST = "Call recall first, to see whether a note about this exists already."


def _capture(given: Mapping[str, str]) -> str:
    because = f"\n\nThe rationale: {given['rationale']}" if "rationale" in given else ""
    return (
        f"{_FIRST} If one does, add to it with edit and op append, or replace it with remember and supersedes; "
        "otherwise write one note with remember and kind decision. Say what was decided, why, what was turned down, "
        "and since when it holds.\n\n"
        f"The decision: {given['decision']}{because}"
    )


def _summary(given: Mapping[str, str]) -> str:
    focus = f"\n\nFocus on: {given['focus']}" if "focus" in given else ""
    return (
        f"{_FIRST} Then write down what this session settled: decisions with their reasons, conventions, constraints, "
        "and the state in which the work stands now, one note for each subject; add to notes that exist.\n\n"
        "Leave out the debugging, dead ends, command output, what the code or the git history says already, and "
        f"anything that will be worth nothing in a week.{focus}"
    )


PROMPTS = (
    Prompt(
        "capture-decision",
        "Keep a decision at the end of an argument.",
        (("decision", "what was decided", True), ("rationale", "why", False)),
        _capture,
    ),
    Prompt(
        "session-summary",
        "Keep what a session settled, at its end.",
        (("focus", "what matters most", False),),
        _summary,
    ),
)
