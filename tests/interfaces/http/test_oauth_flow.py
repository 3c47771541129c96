"""Signing a client in over HTTP, as a client and a person's browser do it, against a running server."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest

from dolmen.domain.values import Bounds
from dolmen.services import people, vaults
from dolmen.services.accounts import keys, revoke
from dolmen.services.bounds import limit_key
from dolmen.services.policy import set_policy
from tests.interfaces.conftest import Serve, Served, rpc

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cheap_passwords")]

BASE = "http://127.0.0.1:7077"
"""The public address that the server is told; the tests reach it at the port that it got."""
BACK = "https://claude.ai/api/mcp/auth_callback"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
PASSWORD = "four words without sense"
LIST = rpc("tools/list")


@dataclass
class Town:
    """A server with a public address, a person's browser, and a client."""

    served: Served
    browser: httpx2.Client

    def get(self, path: str, **headers: str) -> httpx2.Response:
        return self.browser.get(self.served.base + path.removeprefix(BASE), headers=headers)

    def post(self, path: str, form: dict[str, str] | None = None, **headers: str) -> httpx2.Response:
        return self.browser.post(self.served.base + path.removeprefix(BASE), data=form, headers=headers)

    def enter(self) -> None:
        """The owner chooses a password by the link."""
        owner = self.served.owner()
        link = people.entry_link(self.served.rt, owner, owner.person)
        answer = self.post(f"/enter/{link}", {"login": "ada", "password": PASSWORD})
        assert answer.status_code == 303, answer.text

    def register(self, **metadata: Any) -> str:
        sent = {"client_name": "Claude", "redirect_uris": [BACK], **metadata}
        answer = self.served.http.post(self.served.base + "/oauth/register", json=sent)
        assert answer.status_code == 201, answer.text
        assert answer.headers["cache-control"] == "no-store"
        return str(answer.json()["client_id"])

    def request(self, client: str, **changes: str | None) -> str:
        fields: dict[str, str | None] = {
            "client_id": client, "redirect_uri": BACK, "response_type": "code", "state": "s 1&2", "scope": "read write",
            "code_challenge": CHALLENGE, "code_challenge_method": "S256", "resource": f"{BASE}/mcp",
        }  # fmt: skip
        return "/oauth/authorize?" + urlencode({n: v for n, v in (fields | changes).items() if v is not None})

    def answer(self, request: str, **chosen: str) -> httpx2.Response:
        """What the browser is told after the person answered the consent page."""
        shown = self.get(request)
        assert shown.status_code == 200, shown.text
        form = {"token": hidden(shown, "token"), "agent": "claude", "mode": "suggest", "project": "", "toolset": "core"}
        return self.post(request, {**form, "days": "30", "answer": "allow", **chosen})

    def tokens(self, client: str, **chosen: str) -> dict[str, Any]:
        sent = told(self.answer(self.request(client), **chosen))
        answer = self.token(grant_type="authorization_code", code=sent["code"], client_id=client)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def token(self, **fields: str) -> httpx2.Response:
        form = {"code_verifier": VERIFIER, "redirect_uri": BACK, **fields}
        return self.served.http.post(self.served.base + "/oauth/token", data=form)

    def call(self, token: str, path: str = "/mcp") -> httpx2.Response:
        return self.served.post(LIST, path, authorization=f"Bearer {token}")


