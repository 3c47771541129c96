"""OpenCode, through the plugin that `dolmen install opencode` writes: the payloads are the plugin's own."""

from __future__ import annotations

import json

from dolmen.client.hook.adapters import claude
from dolmen.client.hook.event import Adapter, Event


def adapter(client: str) -> Adapter:
    return Adapter(client, claude.read, say)


def say(event: Event, context: str, warning: str) -> str:
    answer = {"context": context, "warning": warning}
    return json.dumps({key: value for key, value in answer.items() if value}) if event.kind == "start" else ""
