"""The agents' own configuration files: which of them know this Dolmen."""

from __future__ import annotations

import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dolmen.interfaces.cli.commands.doctor.finding import Finding, ok, warn

if TYPE_CHECKING:
    from dolmen.settings import Settings


@dataclass(frozen=True, slots=True)
class ClientFile:
    """Where a client keeps its MCP servers."""

    client: str
    path: Path
    keys: tuple[str, ...]
    """The path of keys to the table of servers; `*` for any key."""


def files(home: Path, here: Path) -> list[ClientFile]:
    """The files that the clients document, for this user and for the working directory."""
    return [
        ClientFile("Claude Code", home / ".claude.json", ("mcpServers",)),
        ClientFile("Claude Code", home / ".claude.json", ("projects", "*", "mcpServers")),
        ClientFile("Claude Code", here / ".mcp.json", ("mcpServers",)),
        ClientFile("Codex", Path(os.environ.get("CODEX_HOME") or home / ".codex") / "config.toml", ("mcp_servers",)),
        ClientFile("Cursor", home / ".cursor" / "mcp.json", ("mcpServers",)),
        ClientFile("Cursor", here / ".cursor" / "mcp.json", ("mcpServers",)),
        ClientFile("VS Code", _vs_code(home) / "mcp.json", ("servers",)),
        ClientFile("VS Code", here / ".vscode" / "mcp.json", ("servers",)),
        ClientFile("Gemini CLI", home / ".gemini" / "settings.json", ("mcpServers",)),
        ClientFile("Gemini CLI", here / ".gemini" / "settings.json", ("mcpServers",)),
    ]


def _vs_code(home: Path) -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or home / "AppData" / "Roaming") / "Code" / "User"
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "Code" / "User"
    return Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "Code" / "User"


def clients(settings: Settings) -> Iterator[Finding]:
    seen: dict[str, list[Finding]] = {}
    for each in files(Path.home(), Path.cwd()):
        if each.path.is_file():
            seen.setdefault(each.client, []).extend(_look(each, settings))
    if not seen:
        yield ok("clients", "no client's configuration found; `dolmen serve` prints what to enter")
    for client, findings in seen.items():
        if findings:
            yield from dict.fromkeys(findings)
        else:
            yield ok("clients", f"{client} does not know Dolmen yet; `dolmen serve` prints what to enter")


def _look(file: ClientFile, settings: Settings) -> Iterator[Finding]:
    try:
        tables = list(_servers(_read(file.path), file.keys))
    except (OSError, ValueError) as error:
        yield warn(
            "clients",
            f"{file.client}: {file.path} cannot be read ({error}).",
            "The client cannot read it either: mend it.",
        )
        return
    for servers in tables:
        for name, server in servers.items():
            if isinstance(server, Mapping) and (found := _judge(server, name, settings)):
                level, said, fix = found
                what = f"{file.client} ({file.path}): {name} {said}"
                yield ok("clients", what) if level else warn("clients", what, fix)


def _read(path: Path) -> Any:
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix == ".toml":
        return tomllib.loads(text)
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(_without_comments(text))


def _without_comments(text: str) -> str:
    """JSON from JSON with comments and trailing commas, as some clients write it."""
    kept = re.sub(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "", text, flags=re.DOTALL)
    return re.sub(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])', lambda found: found[1] or "", kept)


def _servers(value: Any, keys: tuple[str, ...]) -> Iterator[Mapping[str, Any]]:
    if not isinstance(value, Mapping):
        return
    if not keys:
        yield value
    elif keys[0] == "*":
        for each in value.values():
            yield from _servers(each, keys[1:])
    else:
        yield from _servers(value.get(keys[0]), keys[1:])


def _judge(server: Mapping[str, Any], name: str, settings: Settings) -> tuple[bool, str, str] | None:
    """Whether an entry is Dolmen's: (good, what, fix); None for another server."""
    url = str(server.get("url") or server.get("httpUrl") or server.get("serverUrl") or "")
    words = [str(server.get("command") or ""), *map(str, server.get("args") or ())]
    if url:
        return _judge_url(url, name, settings)
    if not any(re.search(r"(^|[/\\])dolmen(\.exe)?$", word) or word == "dolmen" for word in words):
        return None
    program = words[0]
    if os.path.sep in program and not Path(program).exists():
        return False, f"starts {program}, which is not there", "Enter the path of `dolmen` anew."
    return True, "starts `dolmen mcp`", ""


def _judge_url(url: str, name: str, settings: Settings) -> tuple[bool, str, str] | None:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(url)
        here = (parts.hostname in ("127.0.0.1", "localhost", "::1", settings.host)) and parts.port == settings.port
    except ValueError:
        return None
    ours = settings.public_url and url.startswith(settings.public_url)
    if here or ours:
        if not parts.path.rstrip("/").startswith("/mcp") and not ours:
            return False, f"points to {url}", f"The address ends in /mcp: http://{settings.host}:{settings.port}/mcp"
        return True, f"points here: {url}", ""
    if "dolmen" in name.lower():
        return False, f"points to another address: {url}", f"This one is http://{settings.host}:{settings.port}/mcp"
    return None
