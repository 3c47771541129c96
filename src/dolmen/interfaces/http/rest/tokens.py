"""POST /api/tokens: a connection for an agent, as kmem makes one (C-308, C-45, C-344)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast, get_args

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.timeframe import format_utc
from dolmen.domain.values import DAY, Actor, Mode
from dolmen.interfaces.http.rest.endpoint import Asked
from dolmen.interfaces.mcp import clock
from dolmen.interfaces.mcp.toolsets.kmem.refs import Refusal
from dolmen.services.accounts import create_key
from dolmen.services.policy import policy_of
from dolmen.services.runtime import Runtime

PATH = "/api/tokens"
DAYS = (7, 30, 90)
_SCOPES = tuple(mode for mode in get_args(Mode) if mode != "admin")
_FIELDS = frozenset({"label", "scope", "expires_in", "reach"})


def created(rt: Runtime, actor: Actor, asked: Asked) -> Mapping[str, Any]:
    """Makes a key for kmem's tools and tells its secret, once. `expires_in` is in days: 7 if nothing is said, 30, 90,
    or null for never. `reach` is taken and ignored."""
    asked.only()
    require(actor, "admin")
    body = asked.body
    if not isinstance(body, dict):
        raise DolmenError("invalid-argument", "The body is no object.", 'Send {"label", "scope", "expires_in"}.')
    if unknown := sorted(set(body) - _FIELDS):
        raise DolmenError("invalid-argument", f"Unknown field {unknown[0][:40]!r}.", "Leave it out.")
    label, scope, days = body.get("label"), body.get("scope"), body.get("expires_in", DAYS[0])
    if not isinstance(label, str) or scope not in _SCOPES:
        raise DolmenError(
            "invalid-argument", "label or scope is missing.", f"Send a label and a scope of {', '.join(_SCOPES)}."
        )
    if days is not None and (isinstance(days, bool) or days not in DAYS):
        raise DolmenError("invalid-argument", "That is no end of a connection.", "Use 7, 30 or 90 days, or null.")
    if scope == "write" and not policy_of(rt, actor).agent_writes:
        off = DolmenError(
            "forbidden",
            "Agent writes are off here, so no connection is made that writes.",
            "Ask for the scope suggest, or have the owner turn them on: `dolmen settings agent_writes on`.",
        )
        raise Refusal(off, "agent-writes-off")
    expires_at = None if days is None else clock.now() + days * DAY
    connection, secret = create_key(
        rt, actor, agent=label, mode=cast(Mode, scope), toolset="kmem", expires_at=expires_at, label=label
    )
    return {
        "id": connection.id,
        "token": secret,
        "label": label,
        "scope": scope,
        "expires_at": None if expires_at is None else format_utc(expires_at),
    }
