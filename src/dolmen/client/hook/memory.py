"""What the hook asks of a memory, and what it says to it: brief, summary, and how they are put."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from dolmen.client.hook.spool import Entry
from dolmen.domain.errors import DolmenError

if TYPE_CHECKING:
    from dolmen.client.refs.desk import Desk

BUDGET = 1500
"""Tokens of the context (C-218)."""
SESSION = 128
"""Characters of a session's id that a server takes (C-32)."""


class Memory(Protocol):
    """A server, or the store of this machine."""

    @property
    def where(self) -> str:
        """For people: an address, or a file."""

    def call(self, tool: str, arguments: Mapping[str, Any], *, seconds: float, session: str = "") -> dict[str, Any]:
        """The result of a tool of the core toolset. Raises DolmenError: `unavailable` when nothing answers."""

    def desk(self) -> Desk:
        """What it knows of the code that memories refer to."""

    def close(self) -> None: ...


def brief(memory: Memory, project: str | None, seconds: float) -> dict[str, Any]:
    """What to know at the start of a session; user-wide without a project.

    Raises:
        DolmenError
    """
    return memory.call("context", {"project": project or "user", "budget_tokens": BUDGET}, seconds=seconds)


def save(memory: Memory, entry: Entry, seconds: float) -> None:
    """Stores the summary of a session. It replaces the session's earlier one; the same again is stored once (C-123).

    Raises:
        DolmenError
    """
    arguments = {"summary": entry.text, "project": entry.project}
    answer = memory.call("reflect", arguments, seconds=seconds, session=entry.session[:SESSION])
    results = answer.get("results")
    error = results[0].get("error") if isinstance(results, list) and results else None
    if isinstance(error, dict):
        raise DolmenError(error.get("code", "internal"), str(error.get("message")), str(error.get("fix", "")))
