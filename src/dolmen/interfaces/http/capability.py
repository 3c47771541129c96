"""A connection that may only read and calls a writing tool: refused by HTTP itself, where a toolset's document says so
(C-313), so that a client which signed in learns which scope to ask for."""

from __future__ import annotations

import json
from collections.abc import Callable

from starlette.types import Scope

from dolmen.interfaces.http.oauth.metadata import PROTECTED
from dolmen.interfaces.http.responses import Refusal
from dolmen.interfaces.mcp.registry import Face

Check = Callable[[Scope, bytes], None]
"""Looks at a request and its body; raises to refuse it."""

_SCOPE = "suggest"


def challenging(face: Face, base: str) -> Check:
    """The check for one toolset. `base`: the public address where hosted clients sign in; empty without one."""
    writing = frozenset(tool.name for tool in face.tools if tool.need != "read")

    def check(scope: Scope, body: bytes) -> None:
        if scope["dolmen.actor"].mode != "read" or _called(body) not in writing:
            return
        parts = ['error="insufficient_scope"', f'scope="{_SCOPE}"']
        fix = "Ask the owner for a connection in mode `suggest` or `write` (`dolmen key create --mode suggest`)."
        if base:
            parts.append(f'resource_metadata="{base}{PROTECTED}{scope["path"].rstrip("/")}"')
            fix += " A client that signed in widens its connection only through a new approval: connect it again."
        raise Refusal(
            "read-only",
            "This connection may only read.",
            fix,
            headers={"WWW-Authenticate": "Bearer " + ", ".join(parts)},
        )

    return check


def _called(body: bytes) -> str | None:
    """The tool that a JSON-RPC request calls; None when it is none."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("method") != "tools/call":
        return None
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    return name if isinstance(name, str) else None
