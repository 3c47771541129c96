"""The one way from a tool call to its answer, for every transport: permission, arguments, handler, record."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Protocol

from dolmen.domain.errors import DolmenError
from dolmen.domain.operations import permit
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp import clock
from dolmen.interfaces.mcp.arguments import understand
from dolmen.interfaces.mcp.presenting import encode
from dolmen.interfaces.mcp.registry import Face, Tool
from dolmen.services.policy import under_policy
from dolmen.services.runtime import Runtime
from dolmen.store.contract import AuditEntry
from dolmen.store.ids import rising

_log = logging.getLogger(__name__)
_new_id = rising(clock.now)


class Watch(Protocol):
    """What a transport adds around every call."""

    def admit(self, actor: Actor, tool: Tool) -> None:
        """Raises `rate-limited` to refuse the call."""

    def finished(self, tool: Tool, outcome: str, seconds: float) -> None:
        """Counts a call: `ok`, or the code of its error."""


class Unwatched:
    """Adds nothing."""

    def admit(self, actor: Actor, tool: Tool) -> None:
        pass

    def finished(self, tool: Tool, outcome: str, seconds: float) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Answer:
    """What a call came to, before it takes the protocol's form."""

    value: Mapping[str, Any]
    outcome: str
    """`ok`, or the code of the error that `value` tells."""

    @property
    def failed(self) -> bool:
        return self.outcome != "ok"

    @property
    def text(self) -> str:
        """The same value for clients that read text only."""
        return encode(self.value)


def call(
    rt: Runtime, actor: Actor, face: Face, name: str, given: Mapping[str, Any] | None, watch: Watch | None = None
) -> Answer | None:
    """Answers one tool call. None: the toolset has no such tool, which is the protocol's own error.

    Never raises: a refusal tells the caller what to do, and an internal failure names an id that the log explains.
    """
    tool = face.by_name.get(name)
    if tool is None:
        return None
    watch = watch or Unwatched()
    started = perf_counter()
    try:
        permit(actor, f"{tool.toolset}.{tool.name}")
        watch.admit(actor, tool)
        args, notes = understand(tool, given)
        if tool.need != "read":
            actor = under_policy(rt, actor, face.policy)
        value = tool.handler(rt, actor, args)
        if notes:
            value["notes"] = [*notes, *value.get("notes", ())]
        answer = Answer(value, "ok")
        _record(rt, actor, tool)
    except DolmenError as error:
        answer = refused(error if error.code != "internal" else internal(f"{face.toolset}.{name}"))
    except Exception:
        answer = refused(internal(f"{face.toolset}.{name}"))
    watch.finished(tool, answer.outcome, perf_counter() - started)
    return answer


def refused(error: DolmenError) -> Answer:
    return Answer({"error": error.as_dict()}, error.code)


def internal(where: str) -> DolmenError:
    """For an exception being handled: logs it whole under an id, and tells the caller nothing but the id."""
    id = secrets.token_hex(4)
    _log.exception("internal failure %s in %s", id, where)
    return DolmenError(
        "internal",
        f"Something failed inside Dolmen (failure {id}).",
        f"Try again. If it stays, look for {id} in the server's log.",
        id=id,
    )


def _record(rt: Runtime, actor: Actor, tool: Tool) -> None:
    """The audit row of a read; a write puts its own into its transaction."""
    if not tool.annotations.read_only:
        return
    op = tool.name if tool.toolset == "core" else f"{tool.toolset}:{tool.name}"
    who = (actor.vault, clock.now(), actor.connection, actor.agent)
    rt.journal.audit(AuditEntry(_new_id(), *who, op, origin=actor.origin))
