"""What each toolset costs an agent's context: tokens of the whole `tools/list` and of the instructions."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files

from dolmen.interfaces.mcp.presenting import encode
from dolmen.interfaces.mcp.registry import Face

LIMITS = {"core": 1_800, "kenfold": 750, "kmem": 1_827}
"""Tokens of `tools/list` that a toolset may cost."""
INSTRUCTIONS_LIMIT = 60

Footprint = dict[str, dict[str, int]]


def measure(face: Face, count: Callable[[str], int]) -> dict[str, int]:
    """`{tools, list, instructions}`: number of tools, tokens of the `tools` array as sent, tokens of the instructions.

    `count` gives the cl100k tokens of a text.
    """
    return {"tools": len(face.tools), "list": count(encode(face.wire())), "instructions": count(face.instructions)}


def stored() -> Footprint:
    """The figures of this version, per toolset; a test recounts them."""
    text = files("dolmen.interfaces.mcp").joinpath("footprint.json").read_text(encoding="utf-8")
    figures: Footprint = json.loads(text)
    return figures
