"""Browsers: sessions that nobody else chose, forms that nobody else sent, refusals that tell strangers nothing, people
who are gone at once."""

from __future__ import annotations

import itertools
import logging
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from anyio import CapacityLimiter
from starlette.requests import Request

from dolmen.app import open_app
from dolmen.domain import totp
from dolmen.domain.passkeys import base64url
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.web.browser import Cookie, device_of
from dolmen.interfaces.http.web.entering import Entering
from dolmen.interfaces.http.web.places import Place
from dolmen.interfaces.http.web.routes import routes
from dolmen.services import accounts, passwords, people, second_factor
from dolmen.services.people import IDLE, LONGEST, Visitor
from dolmen.settings import Settings
from tests.authenticator import Authenticator
from tests.interfaces.conftest import Serve, Served, rpc, within
from tests.interfaces.http.test_oauth_flow import BASE, LIST, PASSWORD, Town, hidden, town

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cheap_passwords")]

__all__ = ["town"]

HOST = {"host": "localhost:7077"}
"""The name under which passkeys hold where the public address is 127.0.0.1."""


def session_of(town: Town, name: str = "dolmen") -> str:
    return town.browser.cookies.get(name) or ""


def sign_in(town: Town, password: str = PASSWORD, **more: str) -> httpx2.Response:
    return town.post("/sign-in", {"login": "ada", "password": password, **more})


def turn_codes_on(town: Town) -> tuple[bytes, list[str]]:
    here = people.at_browser(town.served.rt, session_of(town))
    assert here is not None
    offer = second_factor.offer(town.served.rt, here, "m")
    secret = totp.from_text(offer.text.replace(" ", ""))
    with town.served.rt.store.read() as tx:
        code = totp.code_at(secret, tx.now)
    return secret, second_factor.confirm(town.served.rt, here, code)


# ------------------------------------------------------------------------------------------------------------ fixation
def test_a_session_that_somebody_else_chose_is_never_signed_in(town: Town) -> None:
    town.enter()
    town.browser.cookies.clear()
    town.browser.cookies.set("dolmen", "chosen-by-an-attacker", domain="127.0.0.1")
    assert sign_in(town).status_code == 303
    assert people.at_browser(town.served.rt, "chosen-by-an-attacker") is None
    with httpx2.Client(cookies={"dolmen": "chosen-by-an-attacker"}) as attacker:
        assert attacker.get(town.served.base + "/home").status_code == 303


def test_signing_in_again_ends_the_session_before(town: Town) -> None:
    town.enter()
    before = session_of(town)
    sign_in(town)
    assert session_of(town) != before
    assert people.at_browser(town.served.rt, before) is None


def test_the_secret_between_the_steps_is_not_that_of_the_session(town: Town) -> None:
    town.enter()
    _, codes = turn_codes_on(town)
    town.browser.cookies.clear()
    answer = sign_in(town, next="/account")
    assert answer.headers["location"] == "/sign-in/code?next=%2Faccount"
    step = session_of(town, "dolmen-step")
    assert step
    assert session_of(town) == ""
    assert town.get("/account").headers["location"].startswith("/sign-in")
    with httpx2.Client(cookies={"dolmen": step}) as half:
        assert half.get(town.served.base + "/account").status_code == 303
        assert town.served.post(LIST, authorization=f"Bearer {step}").status_code == 401
    shown = town.get("/sign-in/code?next=/account")
    answer = town.post("/sign-in/code", {"token": hidden(shown, "token"), "code": codes[0], "next": "/account"})
    assert answer.headers["location"] == "/account"
    assert session_of(town) not in ("", step)
    assert session_of(town, "dolmen-step") == ""
    assert not second_factor.waits(town.served.rt, step)


def test_strangers_who_guess_keep_nobody_out_of_the_browser_that_they_signed_in_with_before(town: Town) -> None:
    """OWASP, device cookies."""
    town.enter()
    assert session_of(town, "dolmen-known")
    town.post("/sign-out", {"token": hidden(town.get("/account"), "token")})
    with httpx2.Client() as stranger:
        guessed = [
            stranger.post(
                f"{town.served.base}/sign-in", data={"login": "ada", "password": f"wrong {number}"}
            ).status_code
            for number in range(people.GUESSES + 1)
        ]
        assert guessed[-1] == 429
        assert (
            stranger.post(f"{town.served.base}/sign-in", data={"login": "ada", "password": PASSWORD}).status_code == 429
        )
    assert sign_in(town).headers["location"] == "/home"


