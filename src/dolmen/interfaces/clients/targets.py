"""Which files of each client `dolmen install` writes, and what: the server, the hooks, the rules.

Every fact is from the client's own documentation or was tried with the client; docs/reference/hooks.md says which.
Paths begin with `~/` (this user) or `./` (the project); `~/.config/` stands for where the system keeps configuration.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Json = dict[str, Any]
Format = Literal["json", "toml"]
Shape = Literal["nested", "flat", "file", "plugin"]
"""How hooks stand in their file: groups of handlers in a shared file; handlers alone in a shared file; handlers alone
in a file of Dolmen's own; a program of Dolmen's own."""

KEY_VARIABLE = "DOLMEN_KEY"
SERVER = "dolmen"
"""The name under which a client knows Dolmen."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where a client lists its MCP servers, and how an entry looks."""

    user: str
    project: str
    """Empty when the client has no such file."""
    path: tuple[str, ...]
    http: Callable[[str, Mapping[str, str]], Json]
    """(url, headers) -> entry."""
    stdio: Callable[[str], Json]
    """(program) -> entry."""
    reference: str
    """How a value in that file takes the key from the environment; empty when it cannot. What may be committed names
    the key, it does not hold it."""
    format: Format = "json"


@dataclass(frozen=True, slots=True)
class Hooks:
    """Where a client lists its hooks."""

    user: str
    project: str
    shape: Shape
    events: Mapping[str, int]
    """Event: seconds after which the client ends the hook."""
    milliseconds: bool = False
    """Whether the client counts in those (B104)."""
    extra: Mapping[str, Any] | None = None
    """Further fields of each entry."""
    version: int | None = None
    """Of the file, where the client wants one."""
    speaker: str = ""
    """Whose form the events have, where several clients read the same file."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Where a client reads instructions that a person wrote. Empty where it has no such file."""

    user: str
    project: str
    own: bool = False
    """The project's file is Dolmen's alone, not a block in a shared one."""
    head: str = ""
    """What stands at the top of a file of its own."""


@dataclass(frozen=True, slots=True)
class Target:
    """A client, as far as it can be set up from outside."""

    client: str
    """As in `dolmen install CLIENT`."""
    title: str
    signs: tuple[str, ...]
    """Folders and files that are there when the client is; a bare word is a program."""
    server: Server
    hooks: Hooks | None
    rules: Rules | None
    tried: str
    """With which version, and how far."""
    notes: tuple[str, ...] = ()
    """What the person has to do after it."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a client keeps what it was told, for `doctor`."""

    client: str
    files: tuple[str, ...]


def _typed(url: str, headers: Mapping[str, str]) -> Json:
    return {"type": "http", **_plain("url")(url, headers)}


def _plain(name: str) -> Callable[[str, Mapping[str, str]], Json]:
    return lambda url, headers: {name: url, **({"headers": dict(headers)} if headers else {})}


def _codex(url: str, headers: Mapping[str, str]) -> Json:
    if headers.get("Authorization") == f"Bearer {KEY_VARIABLE}":
        return {"url": url, "bearer_token_env_var": KEY_VARIABLE}
    return {"url": url, **({"http_headers": dict(headers)} if headers else {})}


def _started(program: str) -> Json:
    return {"command": program, "args": ["mcp"]}


_SECONDS = {"SessionStart": 10, "UserPromptSubmit": 5, "Stop": 5}