def hidden(shown: httpx2.Response, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', shown.text)
    assert found, shown.text
    return found[1]


def told(answer: httpx2.Response) -> dict[str, str]:
    """What the browser carries back to the client."""
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"].startswith(BACK)
    return {name: values[0] for name, values in parse_qs(urlsplit(answer.headers["location"]).query).items()}


@pytest.fixture
def town(serve: Serve) -> Iterator[Town]:
    served = serve(public_url=BASE)
    with httpx2.Client(follow_redirects=False) as browser:
        yield Town(served, browser)


# ------------------------------------------------------------------------------------------------------------- finding
def test_the_calls_are_where_a_client_without_metadata_looks(town: Town) -> None:
    """C-320, C-321: and one that signs in there is the same client at either place."""
    registered = town.served.http.post(town.served.base + "/register", json={"redirect_uris": [BACK]})
    assert (registered.status_code, registered.json()["token_endpoint_auth_method"]) == (201, "none")
    client = registered.json()["client_id"]
    request = town.request(client).removeprefix("/oauth")
    town.enter()
    signed_in, town.browser.cookies = town.browser.cookies, httpx2.Cookies()
    assert hidden(town.get(request), "next").startswith("/oauth/authorize?")
    town.browser.cookies = signed_in
    sent = told(town.answer(request))
    assert sent["iss"] == BASE
    form = {"grant_type": "authorization_code", "code": sent["code"], "client_id": client, "redirect_uri": BACK}
    answer = town.served.http.post(town.served.base + "/token", data={**form, "code_verifier": VERIFIER})
    assert town.call(answer.json()["access_token"]).status_code == 200
    assert told(town.answer(request, answer="deny"))["error"] == "access_denied"


def test_a_client_finds_its_way_from_the_first_refusal(town: Town) -> None:
    """C-295, C-296, C-304, C-305, C-309"""
    refused = town.served.post(LIST)
    assert refused.status_code == 401
    challenge = refused.headers["www-authenticate"]
    assert 'scope="read suggest write"' in challenge
    assert "error" not in challenge
    [address] = re.findall(r'resource_metadata="([^"]+)"', challenge)
    resource = town.get(address).json()
    assert resource["resource"] == f"{BASE}/mcp"
    assert resource["authorization_servers"] == [BASE]
    server = town.get("/.well-known/oauth-authorization-server").json()
    assert server == town.get("/.well-known/openid-configuration").json()
    assert server["issuer"] == BASE
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert "none" in server["token_endpoint_auth_methods_supported"]
    assert server["client_id_metadata_document_supported"] is True
    assert server["authorization_response_iss_parameter_supported"] is True
    for name in ("authorization_endpoint", "token_endpoint", "revocation_endpoint", "registration_endpoint"):
        assert town.post(server[name]).status_code == 400


@pytest.mark.parametrize(
    ("path", "resource"),
    [("", "/mcp"), ("/mcp", "/mcp"), ("/mcp/", "/mcp"), ("/mcp/kenfold", "/mcp/kenfold")],
)
def test_metadata_are_at_the_root_and_at_the_path_of_each_resource(town: Town, path: str, resource: str) -> None:
    """B073"""
    found = town.get(f"/.well-known/oauth-protected-resource{path}")
    assert found.json()["resource"] == BASE + resource
    assert found.headers["access-control-allow-origin"] == "*"
    assert town.get("/.well-known/oauth-protected-resource/none").status_code == 404


@pytest.mark.parametrize(
    "path",
    ["oauth-authorization-server", "openid-configuration", "oauth-protected-resource", "oauth-protected-resource/mcp"],
)
def test_pages_of_any_origin_read_how_to_sign_in(town: Town, path: str) -> None:
    """C-295: a client that runs in a web page, with the header of the protocol that asks for a preflight."""
    path = f"/.well-known/{path}"
    foreign = {"origin": "https://client.example", "mcp-protocol-version": "2025-11-25"}
    answer = town.get(path, **foreign)
    assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (200, "*")
    assert "access-control-allow-credentials" not in answer.headers
    asks = {"access-control-request-method": "GET", "access-control-request-headers": "mcp-protocol-version"}
    asked = town.browser.options(town.served.base + path, headers={"origin": "https://client.example", **asks})
    assert (asked.status_code, asked.headers["access-control-allow-origin"]) == (204, "*")
    assert asked.headers["access-control-allow-headers"] == "mcp-protocol-version"
    assert asked.headers["access-control-allow-methods"] == "GET, HEAD, OPTIONS"
    assert town.get(path, host="evil.example", **foreign).status_code == 403, "under a foreign name nothing is read"


def test_pages_of_any_origin_reach_nothing_else(town: Town, serve: Serve) -> None:
    """C-314"""
    foreign = {"origin": "https://client.example"}
    for path in (
        "/mcp",
        "/oauth/token",
        "/sign-in",
        "/health",
        "/.well-known/none",
        "/.well-known/oauth-protected-resourcex",
    ):
        for method in ("GET", "POST", "OPTIONS"):
            answer = town.browser.request(method, town.served.base + path, headers=foreign)
            assert (answer.status_code, "access-control-allow-origin" in answer.headers) == (403, False), (method, path)
    for method in ("POST", "PUT", "DELETE"):
        answer = town.browser.request(method, f"{town.served.base}/.well-known/openid-configuration", headers=foreign)
        assert answer.status_code == 403
    nobody = serve()
    found = nobody.http.get(f"{nobody.base}/.well-known/oauth-authorization-server", headers=foreign)
    assert found.status_code == 403, "nobody signs in there"


def test_a_toolsets_own_path_is_its_own_resource(town: Town) -> None:
    refused = town.served.post(LIST, "/mcp/kenfold")
    assert "/oauth-protected-resource/mcp/kenfold" in refused.headers["www-authenticate"]


def test_metadata_name_only_what_exists(serve: Serve) -> None:
    """B070"""
    served = serve(public_url=BASE, registration=False)
    found = served.http.get(served.base + "/.well-known/oauth-authorization-server").json()
    assert "registration_endpoint" not in found
    answer = served.http.post(served.base + "/oauth/register", json={"redirect_uris": [BACK]})
    assert (answer.status_code, answer.json()["error"]) == (403, "access_denied")


def test_without_a_public_address_nobody_signs_in(serve: Serve) -> None:
    """C-295"""
    served = serve()
    for path in ("/.well-known/oauth-authorization-server", "/oauth/authorize", "/sign-in"):
        assert served.http.get(served.base + path).status_code == 404
    nothing = served.http.get(served.base).json()["error"]
    assert "DOLMEN_PUBLIC_URL" in nothing["fix"]  # who looks for a page learns what makes there be one


# ------------------------------------------------------------------------------------------------------------ the flow
def test_a_client_signs_in_and_is_let_in_as_the_person_chose(town: Town) -> None:
    town.enter()
    client = town.register()
    found = town.tokens(client, agent="Claude Web", mode="write", project="github.com/a/b")
    assert (found["token_type"], found["expires_in"], found["scope"]) == ("Bearer", 3600, "read write")
    assert town.call(found["access_token"]).status_code == 200
    assert town.call(found["access_token"], "/mcp/kenfold").status_code == 200
    [connection] = keys(town.served.rt, town.served.owner())
    assert (connection.agent, connection.mode, connection.project) == ("claude-web", "write", "github.com/a/b")


def test_who_is_not_signed_in_signs_in_first_and_comes_back(town: Town) -> None:
    town.enter()
    town.browser.cookies.clear()
    request = town.request(town.register())
    form = town.get(request)
    assert "Claude" in form.text
    next = hidden(form, "next").replace("&amp;", "&")
    assert next == request
    signed = town.post("/sign-in", {"login": "Ada", "password": PASSWORD, "next": next})
    assert signed.headers["location"] == request
    assert 'name="answer"' in town.get(request).text


def test_the_answer_carries_the_state_and_who_answers(town: Town) -> None:
    """RFC 9207"""
    town.enter()
    request = town.request(town.register())
    assert told(town.answer(request)).items() >= {"state": "s 1&2", "iss": BASE}.items()
    denied = told(town.answer(request, answer="deny"))
    assert (denied["error"], denied["state"], denied["iss"]) == ("access_denied", "s 1&2", BASE)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"scope": "everything"}, "invalid_scope"),
        ({"resource": "https://evil.example/mcp"}, "invalid_target"),
    ],
)
def test_what_is_wrong_with_a_request_goes_back_to_the_client(
    town: Town, changes: dict[str, str | None], error: str
) -> None:
    answer = told(town.get(town.request(town.register(), **changes)))
    assert (answer["error"], answer["iss"], answer["state"]) == (error, BASE, "s 1&2")


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "dlc_unknown"},
        {"client_id": None},
        {"redirect_uri": "https://evil.example/cb"},
        {"state": "x" * 4_001},
    ],
)
def test_nothing_is_sent_anywhere_as_long_as_it_is_not_certain_where(
    town: Town, changes: dict[str, str | None]
) -> None:
    client = town.register()
    answer = town.get(town.request(client, **changes))
    assert answer.status_code == 400
    assert "location" not in answer.headers
    own_address = f'<input type="hidden" name="to" value="{html.escape(town.request(client, **changes))}">'
    assert answer.text.count(own_address) == 1  # for the switch of languages
    assert "evil.example" not in answer.text.replace(own_address, "")


