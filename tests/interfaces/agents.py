"""An agent at the tools of one toolset, over a real store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dolmen.domain.values import Actor
from dolmen.interfaces.mcp.dispatch import Answer, call
from dolmen.interfaces.mcp.registry import Face
from tests.services.conftest import House


@dataclass(frozen=True)
class ToolAgent:
    """Calls tools as a transport does, and says what must become of each call."""

    house: House
    actor: Actor
    face: ClassVar[Face]

    def ask(self, tool: str, /, **args: Any) -> Answer:
        answer = call(self.house.rt, self.actor, self.face, tool, args)
        assert answer is not None, tool
        return answer

    def do(self, tool: str, /, **args: Any) -> dict[str, Any]:
        """The result of a call that must succeed."""
        answer = self.ask(tool, **args)
        assert not answer.failed, answer.value
        return dict(answer.value)

    def refused(self, tool: str, /, **args: Any) -> Mapping[str, Any]:
        """The error of a call that must fail."""
        answer = self.ask(tool, **args)
        assert answer.failed, answer.value
        error: Mapping[str, Any] = answer.value["error"]
        assert error["message"], "it says what is wrong"
        assert error["fix"], "and what to do"
        return error
