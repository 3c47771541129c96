"""Copilot CLI and VS Code's agent hooks, which read the same files, as their references say. Not recorded.

Events are registered with capitals (`SessionStart`), which makes Copilot CLI send the fields of VS Code. Neither sends
the final response, and VS Code has no event for the end of a session: it is summed up when the next one starts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dolmen.client.hook.event import IGNORED, Adapter, Event, source_of, text_of

_EVENTS = {
    "SessionStart": "start", "sessionStart": "start", "UserPromptSubmit": "prompt", "userPromptSubmitted": "prompt",
    "Stop": "answer", "agentStop": "answer", "SessionEnd": "end", "sessionEnd": "end",
}  # fmt: skip


def adapter(client: str) -> Adapter:
    return Adapter(client, read, say)


def read(payload: Mapping[str, Any]) -> Event:
    session, directory = text_of(payload, "session_id", "sessionId"), text_of(payload, "cwd")
    match _EVENTS.get(text_of(payload, "hook_event_name", "hookEventName")):
        case "start":
            return Event("start", session, directory, source=source_of(payload))
        case "prompt":
            return Event("prompt", session, directory, text_of(payload, "prompt"))
        case "answer":
            return Event("answer", session, directory, text_of(payload, "last_assistant_message", "response"))
        case "end":
            return Event("end", session, directory)
        case _:
            return IGNORED


def say(event: Event, context: str, warning: str) -> str:
    """Copilot CLI reads `additionalContext` at the top, VS Code inside `hookSpecificOutput`."""
    answer: dict[str, Any] = {}
    if warning:
        answer["systemMessage"] = warning
    if context and event.kind == "start":
        answer["additionalContext"] = context
        answer["hookSpecificOutput"] = {"hookEventName": "SessionStart", "additionalContext": context}
    return json.dumps(answer) if answer else ""
