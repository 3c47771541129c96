"""One form for what HTTP lets a client write in several: the target of a request, and its headers."""

from __future__ import annotations

import re
from urllib.parse import unquote

from starlette.types import ASGIApp, Receive, Scope, Send

from dolmen.interfaces.http.responses import Refusal, refusal

_ABSOLUTE = re.compile(rb"https?://([^/?#]+)(/.*)?", re.IGNORECASE)

_Headers = list[tuple[bytes, bytes]]


class CleanHeaders:
    """Strips spaces around header values, which one HTTP parser leaves there, and writes media types in lower case:
    the protocol compares both literally. Refuses what could be read in two ways.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = [(name, _clean(name, value.strip(b" \t"))) for name, value in scope["headers"]]
            try:
                _require_one_length(headers)
                scope["headers"] = _origin_form(scope, headers)
            except Refusal as error:
                await refusal(error, scope["path"])(scope, receive, send)
                return
        await self.app(scope, receive, send)


def _clean(name: bytes, value: bytes) -> bytes:
    if name == b"accept":
        return value.lower()
    if name == b"content-type":
        kind, mark, rest = value.partition(b";")
        return kind.lower() + mark + rest
    return value


def _require_one_length(headers: _Headers) -> None:
    """Two lengths are how a request is smuggled past a proxy that believes the other one (RFC 9112, 6.1)."""
    if {b"content-length", b"transfer-encoding"} <= {name for name, _ in headers}:
        raise _unclear("The request has two lengths.", "Send Content-Length or Transfer-Encoding, not both.")


def _origin_form(scope: Scope, headers: _Headers) -> _Headers:
    """The headers under which `http://host/path` in the request line is the same as `/path`; sets the path.

    The host of the request line counts, whatever the Host header says (RFC 9112, 3.2.2).
    """
    target: bytes = scope.get("raw_path") or b"/"
    if target.startswith(b"/"):
        return headers
    absolute = _ABSOLUTE.fullmatch(target)
    if absolute is None:
        raise _unclear("The request names no path.", "Send a request for /mcp; see also /health.")
    host, path = absolute[1], absolute[2] or b"/"
    scope["raw_path"], scope["path"] = path, unquote(path.decode("ascii"))
    return [(b"host", host), *((name, value) for name, value in headers if name != b"host")]


def _unclear(message: str, fix: str) -> Refusal:
    return Refusal("invalid-argument", message, fix, headers={"Connection": "close"})
