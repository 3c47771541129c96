"""The programs from npm that judge: installed once into a folder of their own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "out" / "conformance"

SUITE = "@modelcontextprotocol/conformance"
INSPECTOR = "@modelcontextprotocol/inspector"
CLIENTS = {
    "claude": "@anthropic-ai/claude-code",
    "codex": "@openai/codex",
    "gemini": "@google/gemini-cli",
    "qwen": "@qwen-code/qwen-code",
    "opencode": "opencode-ai",
}
"""Command: package."""

WANTED = {
    "node": "22",  # the suite and the Inspector need 22.19 or later
    SUITE: "0.2.0-alpha.12",  # the first line that knows 2026-07-28
    INSPECTOR: "2",
    **dict.fromkeys(CLIENTS.values(), "latest"),
}

BIN = FOLDER / "node_modules" / ".bin"


def install() -> None:
    """Downloads what is missing."""
    if all((FOLDER / "node_modules" / name / "package.json").is_file() for name in WANTED):
        return
    npm = shutil.which("npm")
    if npm is None:
        raise SystemExit("npm is not installed: install Node.js, any version; the right one is then fetched.")
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "package.json").write_text('{"name": "judges", "private": true}\n')
    names = [f"{name}@{version}" for name, version in WANTED.items()]
    subprocess.run([npm, "install", "--no-audit", "--no-fund", "--loglevel=error", *names], cwd=FOLDER, check=True)


def version(name: str) -> str:
    found: str = json.loads((FOLDER / "node_modules" / name / "package.json").read_text())["version"]
    return found


def environment(home: Path) -> dict[str, str]:
    """A home of its own, so that nobody's own clients are touched, and Node 22 first on the path."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DOLMEN_", "XDG_", "CLAUDE"))}
    return {**kept, "HOME": str(home), "PATH": f"{BIN}{os.pathsep}{kept['PATH']}"}