@pytest.mark.parametrize("stranger", ["https://evil.example/cb", "steam://run/1"])
def test_nobody_is_sent_to_a_strangers_address_without_having_decided(town: Town, stranger: str) -> None:
    """RFC 9700 §4.11.2"""
    client = town.register(redirect_uris=[stranger])
    answer = town.get(town.request(client, redirect_uri=stranger, scope="everything"))
    assert answer.status_code == 400
    assert "location" not in answer.headers


def test_a_parameter_that_comes_twice_is_refused(town: Town) -> None:
    request = town.request(town.register()) + "&redirect_uri=https%3A%2F%2Fevil.example"
    assert town.get(request).status_code == 400


def test_the_origin_alone_is_a_known_name_of_the_resource(town: Town) -> None:
    """B076"""
    town.enter()
    client = town.register()
    sent = told(town.answer(town.request(client, resource=f"{BASE}/")))
    answer = town.token(grant_type="authorization_code", code=sent["code"], client_id=client, resource=BASE)
    assert town.call(answer.json()["access_token"]).status_code == 200


# ------------------------------------------------------------------------------------------------------------ the page
def test_the_page_names_the_client_and_where_the_answer_goes(town: Town) -> None:
    """B179, C-310"""
    town.enter()
    evil = town.register(client_name="<b>Claude</b>", redirect_uris=["https://evil.example/cb"])
    page = town.get(town.request(evil, redirect_uri="https://evil.example/cb"))
    assert "&lt;b&gt;Claude&lt;/b&gt;" in page.text
    assert "evil.example" in page.text
    assert "returns unknown" in page.text
    assert 'value="deny"' in page.text
    known = town.get(town.request(town.register()))
    assert "returns known" in known.text
    for host in ("www.cursor.com", "vscode.dev", "insiders.vscode.dev"):
        back = f"https://{host}/redirect"
        client = town.register(redirect_uris=[back])
        assert "returns known" in town.get(town.request(client, redirect_uri=back)).text
        alike = f"https://{host}.evil.example/redirect"
        client = town.register(redirect_uris=[alike])
        assert "returns unknown" in town.get(town.request(client, redirect_uri=alike)).text
    local = town.register(redirect_uris=["http://127.0.0.1/cb"])
    assert "returns local" in town.get(town.request(local, redirect_uri="http://127.0.0.1:5/cb")).text


