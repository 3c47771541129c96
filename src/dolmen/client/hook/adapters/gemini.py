"""Gemini CLI. Recorded from 0.61.0.

Without a terminal, what SessionStart gave stands in the prompt again, in `<hook_context>`: it is not the person's.
There is no event with a summary of a compression (PreCompress also fires when nothing is compressed).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from dolmen.client.hook.adapters import claude
from dolmen.client.hook.event import IGNORED, Adapter, Event, source_of, text_of

_OURS = re.compile(r"<hook_context>.*?</hook_context>\s*", re.DOTALL)


def adapter(client: str) -> Adapter:
    return Adapter(client, read, claude.say)


def read(payload: Mapping[str, Any]) -> Event:
    session, directory = text_of(payload, "session_id"), text_of(payload, "cwd")
    match text_of(payload, "hook_event_name"):
        case "SessionStart":
            return Event("start", session, directory, source=source_of(payload))
        case "BeforeAgent":
            return Event("prompt", session, directory, _OURS.sub("", text_of(payload, "prompt")))
        case "AfterAgent":
            return Event("answer", session, directory, text_of(payload, "prompt_response"))
        case "SessionEnd":
            return Event("end", session, directory)
        case _:
            return IGNORED
