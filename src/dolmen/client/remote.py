"""A Dolmen server, called as any agent calls it: one JSON-RPC request over HTTP.

`import mcp` costs more time than a hook has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from dolmen.client.asking import CONNECT, ask
from dolmen.client.endpoint import Endpoint
from dolmen.domain.errors import MEANINGS, Code, DolmenError

if TYPE_CHECKING:
    from dolmen.client.refs.desk import Desk

SESSION_META = "dolmen/session_id"
_MOST = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Remote:
    endpoint: Endpoint

    @property
    def where(self) -> str:
        return self.endpoint.url

    def there(self) -> bool:
        """Whether anything listens at the address."""
        import socket

        try:
            parts = urlsplit(self.endpoint.url)
            port = parts.port or (443 if parts.scheme == "https" else 80)
            socket.create_connection((parts.hostname or "", port), CONNECT).close()
        except (OSError, ValueError):
            return False
        return True

    def desk(self) -> Desk:
        from dolmen.client.refs.desk import Served

        return Served(self.endpoint)

    def close(self) -> None:
        """Each call has its own connection."""

    def call(
        self, tool: str, arguments: Mapping[str, Any], *, seconds: float, session: str = "", toolset: str = "core"
    ) -> dict[str, Any]:
        """The structured result of a tool.

        Args:
            seconds: how long connecting, waiting and reading may take together.
            session: the agent's conversation, recorded with what is written (C-32).

        Raises:
            DolmenError: `unavailable` when no server answers in time; else as the server refuses.
        """
        params: dict[str, Any] = {"name": tool, "arguments": dict(arguments)}
        if session:
            params["_meta"] = {SESSION_META: session}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        status, answer = self._post(message, toolset, seconds)
        if isinstance(error := answer.get("error"), dict):
            raise _refusal(error, status)
        result = answer.get("result")
        content = result.get("structuredContent") if isinstance(result, dict) else None
        if not isinstance(content, dict):
            raise _silent(self.where, f"what is there answered {status} with something else")
        if isinstance(error := content.get("error"), dict):
            raise _refusal(error, status)
        return content

    def _post(self, message: Mapping[str, Any], toolset: str, seconds: float) -> tuple[int, dict[str, Any]]:
        headers = self._headers(seconds)
        try:
            parts = urlsplit(self.endpoint.url)
            target = _target(parts.path, parts.query, toolset)
            status, body = ask("POST", parts, target, headers, json.dumps(message), seconds=seconds, most=_MOST)
        except (OSError, ValueError) as error:
            raise _silent(self.where, _why(error)) from error
        try:
            answer = json.loads(body)
        except ValueError as error:  # a page of a proxy, or of another program at that address
            raise _silent(self.where, f"what is there answered {status} with something else") from error
        return status, answer if isinstance(answer, dict) else {}

    def _headers(self, seconds: float) -> dict[str, str]:
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Dolmen-Agent": self.endpoint.agent,
        }
        if bearer := self.endpoint.bearer(seconds):
            headers["Authorization"] = f"Bearer {bearer}"
        return headers


def _target(path: str, query: str, toolset: str) -> str:
    """The toolset's own address, whatever the server shows by default."""
    path = path.rstrip("/") or "/mcp"
    target = f"{path}/{toolset}" if path.endswith("/mcp") else path
    return f"{target}?{query}" if query else target


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return getattr(error, "strerror", None) or type(error).__name__


def _silent(where: str, why: str) -> DolmenError:
    return DolmenError(
        "unavailable", f"Dolmen does not answer at {where}: {why}.", "`dolmen serve` starts it; `dolmen doctor` looks."
    )


def _refusal(error: Mapping[str, Any], status: int) -> DolmenError:
    """What the server said, in its own words; a code that this version does not know stands for a refusal."""
    code: Code = next((known for known in MEANINGS if known == error.get("code")), "forbidden")
    return DolmenError(
        code,
        str(error.get("message") or f"The server answered {status}."),
        str(error.get("fix") or "`dolmen doctor` looks at the connection."),
    )