def test_the_page_offers_no_more_than_the_client_asked_for(town: Town) -> None:
    town.enter()
    client = town.register()
    page = town.get(town.request(client, scope="read"))
    assert re.search(r'value="write" disabled', page.text)
    sent = told(town.answer(town.request(client, scope="read"), mode="write"))
    answer = town.token(grant_type="authorization_code", code=sent["code"], client_id=client)
    assert answer.json()["scope"] == "read"


def test_the_page_offers_no_writing_while_agent_writes_are_off(town: Town) -> None:
    """C-310: and says why; the form cannot ask for it either."""
    town.enter()
    request = town.request(town.register())
    assert not re.search(r'value="write" disabled', town.get(request).text)
    set_policy(town.served.rt, town.served.owner(), "agent_writes", "off")
    page = town.get(request)
    assert re.search(r'value="write" disabled', page.text)
    assert re.search(r'value="suggest" checked', page.text)
    assert "agent writes are off" in page.text
    assert "꺼져 있습니다" in town.get(request, **{"accept-language": "ko"}).text
    refused = town.answer(request, mode="write")
    assert refused.status_code == 403
    assert "agent_writes on" in refused.text
    assert "code" in told(town.answer(request, mode="suggest"))


def test_the_page_says_what_becomes_of_writes_under_the_vaults_policy(town: Town) -> None:
    """C-141."""
    town.enter()
    request = town.request(town.register())
    assert "holds at once" in town.get(request).text
    set_policy(town.served.rt, town.served.owner(), "write_policy", "review")
    page = town.get(request).text
    assert "holds at once" not in page
    assert "that is the policy of this memory" in page


