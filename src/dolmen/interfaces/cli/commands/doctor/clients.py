"""The agents' own configuration files: which of them know this Dolmen."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dolmen.interfaces.cli.commands.doctor.finding import Finding, Level, ok, warn
from dolmen.interfaces.cli.commands.doctor.server import LOG, tools
from dolmen.interfaces.clients import PLACES
from dolmen.interfaces.clients.places import place
from dolmen.interfaces.clients.targets import TARGETS

if TYPE_CHECKING:
    from dolmen.settings import Settings


_TABLES = ("mcpServers", "mcp_servers", "servers", "mcp")
"""The key under which a client lists its servers."""


def files(home: Path, here: Path) -> list[tuple[str, Path]]:
    """(client, file) for this user and for the working directory, whether the file is there or not."""
    return [(each.client, place(name, home, here)) for each in PLACES for name in each.files]


def clients(settings: Settings) -> Iterator[Finding]:
    seen: dict[str, list[Finding]] = {}
    for client, path in files(Path.home(), Path.cwd()):
        if path.is_file():
            seen.setdefault(client, []).extend(_look(client, path, settings))
    if not seen:
        yield ok("clients", "no client's configuration found; `dolmen install` sets it up")
    for client, findings in seen.items():
        if findings:
            yield from dict.fromkeys(findings)
        else:
            yield ok("clients", f"{client} does not know Dolmen yet; `dolmen install` sets it up")


def _look(client: str, path: Path, settings: Settings) -> Iterator[Finding]:
    try:
        tables = list(_servers(_read(path)))
    except (OSError, ValueError) as error:
        yield warn(
            "clients",
            f"{client}: {path} cannot be read ({error}).",
            f"The client cannot read it either. Mend that place in an editor, then: {_install(client)}",
        )
        return
    for servers in tables:
        for name, server in servers.items():
            if isinstance(server, Mapping) and (found := _judge(server, name, settings)):
                level, said, fix = found
                fix = fix.format(install=_install(client)) if fix in (_AGAIN, _TO_THIS) else fix
                what = f"{client} ({path}): {name} {said}"
                yield Finding("clients", level, what, fix)


def _install(client: str) -> str:
    """The command that writes a client's entry anew."""
    return " ".join(["dolmen install", *(target.client for target in TARGETS if target.title == client)])


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


def _servers(value: Any) -> Iterator[Mapping[str, Any]]:
    """Every table of servers: the file's own, and those of projects that Claude Code keeps beside it."""
    if not isinstance(value, Mapping):
        return
    projects = value.get("projects")
    for holder in (value, *(projects.values() if isinstance(projects, Mapping) else ())):
        for name in _TABLES:
            if isinstance(holder, Mapping) and isinstance(found := holder.get(name), Mapping):
                yield found


Judgement = tuple[Level, str, str]
"""(level, what, fix) of one entry."""
_OTHER: Judgement = ("ok", "", "")
"""Another program's server."""
_AGAIN = "Write it anew: {install}"
_TO_THIS = "If it should be this one: {install}"
_VARIABLE = re.compile(r"\$\{(?:env:)?(\w+)\}")


def _judge(server: Mapping[str, Any], name: str, settings: Settings) -> Judgement | None:
    """Whether an entry is Dolmen's, and whether it works; None for another server."""
    url = str(server.get("url") or server.get("httpUrl") or server.get("serverUrl") or "")
    command = server.get("command") or ""
    started = list(map(str, command)) if isinstance(command, list) else [str(command)]
    words = [*started, *map(str, server.get("args") or ())]
    if url:
        judged = _judge_url(url, name, settings)
        return None if judged is _OTHER else judged or _tried(url, server)
    if not any(re.search(r"(^|[/\\])dolmen(\.exe)?$", word) or word == "dolmen" for word in words):
        return None
    program = words[0]
    if os.path.sep in program and not Path(program).exists():
        return "warn", f"starts {program}, which is not there", _AGAIN
    return "ok", "starts `dolmen mcp`", ""


def _judge_url(url: str, name: str, settings: Settings) -> Judgement | None:
    """What is wrong with an address, or that it is another server's; None for one that leads here."""
    try:
        parts = urlsplit(url)
        here = (parts.hostname in ("127.0.0.1", "localhost", "::1", settings.host)) and parts.port == settings.port
    except ValueError:
        return _OTHER
    ours = bool(settings.public_url) and url.startswith(settings.public_url)
    if here or ours:
        if not parts.path.rstrip("/").startswith("/mcp") and not ours:
            return "warn", f"points to {url}", _AGAIN
        return None
    if "dolmen" in name.lower():
        here_is = f"http://{settings.host}:{settings.port}/mcp"
        return "warn", f"points to another address: {url} (this one is {here_is})", _TO_THIS
    return _OTHER


def _tried(url: str, server: Mapping[str, Any]) -> Judgement:
    """What the server that runs there answers to what this client would send."""
    headers = _headers(server)
    answer = None if headers is None else tools(url, headers)
    if answer is None:
        return "ok", f"points here: {url}", ""
    if answer.status == 200:
        return "ok", f"points here: {url}, and sees {answer.tools} tools", ""
    keyed = any(name.lower() == "authorization" for name in headers or ())
    sends = "with the key that stands there" if keyed else "without a key"
    return (
        "fail",
        f"points here: {url}, and is refused {sends} ({answer.status}): {answer.message}",
        answer.fix or LOG,
    )


def _headers(server: Mapping[str, Any]) -> dict[str, str] | None:
    """What a client would send; None when it takes a value from where it cannot be seen."""
    found: dict[str, str] = {}
    for name in ("headers", "http_headers"):
        if isinstance(listed := server.get(name), Mapping):
            found.update((str(key), str(value)) for key, value in listed.items())
    if variable := server.get("bearer_token_env_var"):
        found["Authorization"] = f"Bearer ${{{variable}}}"
    filled = {
        key: _VARIABLE.sub(lambda match: os.environ.get(match[1], match[0]), value) for key, value in found.items()
    }
    return None if any("${" in value or not value.isascii() for value in filled.values()) else filled
