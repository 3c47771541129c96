"""Where a request came from, when it came through a proxy: by what trusted proxies say, and nobody else."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import Scope

from dolmen.domain.errors import DolmenError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True, slots=True)
class Proxies:
    """The addresses whose `X-Forwarded-For` is believed."""

    trusted: tuple[Network, ...] = ()

    @classmethod
    def of(cls, addresses: Iterable[str]) -> Proxies:
        """From addresses and networks as people write them: `10.0.0.5`, `10.0.0.0/8`, `fd00::/8`.

        Raises:
            DolmenError: `configuration`.
        """
        try:
            return cls(tuple(ipaddress.ip_network(each.strip(), strict=False) for each in addresses))
        except ValueError as error:
            raise DolmenError(
                "configuration",
                f"DOLMEN_TRUSTED_PROXIES: {error}.",
                "Name addresses or networks: `127.0.0.1`, `10.0.0.0/8`.",
            ) from None

    def address(self, scope: Scope) -> str:
        """The address of whoever asked: the nearest one that is no trusted proxy. What stands further left in the
        header was written by the client itself."""
        peer: str = scope["client"][0] if scope.get("client") else ""
        if not self._trusts(peer):
            return peer
        for hop in reversed(_hops(Headers(scope=scope).getlist("x-forwarded-for"))):
            if not self._trusts(hop):
                return hop if _parsed(hop) is not None else peer
            peer = hop
        return peer

    def _trusts(self, address: str) -> bool:
        parsed = _parsed(address)
        return parsed is not None and any(parsed in network for network in self.trusted)


def sender(address: str) -> str:
    """Whom an address belongs to, as far as limits go: one customer has a whole network of 2^64 IPv6 addresses."""
    return _network(address, 64)


def site(sender: str) -> str:
    """The widest network that one customer is commonly given, 65,536 times that of a `sender` (RFC 6177 §2)."""
    return _network(sender.partition("/")[0], 48)


def _network(address: str, bits: int) -> str:
    parsed = _parsed(address)
    if not isinstance(parsed, ipaddress.IPv6Address):
        return address
    return str(ipaddress.ip_network((int(parsed), bits), strict=False))


def _hops(headers: Sequence[str]) -> list[str]:
    return [hop.strip() for header in headers for hop in header.split(",")][-20:]


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    return parsed.ipv4_mapped or parsed if isinstance(parsed, ipaddress.IPv6Address) else parsed
