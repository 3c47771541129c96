"""One adapter per client. A module is imported when its client's hook runs."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from dolmen.client.hook.event import Adapter

MODULES: Mapping[str, str] = {
    "claude-code": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "qwen": "qwen",
    "cursor": "cursor",
    "copilot": "copilot",
    "vscode": "copilot",
    "windsurf": "windsurf",
    "opencode": "opencode",
}
"""Client: module here that has its adapter."""


def adapter_for(client: str) -> Adapter | None:
    """The adapter of a client; None for one that is not known."""
    module = MODULES.get(client)
    if module is None:
        return None
    found = import_module(f"{__name__}.{module}").adapter(client)
    assert isinstance(found, Adapter)
    return found
