"""One request to a server, with nothing but `http.client`: hooks renew tokens too, and have little time."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import is_loopback

SECONDS = 10.0
_MOST = 256 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said."""

    status: int
    challenge: str
    """The `WWW-Authenticate` header."""
    body: Mapping[str, Any]
    """Empty for what is no JSON object."""

    @property
    def error(self) -> str:
        """The code of an OAuth refusal; empty for none."""
        return str(self.body.get("error", "unknown")) if self.status >= 300 else ""

    @property
    def later(self) -> bool:
        """The server, or a proxy before it, is too busy to say anything."""
        return self.status == 429 or self.status >= 500

    @property
    def why(self) -> str:
        """What a refusal says."""
        error = self.body.get("error")
        said = error.get("message") if isinstance(error, Mapping) else self.body.get("error_description") or error
        return str(said or f"status {self.status}").rstrip(".")[:300]


def get(url: str, seconds: float = SECONDS) -> Answer:
    """Raises DolmenError as `_request`."""
    return _request("GET", url, None, "", seconds)


def post(url: str, fields: Mapping[str, str], seconds: float = SECONDS) -> Answer:
    """A form; fields that are empty are left out."""
    form = urlencode({name: value for name, value in fields.items() if value})
    return _request("POST", url, form.encode(), "application/x-www-form-urlencoded", seconds)


def post_json(url: str, value: object, seconds: float = SECONDS) -> Answer:
    return _request("POST", url, json.dumps(value).encode(), "application/json", seconds)


def require_private(url: str) -> str:
    """The address, when nobody on the way can read along: https, or this machine.

    Raises:
        DolmenError: `invalid-argument`.
    """
    scheme = _scheme(url)
    if not scheme:
        raise DolmenError("invalid-argument", f"{url[:200]!r} is no address of a server.", "Give https://HOST/mcp.")
    if scheme == "http" and not is_loopback(url):
        raise DolmenError(
            "invalid-argument",
            f"{url[:200]} would send tokens over the network for anybody to read.",
            "Use https; `docs/how-to/put-behind-a-proxy.md` shows how the server gets it.",
        )
    return url


def _scheme(url: str) -> str:
    """`http` or `https`; empty for an address of anything else."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises for a port that is none
    except ValueError:
        return ""
    good = bool(parts.hostname) and url.isascii() and url.isprintable() and "@" not in parts.netloc and " " not in url
    return parts.scheme if good and parts.scheme in ("http", "https") else ""


def _request(method: str, url: str, body: bytes | None, kind: str, seconds: float) -> Answer:
    """Raises DolmenError: `unavailable` when no answer comes in time; `invalid-argument` for an address that is none.
    Redirects are not followed: what is asked here answers itself."""
    import http.client

    parts = urlsplit(require_private(url))
    of_scheme = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = of_scheme(parts.hostname or "", parts.port, timeout=max(0.05, seconds))
    headers = {"Accept": "application/json, text/event-stream", "User-Agent": "dolmen"}
    if kind:
        headers["Content-Type"] = kind
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request(method, target, body, headers)
        response = connection.getresponse()
        read = response.read(_MOST)
    except (OSError, ValueError, http.client.HTTPException) as error:
        why = "no answer in time" if isinstance(error, TimeoutError) else str(error) or type(error).__name__
        raise DolmenError(
            "unavailable",
            f"{parts.scheme}://{parts.netloc} does not answer: {why}.",
            "Check the address, and that `dolmen serve` runs there.",
        ) from error
    finally:
        connection.close()
    return Answer(response.status, response.getheader("WWW-Authenticate") or "", _object(read))


def _object(read: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(read)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
