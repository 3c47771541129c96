"""Resource indicators (RFC 8707): which server a token is for.

The resource is the address that a person typed: `https://host/mcp`, or `https://host/mcp/kenfold` for one toolset.
Some clients send the origin alone, with or without a slash (B076): that means the resource at `/mcp`. Anything else is
refused at once, at both endpoints, instead of with a token that no door accepts.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from dolmen.domain.oauth.errors import OAuthError


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of one server."""

    base: str
    """The public address, without a slash at its end: `https://memory.example.com`."""
    toolsets: Collection[str]

    def resolve(self, asked: str | None) -> str:
        """The resource that a request means, in its one spelling.

        Raises:
            OAuthError: `invalid_target` for an address that is not of this server.
        """
        if not asked:
            return f"{self.base}/mcp"
        path = self._path(asked)
        if path in ("", "/mcp"):
            return f"{self.base}/mcp"
        if path is not None and path.startswith("/mcp/") and path.removeprefix("/mcp/") in self.toolsets:
            return self.base + path
        raise OAuthError("invalid_target", f"This server's resource is {self.base}/mcp.")

    def _path(self, asked: str) -> str | None:
        """The path of an address of this server, without the slash at its end; None for any other address."""
        try:
            here, there = urlsplit(self.base), urlsplit(asked)
            same = (here.scheme, here.hostname, _port(here.scheme, here.port)) == (
                there.scheme.lower(),
                there.hostname,
                _port(there.scheme.lower(), there.port),
            )
        except ValueError:
            return None
        if not same or there.query or there.fragment or "@" in there.netloc:
            return None
        prefix = here.path.rstrip("/")
        path = there.path.rstrip("/")
        return path.removeprefix(prefix) if path.startswith(prefix) else None


def _port(scheme: str, port: int | None) -> int | None:
    return port if port is not None else {"http": 80, "https": 443}.get(scheme)


def covers(granted: str, entered: str) -> bool:
    """Whether a token for the resource `granted` opens the resource `entered`. A token for the whole server opens each
    of its toolsets; one for a toolset opens that one alone."""
    return granted == entered or entered.startswith(f"{granted}/")
