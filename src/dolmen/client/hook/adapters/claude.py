"""Claude Code, whose form of payloads and answers several others have taken over.

Recorded from Claude Code 2.1.197; tests/client/recorded has the payloads. A resumed session keeps the context in its
transcript, a compacted one gets SessionStart with source `compact`, a cleared one a new session id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dolmen.client.hook.event import IGNORED, Adapter, Event, source_of, text_of

_TAIL = 256 * 1024


def adapter(client: str) -> Adapter:
    return Adapter(client, read, say)


def read(payload: Mapping[str, Any]) -> Event:
    if payload.get("agent_id"):  # a subagent's part of the session
        return IGNORED
    session, directory = text_of(payload, "session_id", "sessionId"), text_of(payload, "cwd")
    match text_of(payload, "hook_event_name", "hookEventName"):
        case "SessionStart":
            return Event("start", session, directory, source=source_of(payload))
        case "UserPromptSubmit":
            return Event("prompt", session, directory, text_of(payload, "prompt"))
        case "Stop":
            said = text_of(payload, "last_assistant_message") or last_answer(text_of(payload, "transcript_path"))
            return Event("answer", session, directory, said)
        case "PostCompact":
            return Event("compacted", session, directory, text_of(payload, "compact_summary"))
        case "SessionEnd":
            return Event("end", session, directory)
        case _:
            return IGNORED


def say(event: Event, context: str, warning: str) -> str:
    """Context where the model reads it, the warning where the person does."""
    answer: dict[str, Any] = {}
    if warning:
        answer["systemMessage"] = warning
    if context:
        name = "SessionStart" if event.kind == "start" else "UserPromptSubmit"
        answer["hookSpecificOutput"] = {"hookEventName": name, "additionalContext": context}
    return json.dumps(answer) if answer else ""


def last_answer(transcript: str) -> str:
    """The last thing that the assistant said, out of a transcript of JSON lines: for versions before 2.1, whose Stop
    does not carry it. Empty when it cannot be found."""
    try:
        with open(transcript, "rb") as stream:
            stream.seek(0, 2)
            stream.seek(max(0, stream.tell() - _TAIL))
            lines = stream.read(_TAIL).decode("utf-8", "replace").splitlines()
    except (OSError, ValueError):
        return ""
    for line in reversed(lines):
        if '"assistant"' in line and (said := _said(line)):
            return said
    return ""


def _said(line: str) -> str:
    try:
        entry = json.loads(line)
        parts = entry["message"]["content"] if entry.get("type") == "assistant" else ()
        return "\n".join(part["text"] for part in parts if part.get("type") == "text")
    except (ValueError, KeyError, TypeError, AttributeError):
        return ""
