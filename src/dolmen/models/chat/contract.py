"""The chat contract: a question in, one checked JSON object out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from dolmen.domain.errors import DolmenError
from dolmen.models.contract import ModelUnavailable


class ChatUnavailable(ModelUnavailable):
    """The chat model cannot answer now. The caller goes on without it."""

    what = "chat model"

    def __init__(self, reason: str, fix: str) -> None:
        DolmenError.__init__(self, "model-unavailable", f"The {self.what} is not available: {reason}", fix)
        self.reason = reason


class Unanswered(ChatUnavailable):
    """This question got no answer that can be used: no valid JSON, another shape, cut off, or none in time.

    Another question may well get one, so work that repeats its questions counts these, and not the outages.
    """


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. The rules come from this program; whatever anybody else wrote stands in `material` alone."""

    rules: str
    """What to do and how to answer; sent as the system message."""
    material: str
    """What to do it with; sent as the user's message."""
    name: str
    """Of the answer's form, in `snake_case`; some endpoints want one."""
    schema: Mapping[str, Any]
    """JSON Schema of the answer: an object."""
    longest: int = 2_000
    """Tokens of the answer, at most."""


class Chat(Protocol):
    """A chat model. Every method may be called from several threads at once; a failure is always `ChatUnavailable`."""

    @property
    def model(self) -> str:
        """Its name, for the records."""

    def ask(self, question: Question, timeout: float | None = None) -> dict[str, Any]:
        """The answer, which satisfies the question's schema.

        Args:
            timeout: seconds to wait at most; None for the setting's.

        Raises:
            Unanswered: see there.
            ChatUnavailable: the endpoint cannot be reached, refuses, or failed a moment ago.
        """

    def close(self) -> None:
        """Releases connections, and does not wait for a question that is being asked. Later ones raise."""
