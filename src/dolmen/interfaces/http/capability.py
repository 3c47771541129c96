"""What HTTP itself decides about a call, before a tool is asked, where a toolset's document says so: a connection that
may only read calls no writing tool (C-313), and none calls many costly ones at once (C-342)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from starlette.types import Scope

from dolmen.domain.values import Actor
from dolmen.interfaces.http.limits import Limits
from dolmen.interfaces.http.oauth.metadata import PROTECTED
from dolmen.interfaces.http.quotas import Standing
from dolmen.interfaces.http.responses import Refusal
from dolmen.interfaces.mcp.registry import Face

Check = Callable[[Scope, bytes], AbstractContextManager[None]]
"""Around the work on a request whose body was read; raises to refuse it."""

_SCOPE = "suggest"


def checking(face: Face, base: str, limits: Limits) -> Check | None:
    """The check for one toolset; None for one that has nothing to check. `base`: the public address where hosted
    clients sign in; empty without one."""
    if not (face.challenges or face.costly):
        return None
    writing = frozenset(tool.name for tool in face.tools if tool.need != "read") if face.challenges else frozenset()

    @contextmanager
    def check(scope: Scope, body: bytes) -> Iterator[None]:
        actor: Actor = scope["dolmen.actor"]
        standing: Standing = scope["dolmen.standing"]
        tool = _called(body)
        if actor.mode == "read" and tool in writing:
            raise insufficient(base, scope["path"])
        if tool not in face.costly or standing.call is None:
            yield
            return
        with limits.request(f"{actor.connection} {face.toolset}", time.monotonic(), standing.call):
            yield

    return check


def insufficient(base: str, path: str) -> Refusal:
    """The refusal of a write by a connection that may only read, which names the scope to ask for."""
    parts = ['error="insufficient_scope"', f'scope="{_SCOPE}"']
    fix = "Ask the owner for a connection in mode `suggest` or `write` (`dolmen key create --mode suggest`)."
    if base:
        parts.append(f'resource_metadata="{base}{PROTECTED}{path.rstrip("/")}"')
        fix += " A client that signed in widens its connection only through a new approval: connect it again."
    return Refusal(
        "read-only",
        "This connection may only read.",
        fix,
        headers={"WWW-Authenticate": "Bearer " + ", ".join(parts)},
    )


def _called(body: bytes) -> str | None:
    """The tool that a JSON-RPC request calls; None when it is none."""
    if b"tools/call" not in body and b"\\" not in body:  # some clients write it `tools\/call`
        return None
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.get("method") != "tools/call":
        return None
    params = message.get("params")
    name = params.get("name") if isinstance(params, dict) else None
    return name if isinstance(name, str) else None
