"""What thieves and liars try with codes, tokens, keys, addresses and headers, against a running server."""

from __future__ import annotations

import statistics
import time
from urllib.parse import parse_qs, urlsplit

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.services import accounts
from tests.interfaces.conftest import Serve, Served, rpc
from tests.interfaces.http.test_device_flow import asked, machine
from tests.interfaces.http.test_oauth_flow import BACK, BASE, LIST, Town, hidden, told, town

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cheap_passwords")]

__all__ = ["town"]
IMG = "<img src=x onerror=alert(1)>"


# -------------------------------------------------------------------------------------------- replay, injection, mix-up
def test_a_stolen_code_is_worth_nothing_without_the_verifier(town: Town) -> None:
    """Code injection (RFC 9700 §4.5): the thief has the code, and starts a sign-in of their own to use it in."""
    town.enter()
    client = town.register()
    code = told(town.answer(town.request(client)))["code"]
    thief = town.token(grant_type="authorization_code", code=code, client_id=client, code_verifier="t" * 43)
    assert thief.json()["error"] == "invalid_grant"
    own = town.token(grant_type="authorization_code", code=code, client_id=town.register())
    assert own.json()["error"] == "invalid_grant"


def test_a_token_that_was_ended_is_not_brought_back(town: Town) -> None:
    """Replay: an old access token, an old refresh token, an old code."""
    town.enter()
    client = town.register()
    code = told(town.answer(town.request(client)))["code"]
    given = town.token(grant_type="authorization_code", code=code, client_id=client).json()
    town.served.http.post(
        f"{town.served.base}/oauth/revoke", data={"token": given["access_token"], "client_id": client}
    )
    for form in (
        {"grant_type": "refresh_token", "refresh_token": given["refresh_token"]},
        {"grant_type": "authorization_code", "code": code},
    ):
        assert town.token(client_id=client, **form).json()["error"] == "invalid_grant"
    assert town.call(given["access_token"]).status_code == 401


def test_one_kind_of_credential_is_never_taken_for_another(town: Town) -> None:
    town.enter()
    client = town.register()
    codes = asked(town, ("client_id", client)).json()
    given, key = town.tokens(client), town.served.key("codex")
    code = told(town.answer(town.request(client)))["code"]
    secrets = [given["access_token"], given["refresh_token"], key, code, codes["device_code"], codes["user_code"]]
    for secret in secrets:
        assert (town.call(secret).status_code == 200) == (secret in (given["access_token"], key)), secret[:4]
    for secret in (given["access_token"], key, code):
        assert town.token(grant_type="refresh_token", refresh_token=secret, client_id=client).status_code == 400
    for secret in (given["refresh_token"], key, codes["device_code"]):
        assert town.token(grant_type="authorization_code", code=secret, client_id=client).status_code == 400


def test_an_answer_cannot_be_taken_for_another_servers(town: Town) -> None:
    """Mix-up (RFC 9207 §1): each answer names its issuer, the one of the metadata, whatever the Host header says."""
    town.enter()
    issuer = town.get("/.well-known/oauth-authorization-server").json()["issuer"]
    request = town.request(town.register())
    for host in ("127.0.0.1", "localhost"):
        denied = told(town.get(town.request(town.register(), scope="all"), host=host))
        assert denied["iss"] == issuer
        assert town.get("/.well-known/oauth-authorization-server", host=host).json()["issuer"] == issuer
    assert told(town.answer(request))["iss"] == issuer == BASE


def test_a_client_that_was_let_in_once_is_asked_about_each_time(town: Town) -> None:
    """Confused deputy: whoever shares the client's id does not share what a person allowed before."""
    town.enter()
    client = town.register(redirect_uris=[BACK, "https://evil.example/cb"])
    assert town.tokens(client)["access_token"]
    for redirect in (BACK, "https://evil.example/cb"):
        again = town.get(town.request(client, redirect_uri=redirect, prompt="none"))
        assert again.status_code == 200
        assert 'name="answer"' in again.text
    assert "returns unknown" in again.text


# ------------------------------------------------------------------------------------------------ addresses and headers
def test_a_document_of_this_network_is_not_fetched(town: Town) -> None:
    """SSRF over the public door; the guard's own tests are in test_oauth_fetching."""
    town.enter()
    port = urlsplit(town.served.base).port
    for id in (
        f"https://127.0.0.1:{port}/c.json",
        "https://127.0.0.1/c.json",
        "https://[::1]/c",
        "https://169.254.169.254/x",
    ):
        shown = town.get(town.request(id))
        assert shown.status_code == 400
        answer = town.token(grant_type="authorization_code", code="x", client_id=id)
        assert answer.json()["error"] == "invalid_client"


@pytest.mark.parametrize("line", ["\r\nSet-Cookie: dolmen=evil", "\nX: y", "\r", "\x00"])
def test_no_field_writes_a_header(town: Town, line: str) -> None:
    town.enter()
    answers = [
        town.answer(town.request(town.register(), state=f"s{line}")),
        town.post("/sign-in", {"login": "ada", "password": "x", "next": f"/home{line}"}),
        town.get(f"/sign-in?next=/home{line}".replace("\r", "%0D").replace("\n", "%0A").replace("\x00", "%00")),
    ]
    for answer in answers:
        assert "evil" not in answer.headers.get("set-cookie", "")
        assert "x" not in answer.headers
    assert parse_qs(urlsplit(answers[0].headers["location"]).query)["state"] == [f"s{line}"]


