"""What surrounds every request, outermost first: the log line, clean headers, the host check, CORS, the body."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.http.hosts import HostPolicy
from dolmen.interfaces.http.responses import Refusal, refusal, rpc_refusal
from dolmen.interfaces.mcp.dispatch import internal
from dolmen.interfaces.mcp.wire import without_half_pairs

access = logging.getLogger("dolmen.access")

INVALID_REQUEST = -32600

Counted = Callable[[str, str, int], None]
"""(path, method, status) of an answered request."""


class Log:
    """One line per request, without its query, headers or body; and the last net under what nobody caught."""

    def __init__(self, app: ASGIApp, counted: Counted) -> None:
        self.app, self.counted = app, counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 0
        started = time.perf_counter()

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except Exception:
            error = internal(f"{scope['method']} {_shown(scope['path'])}")
            if status:
                raise
            await refusal(error)(scope, receive, watch)
        finally:
            self.counted(scope["path"], scope["method"], status)
            if access.isEnabledFor(logging.INFO):
                actor = scope.get("dolmen.actor")
                who = f" {actor.agent}@{actor.connection}" if actor else ""
                took = (time.perf_counter() - started) * 1000
                access.info("%s %s %d %.1f ms%s", scope["method"], _shown(scope["path"]), status, took, who)


def _shown(path: str) -> str:
    """A path for a log line: no control characters that could forge another line, no endless ones."""
    return re.sub(r"[^\x21-\x7e]", "?", path)[:200]


class CleanHeaders:
    """Strips spaces around header values, which one HTTP parser leaves there and the protocol compares literally."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["headers"] = [(name, value.strip(b" \t")) for name, value in scope["headers"]]
        await self.app(scope, receive, send)


class Guard:
    """Checks Host and Origin; answers preflights, which carry no credentials; lets our own origins read answers."""

    ALLOWED_METHODS = "GET, POST, DELETE, OPTIONS"
    EXPOSED = "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After"
    KEPT_FOR = "7200"

    def __init__(self, app: ASGIApp, hosts: HostPolicy) -> None:
        self.app, self.hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        try:
            self.hosts.check(headers.get("host"), origin)
        except Refusal as error:
            await refusal(error)(scope, receive, send)
            return
        if origin is None:
            await self.app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            await self._preflight(headers, origin)(scope, receive, send)
        else:
            await self.app(scope, receive, self._readable(send, origin))

    def _preflight(self, headers: Headers, origin: str) -> Response:
        return Response(
            status_code=204,
            headers={
                "Access-Control-Allow-Origin": origin,
                "Access-Control-Allow-Methods": self.ALLOWED_METHODS,
                "Access-Control-Allow-Headers": headers.get("access-control-request-headers", ""),
                "Access-Control-Max-Age": self.KEPT_FOR,
                "Vary": "Origin, Access-Control-Request-Headers",
            },
        )

    def _readable(self, send: Send, origin: str) -> Send:
        async def with_cors(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Access-Control-Allow-Origin"] = origin
                headers["Access-Control-Expose-Headers"] = self.EXPOSED
                headers.add_vary_header("Origin")
            await send(message)

        return with_cors


class Body:
    """Reads a request's body whole, within the limit, before anything works on it.

    A JSON array is refused here: batches left the protocol in 2025-06-18, and the SDK's refusal quotes its internals.
    Half surrogate pairs, which JSON can write and no text can hold, become U+FFFD as everywhere.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self.app, self.limit = app, limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        try:
            body = await self._read(scope, receive)
        except DolmenError as error:
            await refusal(error)(scope, receive, send)
            return
        if body is None:
            return
        if body.lstrip()[:1] == b"[":
            message = "JSON-RPC batches are not served. Send one request per POST."
            await rpc_refusal(INVALID_REQUEST, message, 400)(scope, receive, send)
            return
        await self.app(scope, _replay(without_half_pairs(body), receive), send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None when the client went away."""
        length = Headers(scope=scope).get("content-length", "")
        if length.isdigit() and int(length) > self.limit:
            raise self._too_large()
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self.limit:
                raise self._too_large()
            if not message.get("more_body"):
                return b"".join(parts)

    def _too_large(self) -> Refusal:
        return Refusal(
            "too-large",
            f"The request is larger than {self.limit} bytes.",
            "Send less at once; the limit is the setting DOLMEN_BODY_LIMIT.",
            headers={"Connection": "close"},
        )


def _replay(body: bytes, receive: Receive) -> Receive:
    sent = False

    async def replayed() -> Message:
        nonlocal sent
        if sent:
            return await receive()
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
