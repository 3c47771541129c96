"""The kenfold toolset: Kenfold's six tools, for clients, prompts and skills that were written for it."""

from __future__ import annotations

from dolmen.interfaces.mcp.registry import ADDS, ADDS_ONCE, READS, Annotations, Face, Tool
from dolmen.interfaces.mcp.toolsets.kenfold import reads, schemas, writes

REMOVES_ONCE = Annotations(destructive=True, idempotent=True, explicit=True)
"""Said, not left to what the protocol assumes: the document lists it, and some clients take a missing hint as false."""

TOOLS = (
    Tool("get_context", "kenfold", "read", READS, schemas.GET_CONTEXT_SAYS, schemas.GET_CONTEXT, reads.get_context),
    Tool("remember", "kenfold", "write", ADDS_ONCE, schemas.REMEMBER_SAYS, schemas.REMEMBER, writes.remember),
    Tool("recall", "kenfold", "read", READS, schemas.RECALL_SAYS, schemas.RECALL, reads.recall),
    Tool(
        "handoff",
        "kenfold",
        "write",
        ADDS,
        schemas.HANDOFF_SAYS,
        schemas.HANDOFF,
        writes.handoff,
        texts=("next_steps",),
    ),
    Tool("resume", "kenfold", "write", ADDS_ONCE, schemas.RESUME_SAYS, schemas.RESUME, writes.resume),
    Tool("forget", "kenfold", "write", REMOVES_ONCE, schemas.FORGET_SAYS, schemas.FORGET, writes.forget),
)

FACE = Face("kenfold", schemas.INSTRUCTIONS, TOOLS)
