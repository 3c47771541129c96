"""What a person runs, or writes where, to connect each client."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

Transport = Literal["http", "stdio"]

KEY_SHOWN = "dlm_…"
"""Stands where the reader puts a key (`dolmen key create AGENT`)."""
DEFAULT_URL = "http://127.0.0.1:7077/mcp"


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to run, or what to write where, to connect one client."""

    client: str
    """The client's own name: `Claude Code`."""
    transport: Transport
    text: str
    """Lines to copy: shell commands, or the contents of `file`."""
    file: str = ""
    """The file that holds `text`; empty when it is commands."""

    @property
    def is_command(self) -> bool:
        return not self.file


def recipes(url: str = DEFAULT_URL, *, with_key: bool = False, key: str = KEY_SHOWN) -> tuple[Recipe, ...]:
    """Every client over HTTP; with `key` where the server asks for one."""
    bearer = f"Authorization: Bearer {key}"
    headers: dict[str, object] = {"headers": {"Authorization": f"Bearer {key}"}} if with_key else {}
    codex = f"codex mcp add dolmen --url {url}"
    if with_key:
        codex = f"export DOLMEN_KEY={key}\n{codex} --bearer-token-env-var DOLMEN_KEY"
    header = f' --header "{bearer}"' if with_key else ""
    return (
        Recipe("Claude Code", "http", f"claude mcp add --scope user --transport http dolmen {url}{header}"),
        Recipe("Codex", "http", codex),
        Recipe("Cursor", "http", _json({"mcpServers": {"dolmen": {"url": url, **headers}}}), file="~/.cursor/mcp.json"),
        Recipe(
            "VS Code",
            "http",
            _json({"servers": {"dolmen": {"type": "http", "url": url, **headers}}}),
            file=".vscode/mcp.json",
        ),
        Recipe("Gemini CLI", "http", f"gemini mcp add --scope user --transport http{header} dolmen {url}"),
        Recipe("any other client", "http", _curl(url, bearer if with_key else "")),
    )


def stdio_recipes(command: str = "dolmen") -> tuple[Recipe, ...]:
    """Every client that starts `dolmen mcp` itself, in the repository that it works in: that is then the project.

    `command` is the program, with its path where it is not on the client's PATH.
    """
    started: dict[str, object] = {"command": command, "args": ["mcp"]}
    return (
        Recipe("Claude Code", "stdio", f"claude mcp add --scope user dolmen -- {command} mcp"),
        Recipe("Codex", "stdio", f"codex mcp add dolmen -- {command} mcp"),
        Recipe("Cursor", "stdio", _json({"mcpServers": {"dolmen": started}}), file="~/.cursor/mcp.json"),
        Recipe(
            "VS Code",
            "stdio",
            _json({"servers": {"dolmen": {"type": "stdio", **started}}}),
            file=".vscode/mcp.json",
        ),
        Recipe("Gemini CLI", "stdio", f"gemini mcp add --scope user dolmen {command} mcp"),
    )


def _json(value: object) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _curl(url: str, bearer: str) -> str:
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    lines = [
        f"curl {url}",
        "-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'",
        *([f"-H '{bearer}'"] if bearer else []),
        f"-d '{json.dumps(request)}'",
    ]
    return " \\\n  ".join(lines)
