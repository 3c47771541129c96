"""Cursor, as its documentation of version 1 hooks says. Not recorded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dolmen.client.hook.event import IGNORED, Adapter, Event, text_of


def adapter(client: str) -> Adapter:
    return Adapter(client, read, say)


def read(payload: Mapping[str, Any]) -> Event:
    session = text_of(payload, "conversation_id", "session_id")
    roots = payload.get("workspace_roots")
    directory = next((root for root in roots if isinstance(root, str)), "") if isinstance(roots, list) else ""
    directory = directory or text_of(payload, "cwd")
    match text_of(payload, "hook_event_name"):
        case "sessionStart":
            return Event("start", session, directory)
        case "beforeSubmitPrompt":
            return Event("prompt", session, directory, text_of(payload, "prompt"))
        case "afterAgentResponse":
            return Event("answer", session, directory, text_of(payload, "text"))
        case "sessionEnd":
            return Event("end", session, directory)
        case _:
            return IGNORED


def say(event: Event, context: str, warning: str) -> str:
    """It has no place for a warning to the person, so that stands with the context."""
    if event.kind == "prompt":
        return json.dumps({"continue": True})
    said = context or warning
    return json.dumps({"additional_context": said}) if said else ""
