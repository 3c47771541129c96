"""What the RFCs demand of an authorization server and of a resource, a row for each demand with its section, against a
running server. RFC 8628 has a file of its own (test_device_flow), RFC 7523 its rules in test_oauth_assertion, the
addresses of RFC 8252 theirs in tests/domain/test_oauth_redirects.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import httpx2
import pytest
from joserfc import jwt
from joserfc.jwk import ECKey

from dolmen.domain.oauth import Client, OAuthError
from dolmen.interfaces.http.oauth.assertion import TYPE, Assertions
from dolmen.interfaces.http.oauth.fetching import Fetcher
from tests.interfaces.http.test_oauth_flow import BACK, BASE, LIST, VERIFIER, Town, told, town

pytestmark = pytest.mark.usefixtures("cheap_passwords")

__all__ = ["town"]
WELL_KNOWN = "/.well-known/oauth-authorization-server"


@dataclass
class Desk:
    """What the rows of one table work with; each part is made when it is asked for."""

    town: Town

    @cached_property
    def client(self) -> str:
        return self.town.register()

    def code(self, **changes: str | None) -> str:
        return told(self.town.answer(self.town.request(self.client, **changes)))["code"]

    @cached_property
    def tokens(self) -> dict[str, Any]:
        return self.redeemed().json()

    def redeemed(self, **changes: str) -> httpx2.Response:
        form = {"grant_type": "authorization_code", "client_id": self.client, **changes}
        return self.town.token(**{"code": self.code(), **form} if "code" not in form else form)

    def post(self, path: str, **more: Any) -> httpx2.Response:
        return self.town.served.http.post(self.town.served.base + path, **more)

    def asked(self, **changes: str | None) -> httpx2.Response:
        return self.town.get(self.town.request(self.client, **changes))

    @cached_property
    def metadata(self) -> dict[str, Any]:
        return self.town.get(WELL_KNOWN).json()

    @cached_property
    def resource(self) -> dict[str, Any]:
        return self.town.get("/.well-known/oauth-protected-resource/mcp").json()

    @cached_property
    def registered(self) -> httpx2.Response:
        return self.post("/oauth/register", json={"redirect_uris": [BACK], "client_name": "A", "x_unknown": {"a": 1}})


Row = tuple[str, Callable[[Desk], bool]]


def is_(answer: httpx2.Response, status: int, error: str = "") -> bool:
    return answer.status_code == status and (not error or answer.json()["error"] == error)


def _twice(desk: Desk) -> bool:
    code = desk.code()
    first, second = desk.redeemed(code=code), desk.redeemed(code=code)
    token = first.json()["access_token"]
    # OAuth 2.1 §4.1.3: what the first got is revoked.
    return is_(first, 200) and is_(second, 400, "invalid_grant") and is_(desk.town.call(token), 401)


def _unsaid(desk: Desk) -> httpx2.Response:
    code = told(desk.town.answer(desk.town.request(desk.client, redirect_uri=None)))["code"]
    form = {"grant_type": "authorization_code", "code": code, "client_id": desk.client, "code_verifier": VERIFIER}
    return desk.post("/oauth/token", data=form)


def _by_assertion(desk: Desk, assertion: str) -> httpx2.Response:
    form = {"client_assertion_type": TYPE, "client_assertion": assertion, "code": desk.code(), "redirect_uri": BACK}
    form |= {"grant_type": "authorization_code", "code_verifier": VERIFIER}
    return desk.post("/oauth/token", data=form)


def _raw(desk: Desk, body: str) -> httpx2.Response:
    headers = {"content-type": "application/x-www-form-urlencoded"}
    return desk.post(f"/oauth/token?client_id={desk.client}", content=body.encode(), headers=headers)


def _basic(desk: Desk) -> bool:
    answer = desk.post("/oauth/token", data={"grant_type": "x"}, headers={"authorization": "Basic eDp5"})
    return is_(answer, 401, "invalid_client") and answer.headers["www-authenticate"].startswith("Basic ")


def _unkept(answer: httpx2.Response) -> bool:
    return answer.headers["cache-control"] == "no-store" and answer.headers["pragma"] == "no-cache"


def _refreshed(desk: Desk, **changes: str) -> httpx2.Response:
    form = {"grant_type": "refresh_token", "refresh_token": desk.tokens["refresh_token"], "client_id": desk.client}
    return desk.post("/oauth/token", data=form | changes)


def _narrow(desk: Desk) -> bool:
    reading = desk.town.tokens(desk.client, mode="read")["access_token"]
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "remember", "arguments": {}}}
    answer = desk.town.served.post(call, "/mcp/kmem", authorization=f"Bearer {reading}")
    said = answer.headers.get("www-authenticate", "")
    return is_(answer, 403) and 'error="insufficient_scope"' in said and 'scope="suggest"' in said


def _revoked(desk: Desk, token: str, **more: str) -> httpx2.Response:
    return desk.post("/oauth/revoke", data={"token": token, "client_id": desk.client, **more})


def _foreign(desk: Desk) -> bool:
    form = {"token": desk.tokens["access_token"], "client_id": desk.town.register()}
    desk.post("/oauth/revoke", data=form)
    return is_(desk.town.call(desk.tokens["access_token"]), 200)


def _ends(desk: Desk) -> bool:
    given = desk.town.tokens(desk.client)
    return is_(_revoked(desk, given["refresh_token"]), 200) and is_(desk.town.call(given["access_token"]), 401)


def _loopback(desk: Desk) -> bool:
    desk.town.enter()
    client = desk.town.register(redirect_uris=["http://127.0.0.1/cb"])
    return is_(desk.town.get(desk.town.request(client, redirect_uri="http://127.0.0.1:51000/cb")), 200)


AUTHORIZATION: list[Row] = [
    ("RFC 6749 §3.1 the endpoint takes GET", lambda d: is_(d.asked(), 200)),
    ("§3.1 and has no fragment", lambda d: "#" not in d.metadata["authorization_endpoint"]),
    ("§3.1 a parameter without a value counts as left out", lambda d: is_(d.asked(scope="", resource=""), 200)),
    ("§3.1 unknown parameters are ignored", lambda d: is_(d.asked(nonsense="1"), 200)),
    (
        "§3.1 no parameter comes twice",
        lambda d: is_(d.town.get(d.town.request(d.client) + "&client_id=other"), 400),
    ),
    ("§3.1.1 response_type is required", lambda d: "error" in told(d.asked(response_type=None))),
    ("§3.1.2.3 the redirect is compared to the letter", lambda d: is_(d.asked(redirect_uri=BACK + "/"), 400)),
    (
        "§3.1.2.4 an invalid one is not followed",
        lambda d: "location" not in d.asked(redirect_uri="https://x.example").headers,
    ),
    ("§4.1.2.1 an unknown client is told to the person", lambda d: is_(d.asked(client_id="dlc_none"), 400)),
    (
        "§4.1.2.1 a wrong response_type is told to the client",
        lambda d: told(d.asked(response_type="token"))["error"] == "unsupported_response_type",
    ),
    ("§4.1.2.1 so is a wrong scope", lambda d: told(d.asked(scope="all"))["error"] == "invalid_scope"),
    ("§4.1.2 the state comes back to the letter", lambda d: told(d.asked(scope="all"))["state"] == "s 1&2"),
    ("§4.1.2 a code is used once", _twice),
    ("§4.1.3 a code is its client's", lambda d: is_(d.redeemed(client_id=d.town.register()), 400, "invalid_grant")),
    (
        "§4.1.3 a code is its redirect's",
        lambda d: is_(d.redeemed(redirect_uri="https://x.example"), 400, "invalid_grant"),
    ),
    ("§4.1.3 who did not name the only redirect need not name it here", lambda d: is_(_unsaid(d), 200)),
    ("OAuth 2.1 §4.1.3, §10.2 nor need anybody, who has the verifier", lambda d: is_(d.redeemed(redirect_uri=""), 200)),
    (
        "OAuth 2.1 §10.2 and without a redirect the verifier counts as ever",
        lambda d: is_(d.redeemed(redirect_uri="", code_verifier="w" * 43), 400, "invalid_grant"),
    ),
    ("§10.10 codes cannot be guessed", lambda d: len(d.code()) >= 43),
    ("RFC 9207 §2 an answer names the issuer", lambda d: told(d.town.answer(d.town.request(d.client)))["iss"] == BASE),
    ("RFC 9207 §2 so does a refusal", lambda d: told(d.asked(scope="all"))["iss"] == BASE),
    (
        "RFC 9207 §2.3 and the metadata say so",
        lambda d: d.metadata["authorization_response_iss_parameter_supported"] is True,
    ),
    (
        "RFC 7636 §4.4.1 a challenge is required",
        lambda d: told(d.asked(code_challenge=None))["error"] == "invalid_request",
    ),
    (
        "RFC 7636 §4.4.1 S256 is, too",
        lambda d: told(d.asked(code_challenge_method="plain"))["error"] == "invalid_request",
    ),
    ("RFC 7636 §4.3 plain is the default, so refused", lambda d: "error" in told(d.asked(code_challenge_method=None))),
    ("RFC 7636 §4.2 a challenge is a hash", lambda d: "error" in told(d.asked(code_challenge="short"))),
    (
        "RFC 7636 §4.6 another verifier proves nothing",
        lambda d: is_(d.redeemed(code_verifier="w" * 43), 400, "invalid_grant"),
    ),
    ("RFC 7636 §4.1 a short verifier is none", lambda d: is_(d.redeemed(code_verifier="v" * 42), 400, "invalid_grant")),
    ("RFC 7636 §4.5 none is none", lambda d: is_(d.redeemed(code_verifier=""), 400, "invalid_grant")),
    (
        "RFC 8707 §2 a resource has no fragment",
        lambda d: told(d.asked(resource=f"{BASE}/mcp#x"))["error"] == "invalid_target",
    ),
    ("RFC 8707 §2 and is absolute", lambda d: told(d.asked(resource="/mcp"))["error"] == "invalid_target"),
    ("RFC 8707 §2 and is here", lambda d: told(d.asked(resource="https://x.example"))["error"] == "invalid_target"),
    (
        "RFC 8707 §2.2 a code is its resource's",
        lambda d: is_(d.redeemed(resource=f"{BASE}/mcp/kmem"), 400, "invalid_target"),
    ),
]


TOKENS: list[Row] = [
    ("RFC 6749 §3.2 tokens are given to POST alone", lambda d: d.town.get("/oauth/token").status_code in (404, 405)),
    ("§3.2 no parameter comes twice", lambda d: is_(_raw(d, "grant_type=a&grant_type=b"), 400, "invalid_request")),
    ("§2.3.1 credentials in the address do not count", lambda d: is_(_raw(d, "grant_type=refresh_token"), 400)),
    ("§2.3.1 a password in a header is answered in its scheme", _basic),
    (
        "RFC 7521 §4.2 an assertion names its client, too",
        lambda d: is_(_by_assertion(d, jwt.encode({"alg": "ES256"}, {"sub": d.client}, KEY)), 200),
    ),
    ("RFC 7521 §4.2 what is none names nobody", lambda d: is_(_by_assertion(d, "x.y.z"), 400, "invalid_request")),
    ("§5.1 the answer names its type", lambda d: d.tokens["token_type"].lower() == "bearer"),
    ("§5.1 and its end", lambda d: d.tokens["expires_in"] == 3600),
    ("§3.3 and the scope, as it is not what was asked for", lambda d: d.tokens["scope"] == "read suggest"),
    ("§5.1 and is not kept", lambda d: _unkept(d.redeemed())),
    ("§5.2 neither is a refusal", lambda d: _unkept(d.town.token(client_id=d.client, grant_type="x"))),
    (
        "§5.2 an unknown grant",
        lambda d: is_(d.town.token(client_id=d.client, grant_type="x"), 400, "unsupported_grant_type"),
    ),
    ("§5.2 no grant", lambda d: is_(d.town.token(client_id=d.client), 400, "invalid_request")),
    ("§5.2 an unknown client", lambda d: is_(d.town.token(client_id="dlc_x", grant_type="x"), 401, "invalid_client")),
    ("§6 a refresh gives no more", lambda d: is_(_refreshed(d, scope="write"), 400, "invalid_scope")),
    (
        "§6 a refresh token is its client's",
        lambda d: is_(_refreshed(d, client_id=d.town.register()), 400, "invalid_grant"),
    ),
    (
        "RFC 8707 §2.2 and its resource's",
        lambda d: is_(_refreshed(d, resource=f"{BASE}/mcp/kmem"), 400, "invalid_target"),
    ),
    ("OAuth 2.1 §4.3.1 it is replaced", lambda d: _refreshed(d).json()["refresh_token"] != d.tokens["refresh_token"]),
    ("RFC 6750 §2.1 a token comes in the header", lambda d: is_(d.town.call(d.tokens["access_token"]), 200)),
    (
        "RFC 6750 §2.3 and not in the address",
        lambda d: is_(d.town.served.post(LIST, f"/mcp?access_token={d.tokens['access_token']}"), 401),
    ),
    (
        "RFC 6750 §3 a refusal challenges",
        lambda d: d.town.served.post(LIST).headers["www-authenticate"].startswith("Bearer "),
    ),
    (
        "RFC 6750 §3.1 without an error, where nothing was shown",
        lambda d: "error=" not in d.town.served.post(LIST).headers["www-authenticate"],
    ),
    (
        "RFC 6750 §3.1 with invalid_token otherwise",
        lambda d: 'error="invalid_token"' in d.town.call("dla_x").headers["www-authenticate"],
    ),
    ("RFC 6750 §3.1 insufficient_scope is 403 and names it", _narrow),
    (
        "RFC 7009 §2.1 a token is required",
        lambda d: is_(d.post("/oauth/revoke", data={"client_id": d.client}), 400, "invalid_request"),
    ),
    (
        "RFC 7009 §2.1 the client is known",
        lambda d: is_(d.post("/oauth/revoke", data={"token": "x", "client_id": "x"}), 401, "invalid_client"),
    ),
    ("RFC 7009 §2.2 an unknown token is fine", lambda d: is_(_revoked(d, "dlr_x"), 200)),
    ("RFC 7009 §2.2 an unknown hint is ignored", lambda d: is_(_revoked(d, "dlr_x", token_type_hint="odd"), 200)),
    ("RFC 7009 §2.1 another client ends nothing", _foreign),
    ("RFC 7009 §2.1 a refresh token takes the others along", _ends),
]


METADATA: list[Row] = [
    ("RFC 8414 §2 the issuer has neither query nor fragment", lambda d: not set("?#") & set(d.metadata["issuer"])),
    ("§3.3 and is the address that was asked", lambda d: d.metadata["issuer"] == BASE),
    (
        "§2 what is required is there",
        lambda d: {"authorization_endpoint", "token_endpoint", "response_types_supported"} <= set(d.metadata),
    ),
    ("§3.2 the answer is JSON", lambda d: d.town.get(WELL_KNOWN).headers["content-type"] == "application/json"),
    ("§3.2 nothing in it is empty", lambda d: all(value not in ([], "", None) for value in d.metadata.values())),
    (
        "§2 signing algorithms are named with private_key_jwt",
        lambda d: "none" not in d.metadata["token_endpoint_auth_signing_alg_values_supported"],
    ),
    ("§2 the implicit grant is not offered", lambda d: "implicit" not in d.metadata["grant_types_supported"]),
    ("RFC 7636 §5 the method is named", lambda d: d.metadata["code_challenge_methods_supported"] == ["S256"]),
    ("RFC 9728 §3.3 the resource is the address that was asked", lambda d: d.resource["resource"] == f"{BASE}/mcp"),
    ("§2 it names the issuer to the letter", lambda d: d.resource["authorization_servers"] == [d.metadata["issuer"]]),
    ("§3.2 nothing in it is empty", lambda d: all(value not in ([], "", None) for value in d.resource.values())),
    (
        "§3.1 each resource has its own",
        lambda d: d.town.get("/.well-known/oauth-protected-resource/mcp/kmem").json()["resource"] == f"{BASE}/mcp/kmem",
    ),
    ("§3.2 one that is not here has none", lambda d: is_(d.town.get("/.well-known/oauth-protected-resource/x"), 404)),
    (
        "§5.1 a refusal says where",
        lambda d: (
            f'resource_metadata="{BASE}/.well-known/oauth-protected-resource/mcp"'
            in d.town.served.post(LIST).headers["www-authenticate"]
        ),
    ),
    ("RFC 7591 §3.2.1 a registration is 201", lambda d: is_(d.registered, 201)),
    ("§3.2.1 and is not kept", lambda d: _unkept(d.registered)),
    ("§3.2.1 it tells what was registered", lambda d: d.registered.json()["redirect_uris"] == [BACK]),
    ("§2 what is unknown is ignored", lambda d: "x_unknown" not in d.registered.json()),
    ("§3.2.1 no secret, so no end of one", lambda d: not [name for name in d.registered.json() if "secret" in name]),
    ("§3 each registration is another client", lambda d: d.town.register() != d.town.register()),
    (
        "§3.2.2 a wrong redirect",
        lambda d: is_(d.post("/oauth/register", json={"redirect_uris": ["javascript:x"]}), 400, "invalid_redirect_uri"),
    ),
    (
        "§3.2.2 wrong metadata",
        lambda d: is_(
            d.post("/oauth/register", json={"redirect_uris": [BACK], "client_name": 1}), 400, "invalid_client_metadata"
        ),
    ),
    (
        "§2 redirects are required for codes",
        lambda d: is_(d.post("/oauth/register", json={"client_name": "A"}), 400, "invalid_redirect_uri"),
    ),
    (
        "RFC 8252 §8.4 a whole address is registered",
        lambda d: is_(d.post("/oauth/register", json={"redirect_uris": ["app:"]}), 400, "invalid_redirect_uri"),
    ),
    ("RFC 8252 §7.3 a loopback has any port", _loopback),
    (
        "RFC 8252 §7.1 an app has its own scheme",
        lambda d: is_(d.post("/oauth/register", json={"redirect_uris": ["com.example.app:/cb"]}), 201),
    ),
]


@pytest.mark.parametrize(
    "table", [AUTHORIZATION, TOKENS, METADATA], ids=["authorization", "tokens", "metadata and registration"]
)
def test_each_demand_of_the_rfcs_is_met(town: Town, table: list[Row]) -> None:
    town.enter()
    desk = Desk(town)
    unmet = []
    for demand, met in table:
        town.served.http.cookies.clear()
        if not met(desk):
            unmet.append(demand)
    assert unmet == []


KEY = ECKey.generate_key("P-256", {"kid": "1"})
ID = "https://client.example/c.json"
PROVES = Client(ID, "C", (BACK,), "private_key_jwt", jwks={"keys": [KEY.as_dict(private=False)]})


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("section", "changes", "taken"),
    [
        ("RFC 7523 §3 (1) to (4)", {}, True),
        ("§3 (1) iss is required", {"iss": None}, False),
        ("§3 (2) sub is the client", {"sub": "https://other.example/c"}, False),
        ("§3 (3) aud is required", {"aud": None}, False),
        ("§3 (3) aud is this server", {"aud": "https://other.example"}, False),
        ("§3 (3) or its token endpoint", {"aud": f"{BASE}/oauth/token"}, True),
        ("§3 (4) exp is required", {"exp": None}, False),
        ("§3 (4) exp has not passed", {"exp": 100}, False),
        ("§3 (5) nbf has come", {"nbf": 4_000_000_000}, False),
        ("§3 (5) nbf has come", {"nbf": 100}, True),
        ("§3 (5) nbf is a number", {"nbf": "soon"}, False),
    ],
)
async def test_each_demand_on_an_assertion_is_made(section: str, changes: dict[str, Any], taken: bool) -> None:
    claims = {"iss": ID, "sub": ID, "aud": BASE, "exp": int(time.time()) + 60, "jti": section} | changes
    signed = jwt.encode({"alg": "ES256", "kid": "1"}, {n: v for n, v in claims.items() if v is not None}, KEY)
    form = {"client_assertion_type": TYPE, "client_assertion": signed}
    check = Assertions(BASE, Fetcher()).check(PROVES, form)
    if taken:
        await check
        return
    with pytest.raises(OAuthError) as refused:
        await check
    assert refused.value.code == "invalid_client", section


def test_the_verifier_of_these_tables_is_as_long_as_it_must_be() -> None:
    """RFC 7636 §4.1"""
    assert 43 <= len(VERIFIER) <= 128
