"""Where a client's file is on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_MOVED = {".codex": "CODEX_HOME", ".claude": "CLAUDE_CONFIG_DIR", ".copilot": "COPILOT_HOME"}
"""Folders of the home directory that the client lets one move."""


def place(name: str, home: Path, here: Path, environment: Mapping[str, str] | None = None) -> Path:
    """The path of `~/…` or `./…` in a table of clients."""
    environment = os.environ if environment is None else environment
    start, _, rest = name.partition("/")
    if start == ".":
        return here / rest
    first, _, below = rest.partition("/")
    if first == ".claude.json" and (moved := environment.get("CLAUDE_CONFIG_DIR")):
        return Path(moved) / first
    if first in _MOVED and (moved := environment.get(_MOVED[first])):
        return Path(moved) / below
    if rest.startswith(".config/Code/"):
        return _configuration(home, environment) / below
    if first == ".config" and (moved := environment.get("XDG_CONFIG_HOME")):
        return Path(moved) / below
    return home / rest


def _configuration(home: Path, environment: Mapping[str, str]) -> Path:
    """Where editors keep their settings."""
    if sys.platform == "win32":
        return Path(environment.get("APPDATA") or home / "AppData" / "Roaming")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support"
    return Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
