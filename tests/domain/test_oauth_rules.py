"""PKCE, scopes, resources, refresh tokens, and what a client says of itself."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import pytest

from dolmen.domain.oauth import (
    GRACE,
    OAuthError,
    Refresh,
    Resources,
    check_challenge,
    checked_client,
    covers,
    decide_refresh,
    grant_mode,
    mode_of,
    proves,
    scopes_of,
)
from dolmen.domain.values import DAY, SECOND, Mode

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
"""The example of RFC 7636, appendix B."""


# ----------------------------------------------------------------------------------------------------------------- PKCE
def test_the_verifier_of_the_rfc_belongs_to_its_challenge() -> None:
    assert proves(VERIFIER, check_challenge(CHALLENGE, "S256"))


@pytest.mark.parametrize(
    "verifier", ["", VERIFIER[:-1], VERIFIER + "x" * 100, VERIFIER[:-1] + "!", CHALLENGE, "é" * 43]
)
def test_no_other_verifier_does(verifier: str) -> None:
    assert not proves(verifier, CHALLENGE)


@pytest.mark.parametrize(("challenge", "method"), [("", "S256"), (CHALLENGE, "plain"), (CHALLENGE, ""), ("x", "S256")])
def test_a_request_without_a_hashed_challenge_is_refused(challenge: str, method: str) -> None:
    with pytest.raises(OAuthError) as refused:
        check_challenge(challenge, method)
    assert refused.value.code == "invalid_request"


def test_a_plain_challenge_proves_nothing() -> None:
    digest = base64.urlsafe_b64encode(hashlib.sha256(CHALLENGE.encode()).digest()).decode().rstrip("=")
    assert not proves(CHALLENGE, CHALLENGE)
    assert proves(CHALLENGE, digest)


# --------------------------------------------------------------------------------------------------------------- scopes
@pytest.mark.parametrize(
    ("scope", "mode"),
    [
        ("", None),
        ("openid offline_access", None),
        ("read", "read"),
        ("read suggest write", "write"),
        ("suggest", "suggest"),
        ("memory:read", "read"),
        ("memory:read memory:write", "write"),
        ("read  suggest", "suggest"),
    ],
)
def test_a_scope_of_any_system_asks_for_a_mode(scope: str, mode: Mode | None) -> None:
    """C-294, C-309"""
    assert mode_of(scope) == mode


@pytest.mark.parametrize("scope", ["admin", "read admin", "READ", "x" * 501])
def test_a_scope_that_is_none_is_refused(scope: str) -> None:
    with pytest.raises(OAuthError) as refused:
        mode_of(scope)
    assert refused.value.code == "invalid_scope"


@pytest.mark.parametrize(
    ("asked", "allowed", "granted"),
    [(None, "write", "write"), ("read", "write", "read"), ("write", "suggest", "suggest")],
)
def test_a_grant_is_never_wider_than_asked_or_allowed(asked: Mode | None, allowed: Mode, granted: Mode) -> None:
    assert grant_mode(asked, allowed) == granted


@pytest.mark.parametrize(
    ("mode", "asked", "scope"),
    [
        ("read", (), "read"),
        ("write", (), "read suggest write"),
        ("read", ("memory:read", "memory:write"), "memory:read"),
        ("write", ("memory:write",), "memory:write"),
        ("suggest", ("read", "suggest", "write"), "read suggest"),
    ],
)
def test_a_token_answer_names_what_was_granted_in_the_words_that_were_asked(
    mode: Mode, asked: tuple[str, ...], scope: str
) -> None:
    assert scopes_of(mode, asked) == scope


# ------------------------------------------------------------------------------------------------------------ resources
HERE = Resources("https://memory.example.com", ("core", "kenfold"))


@pytest.mark.parametrize(
    ("asked", "resource"),
    [
        (None, "/mcp"),
        ("https://memory.example.com/mcp", "/mcp"),
        ("https://memory.example.com/mcp/", "/mcp"),
        ("https://memory.example.com", "/mcp"),  # B076
        ("https://memory.example.com/", "/mcp"),  # B076
        ("HTTPS://Memory.Example.com:443/mcp", "/mcp"),
        ("https://memory.example.com/mcp/kenfold", "/mcp/kenfold"),
    ],
)
def test_the_known_spellings_of_this_server_are_one_resource(asked: str | None, resource: str) -> None:
    assert HERE.resolve(asked) == f"https://memory.example.com{resource}"


@pytest.mark.parametrize(
    "asked",
    [
        "https://evil.example/mcp",
        "http://memory.example.com/mcp",
        "https://memory.example.com:444/mcp",
        "https://memory.example.com/mcp/none",
        "https://memory.example.com/mcpx",
        "https://memory.example.com/mcp?x=1",
        "https://memory.example.com/mcp#x",
        "https://x@memory.example.com/mcp",
        "https://memory.example.com.evil.example/mcp",
        "nonsense",
        "https://[",
    ],
)
def test_any_other_resource_is_refused_at_once(asked: str) -> None:
    """B076"""
    with pytest.raises(OAuthError) as refused:
        HERE.resolve(asked)
    assert refused.value.code == "invalid_target"


def test_a_server_below_a_path_has_its_resource_there() -> None:
    here = Resources("https://example.com/memory", ("core",))
    assert here.resolve("https://example.com/memory/mcp") == "https://example.com/memory/mcp"
    assert here.resolve("https://example.com/memory") == "https://example.com/memory/mcp"
    with pytest.raises(OAuthError):
        here.resolve("https://example.com/mcp")


def test_a_token_opens_its_own_resource_and_what_lies_in_it() -> None:
    whole, one = "https://memory.example.com/mcp", "https://memory.example.com/mcp/kenfold"
    assert covers(whole, whole)
    assert covers(whole, one)
    assert covers(one, one)
    assert not covers(one, whole)
    assert not covers(whole, f"{whole}x")
    assert not covers("https://other.example/mcp", whole)


# ------------------------------------------------------------------------------------------------------- refresh tokens
NOW = DAY // 2


@pytest.mark.parametrize(
    ("token", "decision"),
    [
        (Refresh("f", expires_at=DAY), "rotate"),
        (Refresh("f", expires_at=DAY, used_at=NOW - GRACE), "again"),
        (Refresh("f", expires_at=DAY, used_at=NOW - GRACE - SECOND), "reuse"),
        (Refresh("f", expires_at=NOW), "expired"),
        (Refresh("f", expires_at=DAY, revoked_at=1), "revoked"),
        (Refresh("f", expires_at=1, used_at=2), "reuse"),
    ],
)
def test_a_refresh_token_is_used_once_with_a_short_grace(token: Refresh, decision: str) -> None:
    """B082"""
    assert decide_refresh(token, NOW) == decision


# -------------------------------------------------------------------------------------------------------------- clients
GOOD: dict[str, Any] = {"client_name": "Claude", "redirect_uris": ["https://claude.ai/api/mcp/auth_callback"]}


def test_a_client_is_a_name_and_addresses() -> None:
    client = checked_client("c1", {**GOOD, "scope": "read admin write", "logo_uri": "https://x.example/l.png"})
    assert (client.id, client.name, client.method, client.scope) == ("c1", "Claude", "none", "read write")
    assert client.redirects == ("https://claude.ai/api/mcp/auth_callback",)


def test_a_client_that_wants_a_secret_becomes_a_public_one() -> None:
    assert checked_client("c1", {**GOOD, "token_endpoint_auth_method": "client_secret_post"}).method == "none"


def test_a_name_cannot_change_how_the_page_around_it_reads() -> None:
    client = checked_client("c1", {**GOOD, "client_name": "Claude\u202e\n\x00  evil"})
    assert client.name == "Claude evil"


def test_only_a_document_brings_keys() -> None:
    wish = {**GOOD, "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "https://a.example/jwks"}
    assert checked_client("https://a.example/c", wish, keys=True).method == "private_key_jwt"
    with pytest.raises(OAuthError, match="must be none"):
        checked_client("c1", wish)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": "https://a.example/cb"}, "invalid_redirect_uri"),
        ({"redirect_uris": [1]}, "invalid_redirect_uri"),
        ({"redirect_uris": ["https://a.example/cb", "javascript:x"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [f"https://a.example/{n}" for n in range(11)]}, "invalid_redirect_uri"),
        ({"client_name": "x" * 101}, "invalid_client_metadata"),
        ({"client_name": {"a": 1}}, "invalid_client_metadata"),
        ({"grant_types": ["password"]}, "invalid_client_metadata"),
        ({"grant_types": "authorization_code"}, "invalid_client_metadata"),
        ({"response_types": ["token"]}, "invalid_client_metadata"),
        ({"token_endpoint_auth_method": "tls_client_auth"}, "invalid_client_metadata"),
        ({"scope": "x" * 501}, "invalid_client_metadata"),
    ],
)
def test_metadata_that_cannot_hold_are_refused_by_the_code_of_the_rfc(change: dict[str, Any], code: str) -> None:
    with pytest.raises(OAuthError) as refused:
        checked_client("c1", {**GOOD, **change})
    assert refused.value.code == code