def test_the_limits_and_the_policy_of_a_client_that_signed_in_can_be_set_too(town: Town) -> None:
    """C-342: it is a connection like any other."""
    town.enter()
    token = town.tokens(town.register(), mode="write", toolset="kmem")["access_token"]
    [connection] = keys(town.served.rt, town.served.owner())
    limit_key(town.served.rt, town.served.owner(), connection.id, Bounds(per_minute=2), "review")
    write = rpc("tools/call", name="remember", arguments={"content": "Herons.", "kind": "note"})
    said = town.served.post(write, authorization=f"Bearer {token}").json()["result"]["structuredContent"]
    assert (said["outcome"], said["write_policy"]) == ("queued", "review")
    assert [town.call(token).status_code for _ in range(2)] == [200, 429]
    limit_key(town.served.rt, town.served.owner(), connection.id, Bounds())
    assert town.call(token).status_code == 200


def test_what_a_client_calls_itself_is_shown_and_never_run(town: Town) -> None:
    """B189: every field is escaped, whoever filled it in."""
    town.enter()
    evil = "<img src=x onerror=alert(1)>"
    client = town.register(client_name=evil)
    page = town.get(town.request(client))
    assert evil not in page.text
    assert "&lt;img src=x onerror=alert(1)&gt;" in page.text
    form = {"token": hidden(page, "token"), "agent": evil, "project": evil, "toolset": evil, "mode": evil, "days": evil}
    assert evil not in town.post(town.request(client), {**form, "answer": "allow"}).text


def test_a_browser_does_nothing_with_a_page_but_show_it(town: Town) -> None:
    town.enter()
    page = town.get(town.request(town.register()))
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self' https://claude.ai" in policy
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "same-origin"
    assert "<script" not in page.text
    assert town.get("/web/style.css").headers["content-type"].startswith("text/css")


@pytest.mark.parametrize(("accepted", "language"), [("ko-KR,ko;q=0.9", "ko"), ("de,en;q=0.5", "en"), ("", "en")])
def test_a_page_speaks_its_readers_language(town: Town, accepted: str, language: str) -> None:
    page = town.get("/sign-in", **{"accept-language": accepted})
    assert f'<html lang="{language}">' in page.text
    assert ("로그인" in page.text) == (language == "ko")


def test_a_form_that_is_not_ours_allows_nothing(town: Town) -> None:
    """B179"""
    town.enter()
    request = town.request(town.register())
    for token in ("", "0" * 64):
        answer = town.answer(request, token=token)
        assert answer.status_code == 403
        assert "location" not in answer.headers
    foreign = town.post(request, {"answer": "allow"}, origin="https://evil.example")
    assert foreign.status_code == 403
    assert keys(town.served.rt, town.served.owner()) == []


def test_a_choice_that_cannot_hold_is_shown_with_what_was_entered(town: Town) -> None:
    town.enter()
    answer = town.answer(town.request(town.register()), project="/home/me/x", agent="my agent")
    assert answer.status_code == 400
    assert 'value="my agent"' in answer.text
    assert 'role="alert"' in answer.text


def test_the_cookie_is_no_scripts_and_no_other_sites(town: Town, serve: Serve) -> None:
    owner = town.served.owner()
    link = people.entry_link(town.served.rt, owner, owner.person)
    cookie = town.post(f"/enter/{link}", {"login": "ada", "password": PASSWORD}).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    secure = serve(public_url="https://memory.example.com")
    link = people.entry_link(secure.rt, secure.owner(), secure.owner().person)
    answer = secure.http.post(f"{secure.base}/enter/{link}", data={"login": "ada", "password": PASSWORD})
    assert answer.headers["set-cookie"].startswith("__Host-dolmen=")
    assert "secure" in answer.headers["set-cookie"].lower()


def test_signing_in_leads_only_to_pages_of_ours(town: Town) -> None:
    town.enter()
    for next in ("https://evil.example/", "//evil.example/", "/\\evil.example/", "javascript:alert(1)"):
        answer = town.post("/sign-in", {"login": "ada", "password": PASSWORD, "next": next})
        assert answer.headers["location"] == "/home"
    assert "ada" in town.get("/home").text.lower() or town.get("/home").status_code == 200


def test_the_address_alone_leads_a_person_in(town: Town) -> None:
    assert town.get("/").headers["location"] == "/sign-in"
    town.enter()
    assert "You are signed in" in town.get("/").text


def test_signing_out_needs_our_form(town: Town) -> None:
    town.enter()
    town.post("/sign-out", {"token": "x"})
    town.enter()
    token = hidden(town.get("/home"), "token")
    town.post("/sign-out", {"token": token})
    assert town.get("/home").status_code == 303


