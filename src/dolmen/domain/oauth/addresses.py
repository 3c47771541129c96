"""Which network addresses a server may fetch from on behalf of a stranger: public ones, and only those.

`ipaddress` says "global" of addresses that carry a private one inside: 6to4, NAT64, Teredo and IPv4-mapped addresses
reach the IPv4 host that is written in them, so that one is judged too.
"""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address

_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
"""RFC 6052, and the local-use prefix of RFC 8215."""
_COMPATIBLE = IPv6Network("::/96")
_SPECIAL = ("192.0.0.", "192.88.99.")
"""Protocol assignments and the 6to4 relays, which some versions of `ipaddress` call global."""


def is_public(address: str) -> bool:
    """Whether an address, without a zone, is one that anybody on the internet may reach."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return False
    if isinstance(parsed, IPv4Address):
        return _public(parsed)
    return _public(parsed) and all(_public(inner) for inner in _embedded(parsed))


def _public(address: IPv4Address | IPv6Address) -> bool:
    if isinstance(address, IPv4Address) and str(address).startswith(_SPECIAL):
        return False
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not address.is_unspecified
        and not (isinstance(address, IPv6Address) and address.is_site_local)
    )


def _embedded(address: IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses that packets to this one may end at."""
    inner: list[IPv4Address] = []
    if address.ipv4_mapped is not None:
        inner.append(address.ipv4_mapped)
    if address.sixtofour is not None:
        inner.append(address.sixtofour)
    if address.teredo is not None:
        inner += address.teredo
    if any(address in network for network in (*_NAT64, _COMPATIBLE)):
        inner.append(IPv4Address(int(address) & 0xFFFF_FFFF))
    return inner
