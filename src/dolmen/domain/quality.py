"""What in a memory store is noise: statements too short to mean anything, and text that was never said by anybody."""

from __future__ import annotations

import re
import unicodedata

_SHORTEST = 12
"""Columns of text under which a statement says nothing on its own; a wide (CJK, Hangul) character counts two."""

_ECHO = re.compile(r"dolmen://memory/|<recalled|\"claims\"\s*:|\"index_health\"\s*:", re.IGNORECASE)
_MACHINE = re.compile(
    r"<system-reminder>|<\|im_start\|>|\A\s*(?:you are (?:claude|chatgpt|codex|gemini|an ai|a helpful)|"
    r"system prompt:|heartbeat\b|\[heartbeat|ping\s*\Z|health ?check ok\b|tool_result\b)",
    re.IGNORECASE,
)


def noise(text: str) -> str | None:
    """Why a text looks like noise (`short`, `echo`, `machine`), None when it does not (B155).

    `echo` is recalled memory that was stored again; `machine` is a system prompt or a heartbeat.
    """
    columns = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text.strip()[: _SHORTEST + 1])
    if columns < _SHORTEST:
        return "short"
    if _ECHO.search(text):
        return "echo"
    if _MACHINE.search(text):
        return "machine"
    return None
