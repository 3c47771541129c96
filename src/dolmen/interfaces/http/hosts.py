"""Which hosts and web origins are let in.

A web page that the user happens to visit can make the browser send requests to a server on the user's own machine, also
under a name that it rebinds to 127.0.0.1. So the Host header must name this server, and an Origin must be one of ours.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.http.options import Auth, HttpOptions
from dolmen.interfaces.http.responses import Refusal

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address. A name other than localhost does not count."""
    if host.strip("[]").lower() == "localhost":
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def keyless(options: HttpOptions) -> bool:
    """Whether programs on this machine come in without a key; keys are accepted besides.

    Only where nobody else reaches the address. With a public URL a proxy stands before it, whose requests might pass
    for this machine's own.
    """
    if not is_loopback(options.host) or options.auth == "keys":
        return False
    return options.auth == "none" or not options.public_url


def require_safe_bind(host: str, auth: Auth) -> None:
    """Refuses to listen beyond this machine without authentication (B199).

    Raises:
        DolmenError: `configuration`.
    """
    if auth == "none" and not is_loopback(host):
        raise DolmenError(
            "configuration",
            f"Listening on {host} without authentication would open this memory to the network.",
            "Set DOLMEN_AUTH=keys and make a key (`dolmen key create`), or listen on 127.0.0.1.",
        )


@dataclass(frozen=True, slots=True)
class HostPolicy:
    """Decides by headers alone; knows nothing of keys."""

    options: HttpOptions
    _hosts: frozenset[str] = field(init=False)
    _origins: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        options = self.options
        hosts = {*LOOPBACK_NAMES, options.host.strip("[]").lower(), *map(_lower, options.allowed_hosts)}
        origins = {_origin(value) for value in options.allowed_origins}
        if options.public_url:
            hosts.add(_lower(urlsplit(options.public_url).netloc.rpartition("@")[2]))
            origins.add(_origin(options.public_url))
        object.__setattr__(self, "_hosts", frozenset(hosts))
        object.__setattr__(self, "_origins", frozenset(origins))

    def check(self, host: str | None, origin: str | None) -> None:
        """Refuses a request that came under a foreign name (421) or from a foreign web page (403)."""
        if not host or not self._known(host):
            raise Refusal(
                "forbidden",
                f"This server is not {(host or 'a server without a name')[:100]!r}.",
                "Set DOLMEN_PUBLIC_URL to the URL that clients use, or add the name to DOLMEN_ALLOWED_HOSTS.",
                status=421,
            )
        if origin is not None and not self._ours(origin):
            raise Refusal(
                "forbidden",
                f"The web origin {origin[:100]!r} may not use this server.",
                "Add it to DOLMEN_ALLOWED_ORIGINS if it is yours.",
            )

    def local(self, host: str | None) -> bool:
        """Whether the request was addressed to this machine by one of its own names."""
        return host is not None and is_loopback(_split(host)[0])

    def _known(self, host: str) -> bool:
        name, port = _split(host)
        if name in self._hosts or (port and f"{name}:{port}" in self._hosts):
            return True
        if is_loopback(name):
            return True
        # Bound to every address, it is reached by addresses that it cannot know; a page cannot rebind an address.
        bound = _address(self.options.host)
        return bound is not None and bound.is_unspecified and _address(name) is not None

    def _ours(self, origin: str) -> bool:
        if _origin(origin) in self._origins:
            return True
        parts = urlsplit(origin)
        return parts.scheme in ("http", "https") and parts.hostname is not None and is_loopback(parts.hostname)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def _split(host: str) -> tuple[str, str]:
    """`name:port` in lower case, either form of an IPv6 address without its brackets; the port may be empty."""
    host = host.strip().lower()
    if host.startswith("["):
        name, _, port = host[1:].partition("]")
        return name, port.removeprefix(":")
    name, colon, port = host.rpartition(":")
    if not colon or not (port.isdigit() or port == ""):
        return host.rstrip("."), ""
    return name.rstrip("."), port


def _lower(host: str) -> str:
    name, port = _split(host)
    return f"{name}:{port}" if port else name


def _origin(url: str) -> str:
    parts = urlsplit(url.strip().lower())
    netloc = parts.netloc.rpartition("@")[2]
    default = {"http": ":80", "https": ":443"}.get(parts.scheme, "")
    return f"{parts.scheme}://{netloc.removesuffix(default) if default else netloc}"
