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

    def call(
        self, tool: str, arguments: Mapping[str, Any], *, seconds: float, session: str = "", toolset: str = "core"
    ) -> dict[str, Any]:
        """The result of a tool. Raises DolmenError: `unavailable` when nothing answers, `forbidden` when the key is
        for another toolset alone."""

    def desk(self) -> Desk:
        """What it knows of the code that memories refer to."""

    def close(self) -> None: ...


def brief(memory: Memory, project: str | None, seconds: float) -> dict[str, Any]:
    """What to know at the start of a session; user-wide without a project. A key for Kenfold's tools alone asks those.

    Raises:
        DolmenError
    """
    try:
        return memory.call("context", {"project": project or "user", "budget_tokens": BUDGET}, seconds=seconds)
    except DolmenError as error:
        if error.code != "forbidden":
            raise
    arguments = {"budget_tokens": BUDGET, **({"project": project} if project else {})}
    return _from_kenfold(memory.call("get_context", arguments, seconds=seconds, toolset="kenfold"))


def save(memory: Memory, entry: Entry, seconds: float) -> None:
    """Stores the summary of a session. It replaces the session's earlier one; the same again is stored once (C-123).

    Raises:
        DolmenError
    """
    session = entry.session[:SESSION]
    try:
        arguments = {"summary": entry.text, "project": entry.project}
        answer = memory.call("reflect", arguments, seconds=seconds, session=session)
    except DolmenError as error:
        if error.code != "forbidden":
            raise
        kenfold = {"content": entry.text, "type": "episodic", "project": entry.project}
        answer = memory.call("remember", kenfold, seconds=seconds, session=session, toolset="kenfold")
    results = answer.get("results")
    refused = results[0].get("error") if isinstance(results, list) and results else None
    if isinstance(refused, dict):
        raise DolmenError(refused.get("code", "internal"), str(refused.get("message")), str(refused.get("fix", "")))


def _from_kenfold(answer: Mapping[str, Any]) -> dict[str, Any]:
    """A brief of Kenfold's tools in the words of the core's."""
    told = dict(answer)
    for name in ("preferences", "recent", "project", "relevant"):
        views = answer.get(name)
        told[name] = [_claim(view) for view in views if isinstance(view, Mapping)] if isinstance(views, list) else []
    if isinstance(note := answer.get("handoff"), Mapping):
        told["handoff"] = {**_claim(note), "summary": note.get("content"), "next_steps": note.get("next_steps")}
    return told


def _claim(view: Mapping[str, Any]) -> dict[str, Any]:
    facts = {"text": "content", "kind": "type", "agent": "source_agent", "trust": "trust", "stale": "stale"}
    return {**{name: view.get(theirs) for name, theirs in facts.items()}, "created": view.get("created_at")}