# ------------------------------------------------------------------------------------------------------------- cookies
@pytest.mark.parametrize(
    ("base", "name", "path"),
    [
        ("https://memory.example.com", "__Host-dolmen", "/"),
        ("https://example.com/team/a", "__Host-dolmen-65f838a2fbff", "/"),
        ("http://localhost:7077", "dolmen", "/"),
        ("http://localhost:7077/team", "dolmen-ca8b22d0db83", "/team"),
    ],
)
def test_the_cookie_is_its_hosts_alone_also_under_a_base_path(serve: Serve, base: str, name: str, path: str) -> None:
    """RFC 6265bis §4.1.3.2: `__Host-` asks for Secure, for no Domain, and for Path=/."""
    served = serve(public_url=base)
    with httpx2.Client() as browser:
        owner = served.owner()
        link = people.entry_link(served.rt, owner, owner.person)
        form = {"login": "ada", "password": PASSWORD}
        answer = browser.post(f"{served.base}/enter/{link}", data=form)
    [session, step, known] = answer.headers.get_list("set-cookie")
    assert known.startswith(f"{name}-known=")
    assert "httponly" in known.lower()
    assert session.startswith(f"{name}=")
    assert step.startswith(name.replace("dolmen", "dolmen-step") + '=""')
    parts = {part.strip().lower() for part in session.split(";")[1:]}
    assert {f"path={path}", "httponly", "samesite=lax"} <= parts
    assert ("secure" in parts) is base.startswith("https")
    assert not any(part.startswith("domain") for part in parts)
    assert f"max-age={LONGEST // 1_000_000}" in parts
    assert IDLE < LONGEST


def test_under_a_base_path_every_way_leads_back_under_it(serve: Serve) -> None:
    """A proxy takes the path off requests; it stands in everything that the browser is given."""
    served = serve(public_url="http://localhost:7077/team")
    owner = served.owner()
    with httpx2.Client() as browser:
        link = people.entry_link(served.rt, owner, owner.person)
        entered = browser.post(f"{served.base}/enter/{link}", data={"login": "ada", "password": PASSWORD})
        assert entered.headers["location"] == "/team/home"
        [session, *_] = entered.headers.get_list("set-cookie")
        cookie = {"cookie": session.partition(";")[0]}  # the client keeps it for /team, which the proxy would take off
        page = browser.get(f"{served.base}/account", headers=cookie).text
        leads = re.findall(r'(?:action|href|src|data-challenge|data-answer)="(?!http://localhost)([^"]+)"', page)
        assert leads
        assert all(lead.startswith("/team/") for lead in leads)
        assert browser.get(f"{served.base}/account").headers["location"] == "/team/sign-in?next=%2Faccount"


def test_two_servers_on_one_host_do_not_sign_each_other_out() -> None:
    paths = ["/", "/a", "/b", "/a-b", "/a/b", "/A", "/step", "/a/step", "/a-step", "/팀", "/team.b"]
    each = itertools.product((False, True), paths, (False, True))
    names = [Cookie(secure, path, step).name for secure, path, step in each]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"[\w-]+", name, re.ASCII) for name in names)  # a token of RFC 6265 §4.1.1


# --------------------------------------------------------------------------------------------------------------- forms
FORMS: dict[str, dict[str, str]] = {
    "/sign-in": {"login": "ada", "password": PASSWORD},
    "/sign-in/code": {"code": "000000"},
    "/sign-out": {},
    "/account": {"do": "name", "name": "Eve"},
    "/account/codes": {"code": "000000"},
    "/home": {"vault": ""},
    "/language": {"language": "ko", "to": "/account"},
}
CALLS = ("/sign-in/passkey/challenge", "/sign-in/passkey", "/account/passkeys/challenge", "/account/passkeys")
FOREIGN: list[dict[str, str]] = [
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"sec-fetch-site": ""},
]


