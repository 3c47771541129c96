"""Where a request came from, behind proxies."""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.http.proxies import Proxies, sender, site

TRUSTED = Proxies.of(["10.0.0.0/8", "127.0.0.1", "fd00::/8"])


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("198.51.100.7", [], "198.51.100.7"),
        ("198.51.100.7", ["203.0.113.9"], "198.51.100.7"),
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["1.1.1.1, 203.0.113.9"], "203.0.113.9"),
        ("10.0.0.1", ["1.1.1.1", "203.0.113.9, 10.0.0.2"], "203.0.113.9"),
        ("::ffff:10.0.0.1", ["2001:db8::9"], "2001:db8::9"),
        ("fd00::1", ["10.0.0.3"], "10.0.0.3"),
        ("10.0.0.1", ["nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["nonsense, 10.0.0.2"], "10.0.0.2"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("", ["203.0.113.9"], ""),
    ],
)
def test_only_trusted_proxies_say_where_a_request_came_from(peer: str, forwarded: list[str], address: str) -> None:
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    scope = {"type": "http", "headers": headers, "client": (peer, 1) if peer else None}
    assert TRUSTED.address(scope) == address


def test_without_trusted_proxies_the_header_says_nothing() -> None:
    scope = {"type": "http", "headers": [(b"x-forwarded-for", b"203.0.113.9")], "client": ("127.0.0.1", 1)}
    assert Proxies().address(scope) == "127.0.0.1"


@pytest.mark.parametrize(
    ("address", "whose"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "::ffff:203.0.113.9"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::7", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
    ],
)
def test_a_whole_network_of_addresses_is_one_sender(address: str, whose: str) -> None:
    """Who has 2^64 addresses has as many guesses as who has one."""
    assert sender(address) == whose


@pytest.mark.parametrize(
    ("address", "whose"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("2001:db8:1:ffff::/64", "2001:db8:1::/48"),
        ("", ""),
    ],
)
def test_the_networks_of_one_customer_are_one_site(address: str, whose: str) -> None:
    assert site(address) == whose


def test_what_is_no_address_is_refused_at_the_start() -> None:
    with pytest.raises(DolmenError, match="TRUSTED_PROXIES"):
        Proxies.of(["proxy.local"])
