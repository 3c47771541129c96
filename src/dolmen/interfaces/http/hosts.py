"""Which hosts and web origins are let in.

A web page that the user happens to visit can make the browser send requests to a server on the user's own machine, also
under a name that it rebinds to 127.0.0.1. So the Host header must name this server, and an Origin must be one of ours:
other pages of this machine are foreign too, wherever a program on it may come in without a key.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass, field

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.http.options import Auth, HttpOptions
from dolmen.interfaces.http.responses import Refusal

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://(?:[^/?#@]*@)?([^/?#@]+)(?:[/?#].*)?")
_BRACKETED = re.compile(r"\[([0-9a-f:.]+)\](?::([0-9]*))?")
_NAMED = re.compile(r"([^\[\]]*?)(?::([0-9]*))?")
_NAMED_HOSTS = 10
"""So many names are said at most to somebody who came under a foreign one."""
_DEFAULT_PORTS = {"http": "80", "https": "443"}


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
        public = _URL.fullmatch(options.public_url.strip().lower())
        if public is not None:
            hosts.add(_lower(public[2]))
            origins.add(_origin(options.public_url))
        object.__setattr__(self, "_hosts", frozenset(hosts - {""}))
        object.__setattr__(self, "_origins", frozenset(origins - {""}))

    def check(self, host: str | None, origin: str | None) -> None:
        """Refuses a request that came under a foreign name, naming those that it serves, or from a foreign web page
        (C-314)."""
        if not host or not self._known(host):
            raise Refusal(
                "forbidden",
                f"This server is not {(host or 'a server without a name')[:100]!r}. It serves {self._served()}.",
                "Set DOLMEN_PUBLIC_URL to the URL that clients use, or add the name to DOLMEN_ALLOWED_HOSTS.",
            )
        if origin is not None and not self._ours(origin, host):
            raise Refusal(
                "forbidden",
                f"The web origin {origin[:100]!r} may not use this server.",
                "Add it to DOLMEN_ALLOWED_ORIGINS if it is yours.",
            )

    def _served(self) -> str:
        names = sorted(self._hosts - {self.options.host} if _unspecified(self.options.host) else self._hosts)
        more = " and more" if len(names) > _NAMED_HOSTS else ""
        return ", ".join(names[:_NAMED_HOSTS]) + more

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
        return _unspecified(self.options.host) and _address(name) is not None

    def _ours(self, origin: str, host: str) -> bool:
        """Whether a page may use this server: one that is listed, or that this server itself delivered. Where every
        client needs a key, any page of this machine: it can do nothing without."""
        parts = _URL.fullmatch(origin.lower())
        if parts is None or "@" in origin:
            return False
        if _origin(origin) in self._origins:
            return True
        if parts[1] not in _DEFAULT_PORTS:
            return False
        if _with_port(parts[2], parts[1]) == _with_port(host, parts[1]):
            return True
        return not keyless(self.options) and is_loopback(_split(parts[2])[0])


def _unspecified(host: str) -> bool:
    """Whether a server bound there is reached by every address of its machine."""
    bound = _address(host)
    return bound is not None and bound.is_unspecified


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return None


def _split(host: str) -> tuple[str, str]:
    """Name and port in lower case, an IPv6 address without its brackets; the port may be empty, and so is the name of
    what is no host."""
    host = host.strip().lower()
    found = _BRACKETED.fullmatch(host) or _NAMED.fullmatch(host)
    return (found[1].rstrip("."), found[2] or "") if found else ("", "")


def _lower(host: str) -> str:
    name, port = _split(host)
    return f"{name}:{port}" if port else name


def _with_port(host: str, scheme: str) -> tuple[str, str]:
    name, port = _split(host)
    return name, port or _DEFAULT_PORTS.get(scheme, "")


def _origin(url: str) -> str:
    """The origin of a URL in one form; empty for what is none."""
    parts = _URL.fullmatch(url.strip().lower())
    if parts is None:
        return ""
    name, port = _with_port(parts[2], parts[1])
    return f"{parts[1]}://{name}:{port}" if name else ""
