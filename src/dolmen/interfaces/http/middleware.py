"""What surrounds every request, outermost first: the log line, the host check, CORS."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from dolmen.interfaces.http.hosts import HostPolicy
from dolmen.interfaces.http.oauth.metadata import is_metadata
from dolmen.interfaces.http.responses import Refusal, refusal
from dolmen.interfaces.mcp.dispatch import internal
from dolmen.services import refusing

access = logging.getLogger("dolmen.access")

REFERENCE = "Dolmen-Request"
"""The header of an answer that is an error: the id under which the log tells more."""
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
        status, id = 0, refusing.begin()
        started = time.perf_counter()

        async def watch(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                if status >= 400:
                    MutableHeaders(scope=message)[REFERENCE] = id
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except ClientDisconnect:
            pass  # it went away in the middle of what it sent: nothing of ours failed, and nobody is there to be told
        except Exception:
            error = internal(f"{scope['method']} {_shown(scope['path'])}")
            if status:
                raise
            await refusal(error, scope["path"])(scope, receive, watch)
        finally:
            self.counted(scope["path"], scope["method"], status)
            if access.isEnabledFor(logging.INFO):
                actor = scope.get("dolmen.actor")
                who = f" {actor.agent}@{actor.connection}" if actor else ""
                took = (time.perf_counter() - started) * 1000
                which = f" id={id}" if status >= 400 else ""
                access.info("%s %s %d %.1f ms%s%s", scope["method"], _shown(scope["path"]), status, took, who, which)


def _shown(path: str) -> str:
    """A path for a log line: no control characters that could forge another line, no endless ones, and no link with
    which whoever reads it could choose a password."""
    return re.sub(r"[^\x21-\x7e]", "?", re.sub(r"(?<=/enter/).+", "...", path, flags=re.DOTALL))[:200]


class Guard:
    """Checks Host and Origin; answers preflights, which carry no credentials; lets our own origins read answers, and
    every origin the documents that say how to sign in."""

    ALLOWED_METHODS = "GET, POST, DELETE, OPTIONS"
    PUBLIC_METHODS = ("GET", "HEAD", "OPTIONS")
    EXPOSED = (
        "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate, Retry-After, "
        "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Resource"
    )
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
            public = self._public(scope)
            self.hosts.check(headers.get("host"), None if public else origin)
        except Refusal as error:
            await refusal(error, scope["path"])(scope, receive, send)
            return
        if origin is None:
            await self.app(scope, receive, send)
        elif scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
            await self._preflight(headers, "*" if public else origin)(scope, receive, send)
        else:
            await self.app(scope, receive, self._readable(send, "*" if public else origin))

    def _public(self, scope: Scope) -> bool:
        reads = scope["method"] in self.PUBLIC_METHODS
        return bool(self.hosts.options.base) and reads and is_metadata(scope["path"])

    def _preflight(self, headers: Headers, origin: str) -> Response:
        return Response(
            status_code=204,
            headers={
                "Access-Control-Allow-Origin": origin,
                "Access-Control-Allow-Methods": ", ".join(self.PUBLIC_METHODS)
                if origin == "*"
                else self.ALLOWED_METHODS,
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
