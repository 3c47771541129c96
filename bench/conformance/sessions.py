"""Real clients with the hooks that `dolmen install` enters, and a stand-in for the model: what it hears, what stays."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.conformance import packages, servers
from bench.conformance.standin import StandIn, stand_in

KNOWN = "Deploys of the shop happen on Tuesday"
ASKED = "Make the client retry three times"
PROJECT = "github.com/acme/shop"


@dataclass(frozen=True, slots=True)
class Client:
    name: str
    """As in `dolmen install`."""
    command: tuple[str, ...]
    """Asks `ASKED`, without a terminal."""
    variables: Mapping[str, str]
    """`{url}` stands for the model's address."""
    files: Mapping[str, str]
    """What must stand in its configuration: the model, and that the folder is trusted."""
    ends: bool = True
    """Whether it tells the end of such a session."""

    @property
    def package(self) -> str:
        return packages.CLIENTS[self.command[0]]


CODEX = """\
model = "m"
model_provider = "standin"
[model_providers.standin]
name = "standin"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "STANDIN_KEY"
[projects."{project}"]
trust_level = "trusted"
"""
OPENCODE = {
    "model": "standin/m",
    "provider": {
        "standin": {
            "npm": "@ai-sdk/openai-compatible", "name": "standin",
            "options": {"baseURL": "{url}/v1", "apiKey": "k"}, "models": {"m": {"name": "m"}},
        }
    },
    "autoupdate": False,
}  # fmt: skip

CLIENTS = (
    Client(
        "claude-code", ("claude", "-p", ASKED),
        {"ANTHROPIC_BASE_URL": "{url}", "ANTHROPIC_API_KEY": "k", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        {".claude/settings.json": "{}"},
    ),
    # Codex runs hooks that nobody approved only when told to.
    Client(
        "codex", ("codex", "exec", "--dangerously-bypass-hook-trust", ASKED), {"STANDIN_KEY": "k"},
        {".codex/config.toml": CODEX},
    ),
    Client(
        "gemini", ("gemini", "-m", "gemini-2.5-flash", "-p", ASKED),
        {"GEMINI_API_KEY": "k", "GOOGLE_GEMINI_BASE_URL": "{url}"},
        {
            ".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}',
            ".gemini/trustedFolders.json": '{"{project}": "TRUST_FOLDER"}',
        },
    ),
    Client(
        "qwen", ("qwen", "-p", ASKED),
        {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "{url}/v1", "OPENAI_MODEL": "m"},
        {".qwen/settings.json": '{"security": {"auth": {"selectedType": "openai"}}}'},
        ends=False,
    ),
    Client(
        "opencode", ("opencode", "run", ASKED), {}, {".config/opencode/opencode.json": json.dumps(OPENCODE)}, ends=False
    ),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Held:
    """What came of one session."""

    client: str
    version: str
    context: bool
    """Whether the model was told what is known."""
    kept: str
    """`summary`, or `log` where the client did not tell the end; empty when nothing was kept."""
    healthy: bool


def hold(home: Path) -> list[Held]:
    """One session of each client, in a home of its own."""
    held = []
    for client in CLIENTS:
        place = home / client.name
        (place / "shop").mkdir(parents=True)
        environment = {**packages.environment(place), "DOLMEN_EMBEDDER": "none"}
        _git(place / "shop")
        _dolmen(["memory", "add", KNOWN, "--project", PROJECT], environment, place)
        with stand_in() as model, servers.product(environment) as url:
            held.append(_hold(client, place, environment, model, url))
    return held


def _hold(client: Client, home: Path, environment: dict[str, str], model: StandIn, url: str) -> Held:
    for name, text in client.files.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text.replace("{url}", model.url).replace("{project}", str(home / "shop")))
    _dolmen(["install", client.name, "--url", url, "--new-key", "--yes"], environment, home)
    variables = {name: value.replace("{url}", model.url) for name, value in client.variables.items()}
    variables["PWD"] = str(home / "shop")  # as a shell has it; OpenCode believes it
    subprocess.run(
        client.command, cwd=home / "shop", env={**environment, **variables}, stdin=subprocess.DEVNULL,
        capture_output=True, timeout=180, check=False,
    )  # fmt: skip
    context = model.heard(KNOWN)
    kept = _kept(environment, home)
    return Held(client.name, packages.version(client.package), context, kept, context and kept == _wanted(client))


def _wanted(client: Client) -> str:
    return "summary" if client.ends else "log"


def _kept(environment: dict[str, str], home: Path) -> str:
    """Where the request is now."""
    listed = json.loads(_dolmen(["memory", "list", "--project", PROJECT, "--json"], environment, home))
    if any(ASKED in memory["text"] for memory in listed["memories"]):
        return "summary"
    logs = (home / ".local" / "share" / "dolmen" / "hook" / "sessions").glob("*.jsonl")
    return "log" if any(ASKED in log.read_text() for log in logs) else ""


def _git(place: Path) -> None:
    subprocess.run(["git", "init", "-q", str(place)], check=True)
    remote = f"git@{PROJECT.replace('/', ':', 1)}.git"
    subprocess.run(["git", "-C", str(place), "remote", "add", "origin", remote], check=True)


def _dolmen(words: list[str], environment: dict[str, str], place: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "dolmen", *words], env=environment, cwd=place / "shop", capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return done.stdout
