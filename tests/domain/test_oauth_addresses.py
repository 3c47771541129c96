"""Addresses that a stranger could make the server fetch from."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.oauth import is_public


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "2a00:1450:4001:81b::200e"])
def test_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
        "255.255.255.255", "192.0.0.8", "192.88.99.1", "198.18.0.1", "203.0.113.5", "240.0.0.1",
        "::", "::1", "fe80::1", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1",
        "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1",
        "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a00:1::1", "2001:0:7f00:1::",
        "", "localhost", "1.1.1", "0x7f000001", "fe80::1%eth0",
    ],
)  # fmt: skip
def test_what_lies_inside_a_network_is_not(address: str) -> None:
    assert not is_public(address)


@given(st.ip_addresses(v=4))
def test_an_address_is_no_more_public_for_being_wrapped_in_another(address: IPv4Address) -> None:
    wrapped = [
        IPv6Address(int(IPv6Address("64:ff9b::")) | int(address)),
        IPv6Address(int(IPv6Address("2002::")) | int(address) << 80),
        IPv6Address(int(IPv6Address("::ffff:0:0")) | int(address)),
    ]
    if not is_public(str(address)):
        assert not any(is_public(str(each)) for each in wrapped)
