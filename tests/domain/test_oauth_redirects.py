"""Where a browser may be sent back to: what may be registered, and what may then be asked for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dolmen.domain.oauth import OAuthError, check_redirect, host_of, is_loopback, matches


@pytest.mark.parametrize(
    "uri",
    [
        "https://claude.ai/api/mcp/auth_callback",  # B069
        "https://claude.com/api/mcp/auth_callback",  # B069
        "https://chatgpt.com/connector_platform_oauth_redirect",
        "http://localhost/callback",
        "http://127.0.0.1:33418/",
        "http://[::1]:8080/cb?x=1",
        "cursor://anysphere.cursor-retrieval/oauth/user-server/callback",
        "vscode://dynamicauthprovider/redirect",
        "com.example.app:/oauth",
    ],
)
def test_the_addresses_of_real_clients_may_be_registered(uri: str) -> None:
    assert check_redirect(uri) == uri


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("", "empty"),
        ("/callback", "absolute"),
        ("//evil.example/cb", "absolute"),
        ("javascript:alert(1)", "javascript"),
        ("JavaScript:alert(1)", "javascript"),
        ("data:text/html,x", "data"),
        ("file:///etc/passwd", "file"),
        ("smb://evil.example/share", "smb"),
        ("ms-word:ofe|u|https", "cannot hold|ms-word"),
        ("search-ms:query=x", "search-ms"),
        ("http://evil.example/cb", "http beyond"),
        ("http://127.0.0.1.evil.example/cb", "http beyond"),
        ("http://localhost.evil.example/cb", "http beyond"),
        ("https://", "no host"),
        ("https://a.example/cb#frag", "fragment"),
        ("https://a.example/cb#", "fragment"),
        ("https://user:pw@a.example/cb", "credentials"),
        ("https://a.example\\@b.example/cb", "cannot hold"),
        ("https://a.example/c b", "cannot hold"),
        ("https://a.example/\r\nSet-Cookie: x", "cannot hold"),
        ("https://a.example:port/cb", "no address"),
        ("https://bücher.example/cb", "cannot hold"),
        ("https://claude.ai;.evil.example/cb", "no name can be"),
        ("https://claude.ai%2f.evil.example/cb", "no name can be"),
        ("https://claude.ai,evil.example/cb", "no name can be"),
        ("https://*.evil.example/cb", "no name can be"),
        ("https://[v1.x]/cb", "no address|no name can be"),
        ("app:", "nothing else"),
        ("https://a.example/" + "x" * 2_000, "longer"),
    ],
)
def test_an_address_that_could_carry_a_code_elsewhere_is_refused_with_its_reason(uri: str, why: str) -> None:
    with pytest.raises(OAuthError, match=why) as refused:
        check_redirect(uri)
    assert refused.value.code == "invalid_redirect_uri"


@pytest.mark.parametrize(
    ("registered", "asked", "same"),
    [
        ("https://a.example/cb", "https://a.example/cb", True),
        ("https://a.example/cb", "https://a.example/cb/", False),
        ("https://a.example/cb", "https://a.example:444/cb", False),
        ("https://a.example/cb", "https://a.example/cb?x=1", False),
        ("http://localhost/callback", "http://localhost:53123/callback", True),
        ("http://127.0.0.1:9/cb", "http://localhost:10/cb", True),  # B078
        ("http://localhost/cb", "http://[::1]:10/cb", True),
        ("http://localhost/cb", "http://localhost/other", False),
        ("http://localhost/cb", "https://localhost/cb", False),
        ("http://localhost/cb", "http://x@localhost/cb", False),
        ("http://localhost/cb", "http://localhost.evil.example/cb", False),
        ("http://localhost/cb", "http://localhost/cb#x", False),
        ("app:/cb", "app:/cb", True),
        ("app:/cb", "app:/cb2", False),
    ],
)
def test_an_address_is_the_registered_one_but_for_the_port_of_a_loopback(
    registered: str, asked: str, same: bool
) -> None:
    assert matches(registered, asked) is same


@given(st.text())
def test_whatever_is_accepted_is_printable_and_leads_to_one_host(uri: str) -> None:
    try:
        check_redirect(uri)
    except OAuthError:
        return
    assert uri.isprintable()
    assert "#" not in uri
    assert host_of(uri)


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("https://claude.ai/api", "claude.ai"),
        ("https://claude.ai:443/api", "claude.ai"),
        ("http://localhost:81/cb", "localhost:81"),
        ("http://[::1]:81/cb", "[::1]:81"),
        ("vscode://x/y", "vscode:"),
    ],
)
def test_a_person_is_shown_the_host(uri: str, shown: str) -> None:
    assert host_of(uri) == shown


def test_only_this_machine_is_loopback() -> None:
    assert is_loopback("http://127.0.0.1:1/x")
    assert not is_loopback("http://127.0.0.1.nip.example/x")
    assert not is_loopback("vscode://localhost/x")
    assert not is_loopback("no address")