def test_every_form_is_in_this_table(town: Town) -> None:
    entering = Entering(town.served.rt, BASE, Cookie(False), lambda _: "", CapacityLimiter(1))
    posted = {route.path for route in routes(entering, lambda each: each) if "POST" in (route.methods or ())}
    assert posted == {*FORMS, *CALLS, "/enter/{link}"}


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize("path", [*FORMS, "/enter"])
def test_a_form_of_another_site_does_nothing(town: Town, path: str, headers: dict[str, str]) -> None:
    """Also where nobody is signed in yet: it could sign a visitor in as somebody else."""
    town.enter()
    before = session_of(town)
    owner = town.served.owner()
    if path == "/enter":
        path = f"/enter/{people.entry_link(town.served.rt, owner, owner.person)}"
    form = FORMS.get(path, {"login": "eve", "password": PASSWORD})
    answer = town.post(path, {**form, "token": hidden(town.get("/account"), "token")}, **headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers
    here = people.at_browser(town.served.rt, before)
    assert here is not None
    assert (here.person.name, here.person.login) == ("owner", "ada")


def test_a_form_of_another_origin_is_refused_where_the_browser_says_no_more(town: Town) -> None:
    for origin in ("https://evil.example", "null", "http://localhost:3000"):
        answer = town.post("/sign-in", FORMS["/sign-in"], origin=origin)
        assert answer.status_code == 403
    assert town.post("/sign-in", FORMS["/sign-in"], origin=town.served.base).status_code == 401


@pytest.mark.parametrize("token", ["", "x", "0" * 64])
@pytest.mark.parametrize("path", ["/account", "/account/codes", "/sign-in/code", "/home"])
def test_a_form_without_our_token_does_nothing(town: Town, path: str, token: str) -> None:
    town.enter()
    answer = town.post(path, {**FORMS[path], "token": token})
    assert answer.status_code == 403
    assert "was not ours" in answer.text
    assert "Eve" not in town.get("/account").text


@pytest.mark.parametrize("path", CALLS)
def test_the_scripts_calls_are_those_of_our_own_pages(town: Town, path: str) -> None:
    town.enter()
    there = town.served.base + path
    for headers in FOREIGN:
        assert town.browser.post(there, json={}, headers=headers).status_code == 403
    as_form = town.browser.post(there, content=b"{}", headers={"content-type": "text/plain"})
    assert as_form.status_code == 403  # what a form of another site can send
    for body in (b"[]", b"{", b'{"id": 1, "token": 1}', b"\xff", b"[" * 10_000):
        answer = town.browser.post(there, content=body, headers={"content-type": "application/json"})
        assert answer.status_code in (200, 400, 403)
        if answer.status_code != 200:
            assert isinstance(answer.json()["error"], str)


def test_without_our_token_no_passkey_is_added(town: Town) -> None:
    town.enter()
    for path in ("/account/passkeys/challenge", "/account/passkeys"):
        sent = {"token": "x", "name": "x", "clientDataJSON": "", "attestationObject": ""}
        assert town.browser.post(town.served.base + path, json=sent).status_code == 403


# ------------------------------------------------------------------------------------------------------------ passkeys
@pytest.mark.parametrize(
    ("base", "origin", "rp"),
    [
        ("https://memory.example.com", "https://memory.example.com", "memory.example.com"),
        ("https://Memory.Example.com:443/team", "https://memory.example.com", "memory.example.com"),
        ("https://memory.example.com:8443", "https://memory.example.com:8443", "memory.example.com"),
        ("https://bücher.example", "https://xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("http://localhost:7077", "http://localhost:7077", "localhost"),
        ("http://127.0.0.1:7077", "http://localhost:7077", "localhost"),
        ("http://[::1]:7077", "http://localhost:7077", "localhost"),
        ("http://memory.example.com", None, None),
        ("https://192.168.1.5", None, None),
        ("https://[fd00::5]", None, None),
    ],
)
def test_passkeys_hold_where_browsers_make_them(base: str, origin: str | None, rp: str | None) -> None:
    """Web Authentication Level 2, §5.1.3 step 7 and §13.4.9: a host with a name, and TLS unless it is this machine."""
    site = Place(base).site
    assert (site and site.origin, site and site.rp) == (origin, rp)


@pytest.mark.parametrize(("host", "works"), [("localhost:7077", True), ("localhost", True), ("127.0.0.1:7077", False)])
def test_a_page_under_an_address_leads_to_the_name(host: str, works: bool) -> None:
    request = Request({"type": "http", "headers": [(b"host", host.encode())]})
    place = Place("http://127.0.0.1:7077/team")
    assert place.works_at(request) is works
    assert place.elsewhere(request, "/account") == ("" if works else "http://localhost:7077/team/account")


def test_a_passkey_is_added_and_signs_in_over_http(town: Town) -> None:
    town.enter()
    key = Authenticator(origin="http://localhost:7077", rp="localhost")
    token = hidden(town.get("/account"), "token")

    def call(path: str, sent: dict[str, Any]) -> Any:
        answer = town.browser.post(town.served.base + path, json=sent)
        assert answer.headers["cache-control"] == "no-store"
        return answer

    asked = call("/account/passkeys/challenge", {"token": token}).json()
    assert asked["authenticatorSelection"] == {
        "residentKey": "required", "requireResidentKey": True, "userVerification": "required",
    }  # fmt: skip
    assert [each["alg"] for each in asked["pubKeyCredParams"]] == [-7, -8, -257]
    client, attested = key.make(asked["challenge"])
    sent = {"token": token, "name": "민아의 열쇠", "clientDataJSON": base64url(client)}
    added = call("/account/passkeys", {**sent, "attestationObject": base64url(attested)})
    assert added.json() == {"next": "/account?done=passkey"}
    assert "민아의 열쇠" in town.get("/account").text
    town.browser.cookies.clear()
    asked_again = call("/sign-in/passkey/challenge", {}).json()
    assert asked_again["userVerification"] == "required"
    assert "allowCredentials" not in asked_again
    client, data, signature = key.but(counter=2).sign(asked_again["challenge"])
    answer = {
        "id": key.name, "userHandle": asked["user"]["id"], "clientDataJSON": base64url(client),
        "authenticatorData": base64url(data), "signature": base64url(signature), "next": "//evil.example",
    }  # fmt: skip
    assert call("/sign-in/passkey", answer).json() == {"next": "/home"}
    assert town.get("/home").status_code == 200
    replayed = call("/sign-in/passkey", answer)
    assert replayed.status_code == 401
    assert replayed.json()["error"].startswith("That passkey does not open this server.")


# ----------------------------------------------------------------------------------------------------------- strangers
def test_an_unknown_name_costs_the_same_work_as_a_wrong_password(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted, not timed: each way of being wrong is one Argon2 verification with the same parameters."""
    town.enter()
    verified: list[str] = []
    hasher = passwords._hasher()
    real = type(hasher).verify

    def counted(self: object, kept: str, password: str) -> bool:
        verified.append(kept.rpartition("$")[0].rpartition("$")[0])
        return bool(real(hasher, kept, password))

    monkeypatch.setattr(type(hasher), "verify", counted)
    passwords._absent()
    answers = [town.post("/sign-in", {"login": login, "password": "wrong words"}) for login in ("ada", "nobody")]
    assert len(verified) == 2
    assert len(set(verified)) == 1
    shown = {answer.text.replace(f'value="{login}"', "") for answer, login in zip(answers, ("ada", "nobody"))}
    assert len({_without_id(each) for each in shown}) == 1
    assert {answer.status_code for answer in answers} == {401}


def _without_id(text: str) -> str:
    return re.sub(r"\([0-9a-f]{8}\)", "", text)


def test_a_refusal_shows_the_id_under_which_the_log_tells_the_reason(
    town: Town, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    town.enter()
    shown = town.post("/sign-in", {"login": "ada", "password": "wrong words"}, **{"accept-language": "ko"}).text
    [line] = [each.getMessage() for each in caplog.records if each.name == "dolmen.services.refusing"]
    assert "reason=wrong-password" in line
    assert line.split("id=")[1][:8] in shown
    assert "비밀번호가 맞지 않습니다" in shown


def test_the_door_tells_the_log_why_and_the_client_the_id(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    served = serve(public_url=BASE, auth="keys", failures=6)
    owner = served.owner()
    revoked = served.key()
    [connection] = accounts.keys(served.rt, owner)
    accounts.revoke(served.rt, owner, connection.id)
    asked = [
        ({}, 401, "no-key from=127.0.0.1"),
        ({"authorization": "Basic x"}, 401, "no-bearer from=127.0.0.1"),
        ({"authorization": "Bearer dlm_x"}, 401, "malformed-key from=127.0.0.1"),
        ({"authorization": "Bearer dlm_" + "x" * 43}, 401, "unknown-key from=127.0.0.1"),
        ({"authorization": "Bearer dla_" + "x" * 43}, 401, "unknown-token from=127.0.0.1"),
        ({"authorization": f"Bearer {revoked}"}, 401, f"revoked-key connection={connection.id} from=127.0.0.1"),
        ({}, 429, "rate-limited"),
        ({"host": "evil.example"}, 403, "forbidden"),
        ({"origin": "https://evil.example"}, 403, "forbidden"),
    ]
    for headers, status, reason in asked:
        answer = served.post(rpc("tools/list"), **headers)
        assert answer.status_code == status, headers
        id = answer.headers["dolmen-request"]
        lines = [each.getMessage() for each in caplog.records if each.name.startswith("dolmen.interfaces")]
        assert f"refused id={id} reason={reason}" in lines
        assert status != 401 or reason.split()[0] not in answer.text
    assert not any(revoked in each.getMessage() for each in caplog.records)
    assert "dolmen-request" not in served.http.get(served.base + "/health").headers


@pytest.mark.parametrize(
    ("agent", "device"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox · Linux"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/139.0 Safari/537.36 Edg/139.0", "Edge · Windows"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Safari/604.1", "Safari · iPhone"),
        ("<script>", ""),
        ("", ""),
    ],
)
def test_a_browser_is_named_by_words_of_ours(agent: str, device: str) -> None:
    assert device_of(agent) == device


# ---------------------------------------------------------------------------------------------------------------- gone
@pytest.fixture(params=["sqlite", "postgres"])
def shared(request: pytest.FixtureRequest, serve: Serve, new_store: Any) -> Iterator[tuple[Town, str]]:
    """A town, and the address of its store, which another process opens too."""
    database = new_store(request.param)
    served = serve(database=database, public_url=BASE)
    with httpx2.Client(follow_redirects=False) as browser:
        yield Town(served, browser), database


def member(town: Town) -> tuple[str, dict[str, str]]:
    """A member who is signed in and has let a client in and made a key; with the credentials."""
    owner = town.served.owner()
    mina, link = people.invite(town.served.rt, owner, "Mina")
    answer = town.post(f"/enter/{link}", {"login": "mina", "password": PASSWORD})
    assert answer.status_code == 303
    client = town.register()
    tokens = town.tokens(client)
    as_mina = people.actor_of(mina)
    _, key = accounts.create_key(town.served.rt, replace(as_mina, mode="admin"), agent="codex")
    return mina.id, {"key": key, "token": tokens["access_token"], "refresh": tokens["refresh_token"], "client": client}


def stands(served: Served, secret: str) -> int:
    return served.post(rpc("tools/list"), authorization=f"Bearer {secret}").status_code


def test_a_member_who_is_removed_is_gone_at_the_next_request(shared: tuple[Town, str]) -> None:
    town, _ = shared
    mina, has = member(town)
    assert [stands(town.served, has["key"]), stands(town.served, has["token"]), town.get("/home").status_code] == [
        200
    ] * 3
    people.remove(town.served.rt, town.served.owner(), mina)
    assert [stands(town.served, has["key"]), stands(town.served, has["token"])] == [401, 401]
    assert town.get("/home").headers["location"] == "/sign-in"
    refreshed = town.token(grant_type="refresh_token", refresh_token=has["refresh"], client_id=has["client"])
    assert refreshed.json()["error"] == "invalid_grant"
    assert town.post("/sign-in", {"login": "mina", "password": PASSWORD}).status_code == 401


def test_a_member_whom_another_process_removes_is_gone_within_a_second(shared: tuple[Town, str]) -> None:
    town, database = shared
    mina, has = member(town)
    assert [stands(town.served, has["key"]), stands(town.served, has["token"])] == [200, 200]
    with open_app(Settings(database=database, embedder="none"), models=False) as other:
        people.remove(other.runtime, accounts.local_actor(other.runtime, agent="cli", human=True), mina)
    assert town.get("/home").headers["location"] == "/sign-in"
    assert within(3, lambda: stands(town.served, has["key"]) == stands(town.served, has["token"]) == 401)


def test_a_member_ends_own_connections_and_nobody_elses(shared: tuple[Town, str]) -> None:
    town, _ = shared
    _, has = member(town)
    others = town.served.key("claude-code")
    owner = town.served.owner()
    ids = {each.agent: each.id for each in accounts.keys(town.served.rt, owner)}
    page = town.get("/account")
    assert "codex" in page.text
    assert "claude-code" not in page.text
    token = hidden(page, "token")
    assert town.post("/account", {"token": token, "do": "connection", "id": ids["claude-code"]}).status_code == 404
    assert town.post("/account", {"token": token, "do": "connection", "id": ids["codex"]}).status_code == 303
    assert [stands(town.served, has["key"]), stands(town.served, others)] == [401, 200]


def test_another_password_ends_other_browsers_and_keeps_this_one(shared: tuple[Town, str]) -> None:
    town, _ = shared
    town.enter()
    other = people.sign_in(town.served.rt, "ada", PASSWORD, Visitor("192.0.2.1"))
    token = hidden(town.get("/account"), "token")
    form = {"token": token, "do": "password", "password": PASSWORD, "new": "other words without sense"}
    assert town.post("/account", {**form, "password": "a wrong one"}).status_code == 403
    assert town.post("/account", {**form, "new": "short"}).status_code == 400
    assert town.post("/account", form).headers["location"] == "/account?done=password"
    assert people.at_browser(town.served.rt, other.secret) is None
    assert town.get("/account").status_code == 200
    assert sign_in(town).status_code == 401


def test_where_nobody_signs_in_there_are_no_such_pages(serve: Serve) -> None:
    served = serve()
    assert HttpOptions().base == ""
    assert {served.http.get(served.base + path).status_code for path in ("/account", "/sign-in/code")} == {404}
