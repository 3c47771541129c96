"""The core toolset's resource: the brief, from the renderer of every door (C-199)."""

from __future__ import annotations

from dolmen.domain.values import Actor
from dolmen.interfaces.mcp.registry import Resource
from dolmen.services.notes.briefing import conventions, rendered
from dolmen.services.runtime import Runtime

HOW = """Call `context` at the start of a task and `recall` before you answer what may have been settled before; cite
what you use by its ref. When an answer names gaps, say what is missing; do not fill it in. When it names conflicts,
show both sides.

Call `remember` for decisions, conventions, constraints and current state, and `edit` to change what is stored. Leave
out transient debugging, and never store secrets. What you write may wait for a person: the answer says so."""

BRIEF_SAYS = "This team's curated conventions, and how to use the memory."


def brief(rt: Runtime, actor: Actor) -> str:
    return rendered(conventions(rt, actor), HOW)


RESOURCES = (Resource("dolmen://brief", "brief", BRIEF_SAYS, brief),)
