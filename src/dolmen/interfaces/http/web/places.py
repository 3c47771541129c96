"""Where passkeys hold: at one origin, whose host has a name. Browsers make none for an IP address, and none without TLS
but for this machine itself (Web Authentication Level 2, §5.1.2 and §13.4.9)."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request

from dolmen.services.passkeys import Site

LOCALHOST = "localhost"


@dataclass(frozen=True, slots=True)
class Place:
    """The public address, as browsers and passkeys see it."""

    base: str

    @property
    def base_path(self) -> str:
        return urlsplit(self.base).path.rstrip("/")

    @property
    def site(self) -> Site | None:
        """Where passkeys hold; None where browsers make none. A loopback address stands for `localhost`."""
        parts = urlsplit(self.base)
        name = (parts.hostname or "").encode("idna").decode("ascii")
        address = _address(name)
        if address is not None:
            if not address.is_loopback:
                return None
            name = LOCALHOST
        if parts.scheme != "https" and name != LOCALHOST and not name.endswith("." + LOCALHOST):
            return None
        port = "" if parts.port in (None, {"http": 80, "https": 443}[parts.scheme]) else f":{parts.port}"
        return Site(f"{parts.scheme}://{name}{port}", name)

    def works_at(self, request: Request) -> bool:
        """Whether the browser came by the host at which passkeys hold."""
        site = self.site  # by the name alone: proxies drop the port
        return site is not None and urlsplit(f"//{request.headers.get('host', '')}").hostname == site.rp

    def elsewhere(self, request: Request, path: str) -> str:
        """The same page at the host where passkeys hold; empty when the browser is there, or there is none."""
        site = self.site
        return "" if site is None or self.works_at(request) else site.origin + self.base_path + path


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
