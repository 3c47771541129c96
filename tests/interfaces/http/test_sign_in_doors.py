"""What each door wants of those who signed in, and what a stranger is told at it."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from dolmen.interfaces.http.oauth.routes import PER_SITE
from dolmen.services.accounts import keys, revoke
from tests.interfaces.conftest import Serve, rpc
from tests.interfaces.http.test_oauth_flow import BACK, BASE, LIST, Town, told, town

pytestmark = pytest.mark.usefixtures("cheap_passwords")

__all__ = ["town"]
REFS = "/api/v1/refs?project=shop"


def tokens(town: Town, resource: str) -> dict[str, str]:
    """The header of a client that signed in for a resource."""
    client = town.register()
    sent = told(town.answer(town.request(client, resource=f"{BASE}{resource}")))
    answer = town.token(grant_type="authorization_code", code=sent["code"], client_id=client)
    return {"authorization": f"Bearer {answer.json()['access_token']}"}


# ------------------------------------------------------------------------------------------------------------- refusals
def test_a_stranger_is_told_to_sign_in_where_that_is_possible(town: Town) -> None:
    error = town.served.post(LIST).json()["error"]
    assert "sign in" in error["message"]
    assert f"{BASE}/mcp" in error["fix"]
    assert f"dolmen login {BASE}" in error["fix"]
    assert "dolmen key create" in error["fix"]


def test_a_stranger_is_told_of_keys_alone_where_nobody_signs_in(serve: Serve) -> None:
    error = serve(auth="keys").post(LIST).json()["error"]
    assert "sign" not in error["message"] + error["fix"]
    assert "dolmen key create" in error["fix"]


# ----------------------------------------------------------------------------------------------------------------- REST
@pytest.mark.parametrize(
    ("resource", "status"), [("/mcp", 200), ("/mcp/kenfold", 200), ("/mcp/kmem", 401), ("/mcp/core", 401)]
)
def test_the_rest_interface_belongs_to_kenfolds_tools(town: Town, resource: str, status: int) -> None:
    """RFC 8707: a token opens what it was given for, and what lies in it."""
    town.enter()
    answer = town.served.http.get(town.served.base + REFS, headers=tokens(town, resource))
    assert answer.status_code == status, answer.text


def test_a_refusal_of_the_rest_interface_says_where_to_sign_in(town: Town) -> None:
    """C-295: at the root, as for the tools; a token for it opens both."""
    refused = town.served.http.get(town.served.base + REFS)
    assert refused.status_code == 401
    assert f'resource_metadata="{BASE}/.well-known/oauth-protected-resource/mcp"' in refused.headers["www-authenticate"]


# -------------------------------------------------------------------------------------------------------------- metrics
@pytest.fixture
def proxied(serve: Serve) -> Iterator[tuple[Town, dict[str, str]]]:
    """A server behind a proxy, and what the proxy says of a request from outside."""
    served = serve(public_url=BASE, trusted_proxies=("127.0.0.1",))
    with httpx2.Client(follow_redirects=False) as browser:
        yield Town(served, browser), {"x-forwarded-for": "203.0.113.9"}


def test_figures_of_the_whole_store_are_for_this_machine_and_for_administrators(
    proxied: tuple[Town, dict[str, str]],
) -> None:
    town, outside = proxied
    town.enter()
    signed_in = tokens(town, "/mcp")
    writer = {"authorization": f"Bearer {town.served.key('codex')}"}
    admin = {"authorization": f"Bearer {town.served.key('prometheus', mode='admin')}"}
    where = town.served.base + "/metrics"
    for header in (writer, signed_in):
        assert town.served.http.get(where, headers={**header, **outside}).status_code == 403
        assert town.served.http.get(where, headers=header).status_code == 200
    assert town.served.http.get(where, headers={**admin, **outside}).status_code == 200
    assert town.served.http.get(where, headers=outside).status_code == 401
    assert town.served.http.get(where).status_code == 401


def test_an_administrators_key_reads_figures_of_a_server_that_only_reads(serve: Serve) -> None:
    served = serve(public_url=BASE, trusted_proxies=("127.0.0.1",), read_only=True)
    admin = {"authorization": f"Bearer {served.key('prometheus', mode='admin')}", "x-forwarded-for": "203.0.113.9"}
    assert served.http.get(served.base + "/metrics", headers=admin).status_code == 200


# --------------------------------------------------------------------------------------------------------- registration
def test_a_client_that_is_registered_with_a_key_keeps_within_it(town: Town) -> None:
    """C-306, C-321"""
    town.enter()
    owner = town.served.owner()
    secret = town.served.key("chatgpt", mode="read", project="github.com/a/b")
    [key] = keys(town.served.rt, owner)
    sent = {"client_name": "My App", "redirect_uris": [BACK]}
    there = town.served.base + "/oauth/register"
    answer = town.served.http.post(there, json=sent, headers={"authorization": f"Bearer {secret}"})
    assert answer.status_code == 201
    client = answer.json()["client_id"]
    assert client == f"my-app_{key.id.replace('-', '')[-8:]}"
    assert answer.json()["token_endpoint_auth_method"] == "none"
    assert 'value="write" disabled' in town.get(town.request(client)).text
    found = town.tokens(client, mode="write", project="elsewhere")
    assert town.call(found["access_token"]).status_code == 200
    [_, grant] = keys(town.served.rt, owner)
    assert (grant.mode, grant.project) == ("read", "github.com/a/b")
    revoke(town.served.rt, owner, key.id)
    assert town.call(found["access_token"]).status_code == 401


@pytest.mark.parametrize(
    "credential", ["Bearer dlm_none", "Bearer", "Basic eDp5", "Bearer dla_" + "x" * 43, "nonsense"]
)
def test_a_key_that_is_none_registers_nothing(town: Town, credential: str) -> None:
    """RFC 7591 §3, RFC 6750 §3.1"""
    there = town.served.base + "/oauth/register"
    answer = town.served.http.post(there, json={"redirect_uris": [BACK]}, headers={"authorization": credential})
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")
    scheme = credential.partition(" ")[0]
    assert answer.headers.get("www-authenticate", "").startswith(scheme if scheme != "nonsense" else "")


def test_one_stranger_does_not_keep_others_from_registering(proxied: tuple[Town, dict[str, str]]) -> None:
    """B084"""
    town, _ = proxied
    there, sent = town.served.base + "/oauth/register", {"redirect_uris": [BACK]}

    def registered(address: str) -> int:
        return town.served.http.post(there, json=sent, headers={"x-forwarded-for": address}).status_code

    assert [registered("203.0.113.9") for _ in range(12)].count(429) == 2
    assert registered("203.0.113.10") == 201


def test_nor_does_one_with_a_whole_site_of_networks(proxied: tuple[Town, dict[str, str]]) -> None:
    """B084: 65,536 networks are one customer's, whose registrations and device codes are counted together."""
    town, _ = proxied

    def answered(path: str, address: str) -> int:
        sent = {"json": {"redirect_uris": [BACK]}} if path.endswith("register") else {"data": {"client_id": "x"}}
        there = town.served.base + path
        return town.served.http.post(there, headers={"x-forwarded-for": address}, **sent).status_code

    networks = [f"2001:db8:7:{network:x}::1" for network in range(PER_SITE)]
    assert [answered("/oauth/register", network) for network in networks].count(429) == 0
    assert answered("/oauth/register", "2001:db8:7:ffff::1") == 429
    assert answered("/oauth/device_authorization", "2001:db8:7:fffe::1") == 429
    assert answered("/oauth/register", "2001:db8:8::1") == 201


