"""The Model Context Protocol SDK, loaded without the parts that a server never uses.

`import mcp` also loads the SDK's client and its high-level server: 0.3 s and 10 MB that every agent session would pay
for before its first answer. Here the two packages on the way are entered without running their `__init__`; it runs when
somebody asks for a name that it defines, so `from mcp import Client` works as ever.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any


class _Entered(ModuleType):
    """A package whose `__init__` has not run yet."""

    def __getattr__(self, name: str) -> Any:
        loader = None if name.startswith("__") else self.__dict__.pop("_unrun", None)
        if loader is None:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        loader.exec_module(self)
        return getattr(self, name)


def _enter(name: str) -> None:
    spec = None if name in sys.modules else importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        return
    package = importlib.util.module_from_spec(spec)
    package.__class__ = _Entered
    package.__dict__["_unrun"] = spec.loader
    sys.modules[name] = package
    parent, _, child = name.rpartition(".")
    if parent:
        setattr(sys.modules[parent], child, package)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Loading makes many objects that all stay: collecting in between costs a tenth of a second and frees nothing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def load() -> None:
    """Loads the server's half of the SDK; harmless to repeat."""
    if "mcp.server.lowlevel.server" in sys.modules:
        return
    with _without_collection():
        _enter("mcp")
        _enter("mcp.server")
        importlib.import_module("mcp.server.lowlevel.server")


load()

from mcp.server.caching import CacheHint  # noqa: E402
from mcp.server.context import ServerRequestContext  # noqa: E402
from mcp.server.lowlevel.server import Server  # noqa: E402
from mcp.shared.exceptions import MCPError  # noqa: E402
from mcp.shared.message import SessionMessage  # noqa: E402
from mcp_types import (  # noqa: E402
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ErrorData,
    GetPromptRequestParams,
    GetPromptResult,
    JSONRPCError,
    ListPromptsResult,
    ListResourcesResult,
    ListToolsResult,
    PaginatedRequestParams,
    Prompt,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError  # noqa: E402

__all__ = [
    "INVALID_PARAMS",
    "INVALID_REQUEST",
    "PARSE_ERROR",
    "CacheHint",
    "CallToolRequestParams",
    "CallToolResult",
    "ErrorData",
    "GetPromptRequestParams",
    "GetPromptResult",
    "JSONRPCError",
    "ListPromptsResult",
    "ListResourcesResult",
    "ListToolsResult",
    "MCPError",
    "PaginatedRequestParams",
    "Prompt",
    "PromptArgument",
    "PromptMessage",
    "ReadResourceRequestParams",
    "ReadResourceResult",
    "Resource",
    "Server",
    "ServerRequestContext",
    "SessionMessage",
    "TextContent",
    "TextResourceContents",
    "Tool",
    "ToolAnnotations",
    "ValidationError",
    "jsonrpc_message_adapter",
]
