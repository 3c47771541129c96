"""Real command-line clients, without a model: add the server as the recipe says, then ask the client how it is."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.conformance import packages, servers
from dolmen.interfaces.clients import KEY_SHOWN, Recipe, recipes, stdio_recipes

COMMANDS = {"Claude Code": "claude", "Codex": "codex", "Gemini CLI": "gemini"}
HOW = {"HTTP": "HTTP without a key", "key": "HTTP with a key", "stdio": "stdio"}


@dataclass(frozen=True, slots=True)
class Seen:
    """What one client said about one way of connecting."""

    client: str
    version: str
    how: str
    said: str
    healthy: bool


def meet(home: Path) -> list[Seen]:
    environment = packages.environment(home)
    project = home / "project"
    project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project, env=environment, check=True)
    _trusted_by_gemini(home, project)
    key = servers.new_key(environment, "judge")
    seen = []
    with servers.product(environment) as url:
        seen += [_try(recipe, "HTTP", "", environment, project) for recipe in recipes(url)]
    with servers.product(environment, keys=True) as url:
        seen += [_try(recipe, "key", key, environment, project) for recipe in recipes(url, with_key=True)]
    program = str(Path(sys.executable).with_name("dolmen"))
    seen += [_try(recipe, "stdio", "", environment, project) for recipe in stdio_recipes(program)]
    return [one for one in seen if one is not None]


def _try(recipe: Recipe, how: str, key: str, environment: dict[str, str], project: Path) -> Seen | None:
    command = COMMANDS.get(recipe.client)
    if command is None:
        return None
    variables = {**environment, "DOLMEN_KEY": key} if key else environment
    _run([command, "mcp", "remove", *([] if command == "codex" else ["--scope", "user"]), "dolmen"], variables, project)
    for line in recipe.text.replace(KEY_SHOWN, key).splitlines():
        if not line.startswith("export "):
            _run(shlex.split(line), variables, project)
    said, healthy = _ASK[command](variables, project)
    return Seen(recipe.client, packages.version(packages.CLIENTS[command]), HOW[how], said, healthy)


def _claude(environment: dict[str, str], project: Path) -> tuple[str, bool]:
    return _line(_run(["claude", "mcp", "list"], environment, project), r"^dolmen: .* - (.*)$", "✔ Connected")


def _gemini(environment: dict[str, str], project: Path) -> tuple[str, bool]:
    return _line(_run(["gemini", "mcp", "list"], environment, project), r"dolmen: .* - (.*)$", "Connected")


def _line(output: str, pattern: str, good: str) -> tuple[str, bool]:
    found = re.search(pattern, re.sub(r"\x1b\[[0-9;]*m", "", output), re.M)
    said = found[1].strip() if found else output.strip()[-200:]
    return f"`mcp list`: {said}", said == good


def _codex(environment: dict[str, str], project: Path) -> tuple[str, bool]:
    """`codex mcp list` shows the configuration only; its app server connects and tells which tools it got."""
    listed = _run(["codex", "mcp", "list"], environment, project)
    enabled = bool(re.search(r"^dolmen .*\benabled\b", listed, re.M))
    tools = _codex_tools(environment, project)
    return f"`mcp list`: {'enabled' if enabled else 'not there'}; app server: {tools} tools", enabled and tools == 13


def _codex_tools(environment: dict[str, str], project: Path) -> int:
    process = subprocess.Popen(
        ["codex", "app-server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        cwd=project,
    )
    timer = threading.Timer(90, process.kill)
    timer.start()
    try:
        _ask(process, 1, "initialize", {"clientInfo": {"name": "judge", "title": "Judge", "version": "1"}})
        _send(process, {"method": "initialized"})
        answer = _ask(process, 2, "mcpServerStatus/list", {})
        status = next((one for one in answer["result"]["data"] if one["name"] == "dolmen"), {"tools": {}})
        return len(status["tools"])
    finally:
        timer.cancel()
        process.kill()
        process.wait()


def _send(process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert process.stdin is not None
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()


def _ask(process: subprocess.Popen[bytes], id: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    _send(process, {"id": id, "method": method, "params": params})
    assert process.stdout is not None
    for line in process.stdout:
        answer: dict[str, Any] = json.loads(line)
        if answer.get("id") == id:
            return answer
    return {"result": {"data": []}}


_ASK: dict[str, Callable[[dict[str, str], Path], tuple[str, bool]]] = {
    "claude": _claude,
    "codex": _codex,
    "gemini": _gemini,
}


def _trusted_by_gemini(home: Path, project: Path) -> None:
    """Gemini CLI starts no server in a folder that nobody trusted."""
    folder = home / ".gemini"
    folder.mkdir()
    (folder / "trustedFolders.json").write_text(json.dumps({str(project): "TRUST_FOLDER"}))


def _run(command: list[str], environment: dict[str, str], project: Path) -> str:
    done = subprocess.run(
        command, env=environment, cwd=project, capture_output=True, text=True, timeout=180, check=False
    )
    return done.stdout + done.stderr
