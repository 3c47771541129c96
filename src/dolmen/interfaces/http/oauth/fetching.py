"""Fetching a document that a stranger names, without becoming their way into this network.

The name is resolved once, every address that it has must be public, and the connection goes to the address that was
judged: a name that answers differently the second time reaches nothing else. No redirects, the default port, five
seconds and 64 KiB in all.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio
import httpx2
from anyio import CapacityLimiter, to_thread

from dolmen.domain.oauth import OAuthError, is_public
from dolmen.interfaces.mcp.wire import without_half_pairs

SECONDS = 5.0
BYTES = 65_536
URL_LIMIT = 2_000
LOOKUPS = 8
"""Names looked up at the same time. A stranger's name server may take its time over each, and threads are few."""

_JSON = re.compile(r"application/(?:[a-z0-9!#$&^_.-]+\+)?json")

Resolve = Callable[[str, int], Sequence[str]]
"""(host, port) -> addresses."""


@dataclass(frozen=True, slots=True)
class Fetcher:
    """Reads small JSON documents over https.

    Args:
        resolve: how names become addresses; the system's resolver by default.
        allowed: which addresses may be reached; the public ones by default.
        tls: what servers prove themselves with; the system's certificates by default.
        port: where servers listen; no document names another one.
    """

    resolve: Resolve | None = None
    allowed: Callable[[str], bool] = is_public
    tls: ssl.SSLContext | None = None
    port: int = 443
    _lookups: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(LOOKUPS), compare=False)

    async def json(self, url: str, *, typed: bool = False) -> dict[str, Any]:
        """The object at the address.

        Args:
            typed: the server must call it JSON. What else is a file that somebody could put there: many hosts serve
                what anybody uploads, as text or as a download, and a client's id is vouched for by its host.

        Raises:
            OAuthError: `invalid_client` for an address that is not fetched, a server that does not answer well, or
                an answer that is no JSON object. The reason is the same for a private address and for an absent one,
                so that nobody can map a network with it.
        """
        host, path = _target(url)
        try:
            with anyio.fail_after(SECONDS):  # in all: a byte a second does not buy more time
                address = await self._address(host)
                kind, body = await _get(f"https://{address}:{self.port}{path}", host, self.tls or _certificates())
        except (OSError, httpx2.HTTPError, httpx2.InvalidURL, UnicodeError):
            raise OAuthError("invalid_client", "The client's document could not be fetched.") from None
        document = json_object(body) if _JSON.fullmatch(kind) or not typed else None
        if document is None:
            raise OAuthError("invalid_client", "The client's document is no JSON object.")
        return document

    async def _address(self, host: str) -> str:
        resolve = self.resolve or _resolve
        addresses = await to_thread.run_sync(resolve, host, self.port, abandon_on_cancel=True, limiter=self._lookups)
        if not addresses or not all(self.allowed(address) for address in addresses):
            raise OSError("not a public address")
        return f"[{addresses[0]}]" if ":" in addresses[0] else addresses[0]


def json_object(body: bytes) -> dict[str, Any] | None:
    """The JSON object that a stranger sent; None for anything else, and for what no store can keep."""
    try:
        found = json.loads(without_half_pairs(body), parse_constant=_no_number)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _no_number(said: str) -> None:
    raise ValueError(said)


def _target(url: str) -> tuple[str, str]:
    """Host and path of an address that may name a client: https, a path, nothing that could be read in two ways."""
    if len(url) > URL_LIMIT or not url.isascii() or not url.isprintable() or any(char in url for char in " \\@#"):
        raise OAuthError("invalid_client", "client_id is no plain https address.")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise OAuthError("invalid_client", "client_id is no plain https address.") from None
    steps = unquote(parts.path).split("/")
    if parts.scheme != "https" or not parts.hostname or port not in (None, 443) or parts.path in ("", "/"):
        raise OAuthError("invalid_client", "client_id must be https, on the default port, with a path.")
    if "." in steps or ".." in steps:
        raise OAuthError("invalid_client", "client_id holds dots that step out of its path.")
    return parts.hostname, parts.path + (f"?{parts.query}" if parts.query else "")


@cache
def _certificates() -> ssl.SSLContext:
    return ssl.create_default_context()


def _resolve(host: str, port: int) -> list[str]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def _get(url: str, host: str, tls: ssl.SSLContext) -> tuple[str, bytes]:
    """Media type and body at an address whose host is a number, of a server that proves to be `host`."""
    async with (
        httpx2.AsyncClient(verify=tls, trust_env=False, timeout=SECONDS) as client,
        client.stream(
            "GET",
            url,
            headers={"Host": host, "Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "dolmen"},
            extensions={"sni_hostname": host},
        ) as response,
    ):
        if response.status_code != 200:
            raise OSError(f"status {response.status_code}")
        body = b""
        async for chunk in response.aiter_raw():  # unpacked, a few bytes may be a thousand times as many
            body += chunk
            if len(body) > BYTES:
                raise OSError("too long")
        return response.headers.get("content-type", "").partition(";")[0].strip().lower(), body