# -------------------------------------------------------------------------------------------------------------- kenfold
def test_at_kenfold_a_token_that_only_reads_lists_every_tool_and_is_refused_inside_them(town: Town) -> None:
    """C-322"""
    town.enter()
    reading, writing = (signed_in_for(town, scope) for scope in ("memory:read", "memory:read memory:write"))
    listed = [town.served.post(LIST, "/mcp/kenfold", **each).json()["result"]["tools"] for each in (reading, writing)]
    assert listed[0] == listed[1]
    assert len(listed[0]) == 6
    needs = {"remember": {"content": "Herons are grey.", "type": "semantic"}, "handoff": {"summary": "Half done"}}
    for tool, arguments in {**needs, "resume": {}, "forget": {"id": "x"}}.items():
        call = rpc("tools/call", name=tool, arguments=arguments)
        refused = town.served.post(call, "/mcp/kenfold", **reading)
        assert refused.status_code == 200
        assert refused.json()["result"]["isError"] is True
        assert "may only read" in refused.json()["result"]["content"][0]["text"], tool
    asked = rpc("tools/call", name="recall", arguments={"query": "herons"})
    assert not town.served.post(asked, "/mcp/kenfold", **reading).json()["result"].get("isError")
    stored = town.served.post(
        rpc("tools/call", name="remember", arguments=needs["remember"]), "/mcp/kenfold", **writing
    )
    assert not stored.json()["result"].get("isError")


def signed_in_for(town: Town, scope: str) -> dict[str, str]:
    client = town.register()
    sent = told(
        town.answer(town.request(client, resource=f"{BASE}/mcp/kenfold", scope=scope), mode="write", toolset="kenfold")
    )
    answer = town.token(grant_type="authorization_code", code=sent["code"], client_id=client)
    return {"authorization": f"Bearer {answer.json()['access_token']}"}
