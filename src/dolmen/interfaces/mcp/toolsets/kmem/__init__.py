"""The kmem toolset: kmem's seven tools over notes, for clients, prompts and skills that were written for it."""

from __future__ import annotations

from dolmen.domain.values import Bounds
from dolmen.interfaces.mcp.registry import Annotations, Face, Tool
from dolmen.interfaces.mcp.toolsets.kmem import reads, schemas, writes
from dolmen.interfaces.mcp.toolsets.kmem.attached import PROMPTS, RESOURCES
from dolmen.interfaces.mcp.toolsets.kmem.refs import speaking
from dolmen.services.policy import by_conflicts

READS = Annotations(read_only=True, destructive=False, idempotent=True, explicit=True)
ADDS = Annotations(destructive=False, explicit=True)
ADDS_ONCE = Annotations(destructive=False, idempotent=True, explicit=True)
CHANGES = Annotations(destructive=True, explicit=True)

TOOLS = (
    Tool("recall", "kmem", "read", READS, schemas.RECALL_SAYS, schemas.RECALL, speaking(reads.recall)),
    Tool("read", "kmem", "read", READS, schemas.READ_SAYS, schemas.READ, speaking(reads.read)),
    Tool("browse", "kmem", "read", READS, schemas.BROWSE_SAYS, schemas.BROWSE, speaking(reads.browse)),
    Tool("remember", "kmem", "write", ADDS, schemas.REMEMBER_SAYS, schemas.REMEMBER, speaking(writes.remember)),
    Tool("edit", "kmem", "write", CHANGES, schemas.EDIT_SAYS, schemas.EDIT, speaking(writes.edit), loose=("value",)),
    Tool("verify", "kmem", "write", ADDS_ONCE, schemas.VERIFY_SAYS, schemas.VERIFY, speaking(writes.verify)),
    Tool("link", "kmem", "write", ADDS_ONCE, schemas.LINK_SAYS, schemas.LINK, speaking(writes.link)),
)

FACE = Face(
    "kmem",
    schemas.INSTRUCTIONS,
    TOOLS,
    policy=by_conflicts,
    challenges=True,
    bounds=Bounds(per_minute=60, per_hour=1_000, at_once=4),
    costly=("recall", "remember", "edit"),
    resources=RESOURCES,
    prompts=PROMPTS,
)