@pytest.mark.parametrize(
    "path",
    [
        "/web/../../../../etc/passwd", "/web/..%2f..%2f..%2fetc%2fpasswd", "/web/style.css/../../x",
        "/enter/../../etc/passwd", "/mcp/%0d%0aSet-Cookie:%20x=1", "/mcp/%E2%82%AC", "/mcp/%22,x",
        "/.well-known/oauth-protected-resource/..%2f..%2fetc%2fpasswd", "/mcp/..%2f..%2fetc", "/api/v1/..%2f..%2fx",
        "//etc/passwd", "/web/%2e%2e/%2e%2e/etc/passwd", "/mcp/%00",
    ],
)  # fmt: skip
def test_no_path_leads_out_of_the_server(town: Town, path: str) -> None:
    """Path traversal."""
    answer = town.served.http.request("GET", town.served.base + path)
    assert answer.status_code in (401, 404, 405, 410), answer.text
    assert "set-cookie" not in answer.headers
    assert "root:" not in answer.text


def test_what_a_stranger_writes_is_shown_as_text(town: Town) -> None:
    """B189: every field of a page, and a policy under which a mistake would do nothing."""
    town.enter()
    client = town.register(client_name=IMG)
    codes = asked(town, ("client_id", machine(town, client_name=IMG)), ("project", IMG)).json()
    token = hidden(town.get("/device"), "token")
    pages = [
        town.get(town.request(client)),
        town.get(f"/device?user_code={IMG}"),
        town.post("/device", {"token": token, "user_code": IMG}),
        town.post("/device", {"token": token, "user_code": codes["user_code"]}),
        town.answer(town.request(client), agent=IMG, project=f"/{IMG}"),
        town.post("/sign-in", {"login": IMG, "password": "x"}),
        town.get(town.request(client, scope=IMG, redirect_uri=f"https://x.example/{IMG}")),
    ]
    for page in pages:
        assert "<img" not in page.text
        assert "default-src 'none'" in page.headers["content-security-policy"]
    assert sum("&lt;img" in page.text for page in pages) >= 5


def test_another_sites_page_calls_nothing_on_this_machine(served: Served) -> None:
    """B189, C-299: where programs of this machine need no key, a web page gets in with none either."""
    call = rpc("tools/call", name="recall", arguments={"query": "x"})
    assert served.post(call).status_code == 200
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
        assert served.post(call, origin=origin).status_code == 403
        assert served.http.get(f"{served.base}/api/v1/refs", headers={"origin": origin}).status_code == 403


# ------------------------------------------------------------------------------------------------------ sizes and times
@pytest.mark.parametrize("path", ["token", "register", "revoke", "device_authorization"])
def test_a_body_of_any_size_costs_a_stranger_more_than_the_server(town: Town, path: str) -> None:
    answer = town.served.http.post(f"{town.served.base}/oauth/{path}", content=b"a=" + b"x" * 70_000)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    many = town.served.http.post(
        f"{town.served.base}/oauth/{path}", content=b"&".join(b"a%d=1" % n for n in range(2000))
    )
    assert many.status_code == 400


@pytest.mark.slow
def test_how_much_of_a_key_is_right_does_not_show_in_the_time(serve: Serve) -> None:
    """Only hashes are compared: a key that is right but for its end takes as long as one that is all wrong."""
    served = serve(auth="keys")
    key = served.key()
    near, far = (
        key[:-1] + ("a" if key[-1] != "a" else "b"),
        key[:4] + "".join("x" if c != "x" else "y" for c in key[4:]),
    )
    took: dict[str, list[int]] = {near: [], far: []}
    for _ in range(300):
        for wrong in (near, far):
            began = time.thread_time_ns()
            with pytest.raises(DolmenError):
                accounts.authenticate(served.rt, wrong)
            took[wrong].append(time.thread_time_ns() - began)
    ratio = statistics.median(took[near]) / statistics.median(took[far])
    assert 0.7 < ratio < 1.4, ratio


def test_whatever_is_wrong_with_a_credential_the_answer_is_the_same(town: Town) -> None:
    """Enumeration: unknown, malformed, revoked, and of another kind; but for the id under which the log tells more."""
    town.enter()
    client = town.register()
    ended = town.tokens(client)["access_token"]
    town.served.http.post(f"{town.served.base}/oauth/revoke", data={"token": ended, "client_id": client})
    shown = []
    for token in (ended, "dla_" + "x" * 43, "dla_short", "dla_"):
        answer = town.served.post(LIST, authorization=f"Bearer {token}")
        error = answer.json()["error"]
        shown.append(
            (answer.status_code, error["code"], error["message"].partition(" (")[0], answer.headers["www-authenticate"])
        )
    assert len(set(shown)) == 1, shown
