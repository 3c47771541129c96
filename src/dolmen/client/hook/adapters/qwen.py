"""Qwen Code. Recorded from 0.24.4.

`prompt` may be what a tool gave back; what the person typed stands in `submitted_prompt`. There is no event after a
compaction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dolmen.client.hook.adapters import claude
from dolmen.client.hook.event import Adapter, Event, text_of


def adapter(client: str) -> Adapter:
    return Adapter(client, read, claude.say)


def read(payload: Mapping[str, Any]) -> Event:
    event = claude.read({**payload, "transcript_path": ""})
    return replace(event, text=text_of(payload, "submitted_prompt")) if event.kind == "prompt" else event
