"""Whether the server can do its work, and with what."""

from __future__ import annotations

from typing import Any

from dolmen.interfaces.mcp.footprint import stored
from dolmen.interfaces.mcp.presenting import moment
from dolmen.services.runtime import Runtime
from dolmen.services.stats import health


def facts(rt: Runtime) -> dict[str, Any]:
    """Version, store, index, model, and what the tools cost an agent's context. Really reads the store.

    Raises:
        DolmenError: `unavailable` when the store does not answer.
    """
    found = health(rt)
    index = found["index"]
    return {**found, "index": {**index, "oldest_pending_at": moment(index["oldest_pending_at"])}, "footprint": stored()}
