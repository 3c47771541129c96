"""What happened in a session, whichever client tells it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["start", "prompt", "answer", "compacted", "end", "ignored"]
Source = Literal["new", "resume", "clear", "compact"]
"""Why a session starts. `resume` has its context still in the conversation; `clear` and `compact` have lost it."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event, as far as it matters here."""

    kind: Kind
    session: str = ""
    """The client's id of the conversation; empty when it gives none."""
    directory: str = ""
    """Where the agent works; empty when the client does not say, then it is the hook's own directory."""
    text: str = ""
    """The prompt, the final response, or the summary of a compaction."""
    source: Source = "new"
    later: bool = False
    """A start at which this version of the client takes no context: it is given with the first prompt."""
    begins: bool = False
    """A prompt that may be the first sign of a session, from a client that has no event for the start."""


IGNORED = Event("ignored")


@dataclass(frozen=True, slots=True)
class Adapter:
    """How one client speaks."""

    client: str
    """As in `dolmen hook CLIENT`; also the agent's name where no key gives another."""
    read: Callable[[Mapping[str, Any]], Event]
    """Understands a payload; `IGNORED` for one that it does not know. Never raises for a JSON object."""
    say: Callable[[Event, str, str], str]
    """(event, context, warning) -> what to print. Empty prints nothing."""


def text_of(payload: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that holds text."""
    for name in names:
        value = payload.get(name)
        if isinstance(value, str) and value:
            return value
    return ""


def source_of(payload: Mapping[str, Any]) -> Source:
    """`source` in the words of most clients; a word that is not known is a new session."""
    match payload.get("source"):
        case "resume":
            return "resume"
        case "clear":
            return "clear"
        case "compact":
            return "compact"
        case _:
            return "new"