def test_looking_at_a_link_does_not_use_it_up(town: Town) -> None:
    owner = town.served.owner()
    link = people.entry_link(town.served.rt, owner, owner.person)
    assert town.get(f"/enter/{link}").status_code == 200
    assert town.post(f"/enter/{link}", {"login": "ada", "password": "short"}).status_code == 400
    assert town.post(f"/enter/{link}", {"login": "ada", "password": PASSWORD}).status_code == 303
    assert town.get(f"/enter/{link}").status_code == 410


# ---------------------------------------------------------------------------------------------------------- the tokens
def test_tokens_are_refreshed_and_revoked(town: Town) -> None:
    town.enter()
    client = town.register()
    first = town.tokens(client)
    second = town.token(grant_type="refresh_token", refresh_token=first["refresh_token"], client_id=client).json()
    assert town.call(second["access_token"]).status_code == 200
    for _ in range(2):
        form = {"token": second["refresh_token"], "client_id": client}
        assert town.served.http.post(town.served.base + "/oauth/revoke", data=form).status_code == 200
    refused = town.call(second["access_token"])
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]
    late = town.token(grant_type="refresh_token", refresh_token=second["refresh_token"], client_id=client)
    assert (late.status_code, late.json()["error"]) == (400, "invalid_grant")


def test_a_connection_that_the_owner_ends_stops_at_the_next_call(town: Town) -> None:
    town.enter()
    found = town.tokens(town.register())
    assert town.call(found["access_token"]).status_code == 200
    [connection] = keys(town.served.rt, town.served.owner())
    revoke(town.served.rt, town.served.owner(), connection.id)
    assert town.call(found["access_token"]).status_code == 401


def test_a_suggesting_client_proposes(town: Town) -> None:
    town.enter()
    bearer = {"authorization": f"Bearer {town.tokens(town.register(), mode='suggest')['access_token']}"}
    answer = town.served.call("remember", headers=bearer, memories=[{"content": "A client that suggests said so."}])
    assert answer["results"][0]["outcome"] == "proposed"


@pytest.mark.parametrize(
    ("fields", "status", "error"),
    [
        ({}, 400, "invalid_request"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"grant_type": "authorization_code", "code": "x"}, 400, "invalid_grant"),
        ({"grant_type": "refresh_token", "refresh_token": "x"}, 400, "invalid_grant"),
        ({"client_id": "dlc_none"}, 401, "invalid_client"),
        ({"client_secret": "x"}, 401, "invalid_client"),
        ({"resource": "https://evil.example"}, 400, "invalid_target"),
    ],
)
def test_the_token_endpoint_refuses_by_the_codes_of_the_rfc(
    town: Town, fields: dict[str, str], status: int, error: str
) -> None:
    answer = town.token(**{"client_id": town.register(), **fields})
    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("body", [b"[]", b"no json", b"[" * 100_000, b'{"redirect_uris": ["javascript:x"]}', b"\xff"])
def test_a_registration_that_is_none_is_refused(town: Town, body: bytes) -> None:
    answer = town.served.http.post(town.served.base + "/oauth/register", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"] in ("invalid_client_metadata", "invalid_redirect_uri", "invalid_request")


def test_strangers_are_slowed_down(town: Town) -> None:
    """B084"""
    codes = [
        town.served.http.post(town.served.base + "/oauth/register", json={"redirect_uris": [BACK]}).status_code
        for _ in range(12)
    ]
    assert codes == [201] * 10 + [429] * 2
    codes = [town.token().status_code for _ in range(62)]
    assert codes == [400] * 60 + [429] * 2


def test_a_person_of_several_vaults_chooses_which_one_a_client_comes_into(town: Town) -> None:
    town.enter()
    client = town.register()
    assert 'name="vault"' not in town.get(town.request(client)).text
    made = vaults.add_vault(town.served.rt, town.served.owner(), "Work")
    shown = town.get(town.request(client)).text
    assert '<option value="' + made.id in shown
    answer = town.call(town.tokens(client, vault=made.id)["access_token"])
    assert answer.status_code == 200
    [inside] = keys(town.served.rt, replace(town.served.owner(), vault=made.id))
    assert inside.label == "Claude (sign-in)"
    refused = town.answer(town.request(client), vault="01900000-0000-7000-8000-00000000dead")
    assert refused.status_code == 403
    assert "no vault of yours" in refused.text
