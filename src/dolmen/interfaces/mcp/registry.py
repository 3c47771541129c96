"""What a tool is: a declaration and a thin handler. Each toolset lists its tools in one place (`toolsets/<name>`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dolmen.domain.access import Need
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Actor, Bounds, Toolset
from dolmen.services.policy import Reading, by_versions
from dolmen.services.runtime import Runtime

Arguments = Mapping[str, Any]
"""Checked arguments: every value has the type that the schema asks for; absent ones are absent."""

Handler = Callable[[Runtime, Actor, Arguments], dict[str, Any]]
"""Translates the arguments into a request, calls one operation, and presents its result as a JSON object."""


@dataclass(frozen=True, slots=True)
class Annotations:
    """What a client may assume about a tool. The protocol's defaults are the worst case; only better news is sent."""

    read_only: bool = False
    """It changes nothing."""
    destructive: bool = True
    """It may take something away; only meaningful for a tool that is not read-only."""
    idempotent: bool = False
    """The same call again changes nothing more; only meaningful for a tool that is not read-only."""
    open_world: bool = False
    """It reaches beyond this memory; none does."""
    explicit: bool = False
    """All four are sent, for a toolset whose document lists them."""

    def wire(self) -> dict[str, bool]:
        """The hints as the protocol names them, without those that say what is assumed anyway."""
        if self.explicit:
            return {
                "readOnlyHint": self.read_only,
                "destructiveHint": self.destructive,
                "idempotentHint": self.idempotent,
                "openWorldHint": self.open_world,
            }
        hints = {"openWorldHint": self.open_world}
        if self.read_only:
            return {"readOnlyHint": True, **hints}
        if not self.destructive:
            hints = {"destructiveHint": False, **hints}
        if self.idempotent:
            hints = {"idempotentHint": True, **hints}
        return hints


READS = Annotations(read_only=True)
ADDS = Annotations(destructive=False)
ADDS_ONCE = Annotations(destructive=False, idempotent=True)
REPLACES = Annotations(destructive=True)


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of one toolset."""

    name: str
    toolset: Toolset
    need: Need
    """The permission that a call asks for; decided once, in `dispatch`."""
    annotations: Annotations
    description: str
    schema: Mapping[str, Any]
    """JSON Schema of the arguments: one flat object."""
    handler: Handler
    itemwise: str = ""
    """The array argument whose items fail alone; a refused item reaches the handler as a `DolmenError`."""
    texts: tuple[str, ...] = ()
    """Lists of sentences: one sent as plain text is one item, where a list of words is cut at its commas."""

    loose: tuple[str, ...] = ()
    """Arguments declared as text that take any JSON value: some models refuse a parameter without a type."""

    def wire(self) -> dict[str, Any]:
        """The tool as `tools/list` sends it."""
        return {
            "name": self.name,
            "description": self.description,
            "inputSchema": dict(self.schema),
            "annotations": self.annotations.wire(),
        }


@dataclass(frozen=True, slots=True)
class Resource:
    """A document that a client can attach to a conversation before the model speaks."""

    uri: str
    name: str
    description: str
    read: Callable[[Runtime, Actor], str]
    """Its Markdown."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """A message that a person picks from a menu."""

    name: str
    description: str
    arguments: tuple[tuple[str, str, bool], ...]
    """(name, description, required) of each."""
    text: Callable[[Mapping[str, str]], str]
    """What is said for the given arguments."""


@dataclass(frozen=True, slots=True)
class Face:
    """One toolset as a client sees it."""

    toolset: Toolset
    instructions: str
    tools: tuple[Tool, ...]
    policy: Reading = by_versions
    """How this face reads the vault's write policy."""
    challenges: bool = False
    """Over HTTP, a connection that may only read and calls a writing tool is refused by the door itself (C-313)."""
    bounds: Bounds = field(default_factory=Bounds)
    """How much a connection may ask for here, where neither it nor the server says otherwise."""
    costly: tuple[str, ...] = ()
    """The tools whose calls `bounds.at_once` counts; none for all requests."""
    resources: tuple[Resource, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    by_name: Mapping[str, Tool] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {tool.name: tool for tool in self.tools})

    def wire(self) -> list[dict[str, Any]]:
        """The `tools` array of `tools/list`."""
        return [tool.wire() for tool in self.tools]


def faces(public_url: str = "") -> dict[Toolset, Face]:
    """Every toolset that this version serves. `public_url`: where people open a memory in a browser, if anywhere."""
    from dolmen.interfaces.mcp.toolsets import kenfold, kmem, openai
    from dolmen.interfaces.mcp.toolsets.core.face import FACE as CORE

    return {face.toolset: face for face in (CORE, kenfold.FACE, kmem.FACE, openai.face(public_url))}


def face(toolset: str, public_url: str = "") -> Face:
    """One toolset.

    Raises:
        DolmenError: `not-found` for a name that is no toolset, or one that this version does not serve.
    """
    served = faces(public_url)
    for name, found in served.items():
        if name == toolset:
            return found
    raise DolmenError("not-found", f"There is no toolset {toolset!r} here.", f"Use one of: {', '.join(served)}.")