TARGETS: tuple[Target, ...] = (
    Target(
        "claude-code",
        "Claude Code",
        ("~/.claude", "~/.claude.json", "claude"),
        Server(
            "~/.claude.json", "./.mcp.json", ("mcpServers", SERVER), _typed,
            lambda program: {"type": "stdio", **_started(program)}, "${DOLMEN_KEY}",
        ),
        Hooks(
            "~/.claude/settings.json", "./.claude/settings.json", "nested",
            {**_SECONDS, "PostCompact": 5, "SessionEnd": 5},
        ),
        Rules("~/.claude/CLAUDE.md", "./CLAUDE.md"),
        "2.1.197: payloads recorded; sessions run whole, with context, resume and compaction",
    ),
    Target(
        "codex",
        "Codex",
        ("~/.codex", "codex"),
        Server(
            "~/.codex/config.toml", "./.codex/config.toml", ("mcp_servers", SERVER), _codex, _started, KEY_VARIABLE,
            "toml",
        ),
        Hooks(
            "~/.codex/hooks.json", "./.codex/hooks.json", "nested", {**_SECONDS, "PostCompact": 5, "SessionEnd": 3}
        ),
        Rules("~/.codex/AGENTS.md", "./AGENTS.md"),
        "0.171.0: payloads recorded; sessions run whole, with context and resume",
        ("Codex runs a new or changed hook only after you trusted it: type /hooks in Codex and approve Dolmen's.",),
    ),
    Target(
        "gemini",
        "Gemini CLI",
        ("~/.gemini", "gemini"),
        Server(
            "~/.gemini/settings.json", "./.gemini/settings.json", ("mcpServers", SERVER), _plain("httpUrl"), _started,
            "${DOLMEN_KEY}",
        ),
        Hooks(
            "~/.gemini/settings.json", "./.gemini/settings.json", "nested",
            {"SessionStart": 10, "BeforeAgent": 5, "AfterAgent": 5, "SessionEnd": 5},
            milliseconds=True, extra={"name": SERVER},
        ),
        Rules("~/.gemini/GEMINI.md", "./GEMINI.md"),
        "0.61.0: payloads recorded; a session run whole, with context",
    ),
    Target(
        "qwen",
        "Qwen Code",
        ("~/.qwen", "qwen"),
        Server(
            "~/.qwen/settings.json", "./.qwen/settings.json", ("mcpServers", SERVER), _plain("httpUrl"), _started,
            "${DOLMEN_KEY}",
        ),
        Hooks(
            "~/.qwen/settings.json", "./.qwen/settings.json", "nested", {**_SECONDS, "SessionEnd": 5},
            milliseconds=True, extra={"name": SERVER},
        ),
        Rules("~/.qwen/QWEN.md", "./QWEN.md"),
        "0.24.4: payloads recorded; a session run whole, with context; without a terminal it sends no SessionEnd",
    ),
    Target(
        "cursor",
        "Cursor",
        ("~/.cursor", "cursor"),
        Server(
            "~/.cursor/mcp.json", "./.cursor/mcp.json", ("mcpServers", SERVER), _plain("url"), _started,
            "${env:DOLMEN_KEY}",
        ),
        Hooks(
            "~/.cursor/hooks.json", "./.cursor/hooks.json", "flat",
            {"sessionStart": 10, "beforeSubmitPrompt": 5, "afterAgentResponse": 5, "sessionEnd": 5}, version=1,
        ),
        Rules(
            "", "./.cursor/rules/dolmen.mdc", own=True,
            head="---\ndescription: How to use the shared memory\nalwaysApply: true\n---\n\n",
        ),
        "not tried; as its documentation says",
    ),
    Target(
        "vscode",
        "VS Code",
        ("~/.config/Code/User", "code"),
        Server(
            "~/.config/Code/User/mcp.json", "./.vscode/mcp.json", ("servers", SERVER), _typed,
            lambda program: {"type": "stdio", **_started(program)}, "${env:DOLMEN_KEY}",
        ),
        Hooks(
            "", "./.github/hooks/dolmen.json", "file", {**_SECONDS, "SessionEnd": 5},
            extra={"type": "command"}, version=1, speaker="copilot",
        ),
        Rules("", "./.github/copilot-instructions.md"),
        "not tried; as its documentation says",
        ("VS Code reads hooks of its own from a project only (--project); it also runs Claude Code's.",),
    ),
    Target(
        "copilot",
        "Copilot CLI",
        ("~/.copilot", "copilot"),
        Server(
            "~/.copilot/mcp-config.json", "", ("mcpServers", SERVER),
            lambda url, headers: {**_typed(url, headers), "tools": ["*"]},
            lambda program: {"type": "local", **_started(program), "tools": ["*"]}, "",
        ),
        Hooks(
            "~/.copilot/hooks/dolmen.json", "./.github/hooks/dolmen.json", "file", {**_SECONDS, "SessionEnd": 5},
            extra={"type": "command"}, version=1,
        ),
        Rules("~/.copilot/copilot-instructions.md", "./.github/copilot-instructions.md"),
        "not tried; as its documentation says",
    ),
    Target(
        "windsurf",
        "Windsurf",
        ("~/.codeium/windsurf", "windsurf"),
        Server(
            "~/.codeium/windsurf/mcp_config.json", "", ("mcpServers", SERVER), _plain("serverUrl"), _started,
            "${env:DOLMEN_KEY}",
        ),
        Hooks(
            "~/.codeium/windsurf/hooks.json", "./.windsurf/hooks.json", "flat",
            {"pre_user_prompt": 0, "post_cascade_response": 0}, extra={"show_output": False},
        ),
        Rules("~/.codeium/windsurf/memories/global_rules.md", "./.windsurf/rules/dolmen.md", own=True),
        "not tried; as its documentation says",
        ("Windsurf's hooks can give no context: the rules (--rules) tell Cascade to ask for it.",),
    ),
    Target(
        "opencode",
        "OpenCode",
        ("~/.config/opencode", "opencode"),
        Server(
            "~/.config/opencode/opencode.json", "./opencode.json", ("mcp", SERVER),
            lambda url, headers: {"type": "remote", **_plain("url")(url, headers), "enabled": True},
            lambda program: {"type": "local", "command": [program, "mcp"], "enabled": True}, "{env:DOLMEN_KEY}",
        ),
        Hooks("~/.config/opencode/plugins/dolmen.js", "./.opencode/plugins/dolmen.js", "plugin", {}),
        Rules("~/.config/opencode/AGENTS.md", "./AGENTS.md"),
        "1.18.33: a session run whole, with context",
    ),
)  # fmt: skip

PLACES = tuple(
    Place(target.title, tuple(file for file in (target.server.user, target.server.project) if file))
    for target in TARGETS
)
