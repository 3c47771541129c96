"""The thirteen tools and what is said of them."""

from __future__ import annotations

from dolmen.interfaces.mcp.registry import ADDS, ADDS_ONCE, READS, REPLACES, Face, Tool
from dolmen.interfaces.mcp.toolsets.core import reads, schemas, sessions, writes
from dolmen.interfaces.mcp.toolsets.core.attached import RESOURCES

TOOLS = (
    Tool("context", "core", "read", READS, schemas.CONTEXT_SAYS, schemas.CONTEXT, sessions.context),
    Tool("recall", "core", "read", READS, schemas.RECALL_SAYS, schemas.RECALL, reads.recall),
    Tool("read", "core", "read", READS, schemas.READ_SAYS, schemas.READ, reads.read),
    Tool("browse", "core", "read", READS, schemas.BROWSE_SAYS, schemas.BROWSE, reads.browse),
    Tool(
        "remember",
        "core",
        "write",
        ADDS_ONCE,
        schemas.REMEMBER_SAYS,
        schemas.REMEMBER,
        writes.remember,
        itemwise="memories",
    ),
    Tool("edit", "core", "write", REPLACES, schemas.EDIT_SAYS, schemas.EDIT, writes.edit, loose=("value",)),
    Tool("link", "core", "write", ADDS_ONCE, schemas.LINK_SAYS, schemas.LINK, writes.link),
    Tool("verify", "core", "write", ADDS_ONCE, schemas.VERIFY_SAYS, schemas.VERIFY, writes.verify),
    Tool("forget", "core", "write", REPLACES, schemas.FORGET_SAYS, schemas.FORGET, writes.forget),
    Tool(
        "handoff",
        "core",
        "write",
        ADDS,
        schemas.HANDOFF_SAYS,
        schemas.HANDOFF,
        sessions.handoff,
        texts=("next_steps",),
    ),
    Tool("resume", "core", "write", ADDS_ONCE, schemas.RESUME_SAYS, schemas.RESUME, sessions.resume),
    Tool(
        "reflect",
        "core",
        "write",
        ADDS,
        schemas.REFLECT_SAYS,
        schemas.REFLECT,
        sessions.reflect,
        texts=("decisions", "errors_resolved", "procedures", "open_questions"),
    ),
    Tool("feedback", "core", "read", ADDS, schemas.FEEDBACK_SAYS, schemas.FEEDBACK, writes.feedback),
)

FACE = Face("core", schemas.INSTRUCTIONS, TOOLS, resources=RESOURCES)
