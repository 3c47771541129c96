"""Codex. Recorded from 0.171.0, whose own schemas are pinned in the tests.

Its output is refused whole when it has a field that the schema does not know. 0.154 also refused `additionalContext` at
SessionStart, but took it with the prompt (B106). PostCompact carries no summary; SessionEnd gets 3 seconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dolmen.client.hook.adapters import claude
from dolmen.client.hook.event import Adapter, Event, text_of

_NO_CONTEXT_AT_START = re.compile(rb'"cli_version"\s*:\s*"0\.154\.')
_HEAD = 4096


def adapter(client: str) -> Adapter:
    return Adapter(client, read, claude.say)


def read(payload: Mapping[str, Any]) -> Event:
    event = claude.read({**payload, "transcript_path": ""})
    if event.kind == "start" and _takes_context_later(text_of(payload, "transcript_path")):
        return replace(event, later=True)
    return event


def _takes_context_later(transcript: str) -> bool:
    """The first line of a session's file names the version that wrote it."""
    try:
        with open(transcript, "rb") as stream:
            return bool(_NO_CONTEXT_AT_START.search(stream.read(_HEAD)))
    except (OSError, ValueError):
        return False
