"""Windsurf's Cascade hooks, as their reference says. Not recorded.

They can only watch: no context can be given, and no event tells the start or the end of a session. A conversation
(`trajectory_id`) is summed up some time after its last answer, when the next one begins.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dolmen.client.hook.event import IGNORED, Adapter, Event, text_of


def adapter(client: str) -> Adapter:
    return Adapter(client, read, lambda event, context, warning: "")


def read(payload: Mapping[str, Any]) -> Event:
    session = text_of(payload, "trajectory_id")
    said = payload.get("tool_info")
    info: Mapping[str, Any] = said if isinstance(said, Mapping) else {}
    match text_of(payload, "agent_action_name"):
        case "pre_user_prompt":
            return Event("prompt", session, text=text_of(info, "user_prompt"), begins=True)
        case "post_cascade_response":
            return Event("answer", session, text=text_of(info, "response"))
        case _:
            return IGNORED
