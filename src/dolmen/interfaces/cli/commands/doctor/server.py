"""The running server, asked as a client asks it: is it there, is it well, and whom does it let in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dolmen.interfaces.cli.commands.doctor.finding import Finding, fail, ok, warn

if TYPE_CHECKING:
    from dolmen.settings import Settings

_ANSWER_WITHIN = 2.0
_MOST = 1_000_000
LOG = "Look at what `dolmen serve` printed where it runs; DOLMEN_LOG=debug makes it say more."
_LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said to `tools/list`."""

    status: int
    tools: int = 0
    message: str = ""
    """Why it refused."""
    fix: str = ""


def server(settings: Settings) -> Iterator[Finding]:
    """Whether the server runs, could run, or has its place taken; and whether this machine's programs need a key."""
    import socket

    place = f"{settings.host}:{settings.port}"
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host.strip("[]"), settings.host.strip("[]"))
    try:
        with socket.create_connection((host, settings.port), timeout=_ANSWER_WITHIN):
            pass
    except OSError:
        yield ok("server", f"not running; {place} is free")
        return
    base = f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"
    found = _health(base)
    if found is None:
        yield warn(
            "server",
            f"Another program listens on {place}.",
            f"End it, or take another port: dolmen serve --port {settings.port + 1}",
        )
    elif found.get("status") == "ok":
        answer = tools(base + "/mcp", {})
        yield ok("server", f"running on {place}, version {found.get('version', 'unknown to strangers')}")
        if answer is not None:
            yield _access(answer)
    else:
        error = found.get("error")
        why = error.get("message") if isinstance(error, dict) else "it says that it is not well"
        yield fail("server", f"The server on {place} cannot work: {why}", LOG)


def _access(answer: Answer) -> Finding:
    if answer.status == 200:
        return ok("access", f"a program on this machine sees {answer.tools} tools without a key")
    if answer.status == 401:
        return ok("access", "every client needs a key: `dolmen key create AGENT`")
    return warn("access", f"The server answers {answer.status}: {answer.message}", answer.fix or LOG)


def tools(url: str, headers: Mapping[str, str]) -> Answer | None:
    """The answer to `tools/list` at an address; None when nothing answers in time or it is no such server."""
    status, body = _ask("POST", url, _LIST, {**_HEADERS, **headers})
    if body is None:
        return None
    result, error = body.get("result"), body.get("error")
    if status == 200 and isinstance(result, dict) and isinstance(listed := result.get("tools"), list):
        return Answer(200, len(listed))
    said = error if isinstance(error, dict) else {}
    return Answer(status, 0, str(said.get("message", "it gave no reason")), str(said.get("fix", "")))


def _health(base: str) -> dict[str, Any] | None:
    """The answer of a Dolmen server to /health, None from anything else."""
    body = _ask("GET", base + "/health", None, {})[1]
    return body if body is not None and "status" in body else None


def _ask(method: str, url: str, body: str | None, headers: Mapping[str, str]) -> tuple[int, dict[str, Any] | None]:
    """The status and the JSON object that came back; None without one. Never raises."""
    import http.client

    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    try:
        connection = kind(parts.hostname or "", parts.port, timeout=_ANSWER_WITHIN)
    except ValueError:
        return 0, None
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, body, dict(headers))
        response = connection.getresponse()
        found = json.loads(response.read(_MOST))
        return response.status, found if isinstance(found, dict) else None
    except (OSError, ValueError, http.client.HTTPException):
        return 0, None
    finally:
        connection.close()
