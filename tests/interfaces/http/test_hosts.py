"""Which addresses are safe to listen on, and which hosts and origins are let in."""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.http.hosts import HostPolicy, is_loopback, require_safe_bind
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.responses import Refusal


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "::1", "[::1]", "127.8.9.10"])
def test_loopback_addresses_need_no_key(host: str) -> None:
    assert is_loopback(host)
    require_safe_bind(host, "none")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "memory.example.com", "", "localhost.example.com"])
def test_listening_beyond_this_machine_without_authentication_is_refused(host: str) -> None:
    """B199."""
    with pytest.raises(DolmenError) as caught:
        require_safe_bind(host, "none")
    assert caught.value.code == "configuration"
    assert "DOLMEN_AUTH" in caught.value.fix
    require_safe_bind(host, "keys")
    require_safe_bind(host, "auto")


def policy(**options: object) -> HostPolicy:
    return HostPolicy(HttpOptions(**options))  # type: ignore[arg-type]  # fields of HttpOptions, by name


def status(policy: HostPolicy, host: str | None, origin: str | None = None) -> int:
    try:
        policy.check(host, origin)
    except Refusal as error:
        return error.status
    return 200


def test_a_refusal_names_the_setting() -> None:
    """B083."""
    for host, origin, setting in (("evil.example", None, "ALLOWED_HOSTS"), ("localhost", "null", "ALLOWED_ORIGINS")):
        with pytest.raises(Refusal) as caught:
            policy().check(host, origin)
        assert setting in caught.value.fix


@pytest.mark.parametrize("host", ["localhost", "localhost:7077", "127.0.0.1", "127.0.0.1:9", "[::1]:7077", "[::1]"])
def test_this_machine_is_known_by_its_own_names_with_and_without_a_port(host: str) -> None:
    assert status(policy(), host) == 200


@pytest.mark.parametrize(
    "host",
    [
        "memory.example.com",
        "evil.example:7077",
        "",
        None,
        "127.0.0.1.evil.example",
        "[::1]evil.com",
        "[::1]evil.com:7077",
        "[::1]:x",
        "[[::1]]",
        "127.0.0.1]",
        "[localhost]",
        ":7077",
        "[",
        "]",
    ],
)
def test_a_foreign_name_is_answered_403(host: str | None) -> None:
    """B083: with the setting that lets it in."""
    assert status(policy(), host) == 403


def test_whoever_comes_under_a_foreign_name_is_told_those_that_are_served() -> None:
    """C-314."""
    with pytest.raises(Refusal) as refused:
        policy(host="0.0.0.0", public_url="https://memory.example.com", allowed_hosts=("memory:7077",)).check("x", None)
    assert refused.value.status == 403
    assert refused.value.message.endswith("It serves 127.0.0.1, ::1, localhost, memory.example.com, memory:7077.")


@pytest.mark.parametrize(
    ("options", "host"),
    [
        ({"public_url": "https://memory.example.com"}, "memory.example.com"),
        ({"public_url": "https://memory.example.com"}, "Memory.Example.COM."),
        ({"public_url": "https://memory.example.com:8443/dolmen"}, "memory.example.com:8443"),
        ({"allowed_hosts": ("memory",)}, "memory:7077"),
        ({"allowed_hosts": ("memory:7077",)}, "memory:7077"),
        ({"host": "192.168.1.5"}, "192.168.1.5:7077"),
        ({"host": "0.0.0.0"}, "10.0.0.7:7077"),
        ({"host": "::"}, "[fd00::7]:7077"),
    ],
)
def test_the_settings_let_other_names_in(options: dict[str, object], host: str) -> None:
    """B083."""
    assert status(policy(**options), host) == 200


def test_a_name_with_a_port_is_let_in_with_that_port_only() -> None:
    assert status(policy(allowed_hosts=("memory:7077",)), "memory:80") == 403


def test_bound_to_every_address_a_foreign_name_is_still_refused() -> None:
    """A page can rebind a name to an address, never an address."""
    assert status(policy(host="0.0.0.0"), "rebound.example") == 403


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:7077", None),
        ("localhost:7077", "http://localhost:7077"),
        ("127.0.0.1", "http://127.0.0.1:80"),
        ("[::1]:7077", "http://[::1]:7077"),
    ],
)
def test_programs_and_pages_from_here_are_let_in(host: str, origin: str | None) -> None:
    assert status(policy(), host, origin) == 200


LOCAL_PAGES = ["http://localhost:6274", "http://127.0.0.1", "https://[::1]:3000"]


@pytest.mark.parametrize("origin", LOCAL_PAGES)
def test_other_pages_of_this_machine_are_let_in_only_where_they_need_a_key(origin: str) -> None:
    assert status(policy(), "localhost:7077", origin) == 403
    assert status(policy(auth="none"), "localhost:7077", origin) == 403
    assert status(policy(auth="keys"), "localhost:7077", origin) == 200
    assert status(policy(allowed_origins=(origin,)), "localhost:7077", origin) == 200


def test_a_listed_origin_that_is_none_lets_nobody_in() -> None:
    broken = policy(allowed_origins=("nonsense", "http://[", ""), public_url="http://[")
    for origin in ("null", "nonsense", "", "http://["):
        assert status(broken, "localhost", origin) == 403


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "http://localhost.evil.example",
        "file://",
        "",
        "http://127.0.0.1@evil.x",
        "http://[",
        "http://x@localhost",
    ],
)
def test_foreign_pages_are_answered_403(origin: str) -> None:
    assert status(policy(), "localhost", origin) == 403


@pytest.mark.parametrize(
    "origin", ["https://memory.example.com", "https://memory.example.com:443", "HTTPS://Ours.Example"]
)
def test_our_own_pages_are_let_in(origin: str) -> None:
    ours = policy(public_url="https://memory.example.com", allowed_origins=("https://ours.example",))
    assert status(ours, "localhost", origin) == 200
