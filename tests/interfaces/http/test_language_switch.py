"""The switch of languages: on every page, without a script, remembered; it leads back to the page, and nowhere else."""

from __future__ import annotations

import html
import re
from collections.abc import Callable

import httpx2
import pytest

from dolmen.services import people
from tests.interfaces.conftest import Serve
from tests.interfaces.http.test_browser_session import HOST, sign_in, turn_codes_on
from tests.interfaces.http.test_device_flow import asked, entered, machine
from tests.interfaces.http.test_oauth_flow import BASE, Town, hidden, town

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cheap_passwords")]

__all__ = ["town"]

KOREAN = {"accept-language": "ko-KR,ko;q=0.9"}


def language(answer: httpx2.Response) -> str:
    found = re.search(r'<html lang="(\w+)">', answer.text)
    assert found, answer.text
    assert answer.headers["content-language"] == found[1]
    assert "Cookie" in answer.headers["vary"]
    return found[1]


def leads_to(answer: httpx2.Response) -> str:
    return html.unescape(hidden(answer, "to"))


def switch(town: Town, to: str, chosen: str = "ko") -> str:
    answer = town.post("/language", {"language": chosen, "to": to})
    assert answer.status_code == 303
    return answer.headers["location"]


def heading(answer: httpx2.Response) -> str:
    found = re.search(r"<h1>(.*?)</h1>", answer.text)
    assert found, answer.text
    return found[1]


# ------------------------------------------------------------------------------------------------------------- choosing
def test_the_pages_follow_the_browser_until_somebody_chooses(town: Town) -> None:
    assert language(town.get("/sign-in", **KOREAN)) == "ko"
    assert language(town.get("/sign-in")) == "en"
    switch(town, "/sign-in", "en")
    assert language(town.get("/sign-in", **KOREAN)) == "en"
    switch(town, "/sign-in", "ko")
    assert language(town.get("/sign-in", **{"accept-language": "en"})) == "ko"
    refused = town.browser.post(
        town.served.base + "/sign-in/passkey/challenge", json=[], headers={"sec-fetch-site": "same-origin"}
    )
    assert refused.json() == {"error": "패스키의 응답이 아닙니다. 페이지를 새로 고치고 다시 시도하세요."}


def test_the_one_that_is_read_is_marked_and_each_stands_in_its_own_words(town: Town) -> None:
    buttons = r'<button name="language" value="(\w+)" lang="(\w+)"( aria-current="true")?>([^<]+)</button>'
    english, korean = town.get("/sign-in").text, town.get("/sign-in", **KOREAN).text
    marked = ' aria-current="true"'
    assert re.findall(buttons, english) == [("en", "en", marked, "English"), ("ko", "ko", "", "한국어")]
    assert re.findall(buttons, korean) == [("en", "en", "", "English"), ("ko", "ko", marked, "한국어")]
    assert 'aria-label="Language"' in english
    assert 'aria-label="언어"' in korean


@pytest.mark.parametrize("chosen", ["", "fr", "KO", "ko\r\nset-cookie: x=y", "<script>"])
def test_a_language_that_there_is_not_is_neither_remembered_nor_read(town: Town, chosen: str) -> None:
    answer = town.post("/language", {"language": chosen, "to": "/sign-in"})
    assert answer.status_code == 400
    assert "set-cookie" not in answer.headers
    if chosen.isprintable():
        town.browser.cookies.set("dolmen_language", chosen, domain="127.0.0.1")
        assert language(town.get("/sign-in", **KOREAN)) == "ko"


@pytest.mark.parametrize(
    ("base", "name"),
    [
        ("https://memory.example.com", "__Host-dolmen_language"),
        ("https://example.com/team/a", "__Host-dolmen_language"),
        ("http://localhost:7077", "dolmen_language"),
    ],
)
def test_the_choice_is_kept_for_a_year_by_a_cookie_that_no_script_reads(serve: Serve, base: str, name: str) -> None:
    """RFC 6265bis §4.1.3.2"""
    served = serve(public_url=base)
    answer = served.http.post(f"{served.base}/language", data={"language": "ko", "to": "/sign-in"})
    [cookie] = answer.headers.get_list("set-cookie")
    parts = [part.strip().lower() for part in cookie.split(";")]
    assert parts[0] == f"{name.lower()}=ko"
    expected = {"path=/", "httponly", "samesite=lax", "max-age=31536000", *(["secure"] * base.startswith("https"))}
    assert set(parts[1:]) == expected
    read = served.http.get(f"{served.base}/sign-in", headers={"cookie": f"{name}=ko"})
    assert language(read) == "ko"


# -------------------------------------------------------------------------------------------------------- leading back
@pytest.mark.parametrize(
    "to",
    [
        "", "https://evil.example/", "//evil.example", "/\\evil.example", "\\\\evil.example", "///evil.example",
        "javascript:alert(1)", "sign-in", "/\t/evil.example", "/home\r\nlocation: https://evil.example",
        "/" + "a" * 8_000, "/\u0000", "@evil.example", "/\u2028/evil.example",
    ],
)  # fmt: skip
def test_it_leads_to_no_place_but_a_page_of_this_server(town: Town, to: str) -> None:
    assert switch(town, to) == "/home"


def test_under_a_base_path_it_leads_back_under_it(serve: Serve) -> None:
    served = serve(public_url="http://localhost:7077/team")
    shown = served.http.get(f"{served.base}/sign-in?next=%2Faccount")
    assert 'action="/team/language"' in shown.text
    form = {"language": "ko", "to": leads_to(shown)}
    answer = served.http.post(f"{served.base}/language", data=form)
    assert answer.headers["location"] == "/team/sign-in?next=%2Faccount"


def test_its_own_address_leads_home(town: Town) -> None:
    assert town.get("/language").headers["location"] == "/home"


def pages() -> dict[str, Callable[[Town], httpx2.Response]]:
    """Pages that are asked for, and pages that answer a form."""

    def link(town: Town) -> str:
        owner = town.served.owner()
        return f"/enter/{people.entry_link(town.served.rt, owner, owner.person)}"

    def code(town: Town) -> str:
        return str(asked(town, ("client_id", machine(town))).json()["user_code"])

    def consented(town: Town) -> httpx2.Response:
        request = town.request(town.register())
        return town.post(request, {"token": hidden(town.get(request), "token"), "answer": "allow"})

    def codes(town: Town) -> httpx2.Response:
        town.post("/account", {"token": hidden(town.get("/account"), "token"), "do": "codes"})
        return town.get("/account/codes")

    def out(town: Town) -> Town:
        town.browser.cookies.clear()
        return town

    return {
        "home": lambda town: town.get("/home"),
        "account": lambda town: town.get("/account?done=name"),
        "refused account": lambda town: town.post(
            "/account", {"token": hidden(town.get("/account"), "token"), "do": "name", "name": ""}
        ),
        "codes": codes,
        "refused codes": lambda town: town.post("/account/codes", {"token": hidden(codes(town), "token"), "code": "0"}),
        "consent": lambda town: town.get(town.request(town.register())),
        "refused consent": consented,
        "broken consent": lambda town: town.get(town.request("nobody")),
        "sign-in": lambda town: out(town).get("/sign-in?next=%2Faccount%3Fa%3Db"),
        "sign-in for a client": lambda town: out(town).get(town.request(town.register())),
        "refused sign-in": lambda town: sign_in(out(town), "a wrong password", next="/account"),
        "link": lambda town: town.get(link(town)),
        "refused link": lambda town: town.post(link(town), {"login": "a", "password": "a"}),
        "link that ended": lambda town: town.get("/enter/none"),
        "device": lambda town: town.get("/device?user_code=BBBB-BBBB"),
        "device signed out": lambda town: out(town).get("/device?user_code=BBBB-BBBB"),
        "refused device": lambda town: entered(town, "BBBB-CCCC"),
        "device's consent": lambda town: entered(town, code(town)),
    }


@pytest.mark.parametrize("name", pages())
def test_every_page_has_it_and_is_found_again_in_the_other_language(town: Town, name: str) -> None:
    town.enter()
    before = pages()[name](town)
    assert language(before) == "en"
    to = leads_to(before)
    assert switch(town, to) == to
    after = town.get(to)
    assert language(after) == "ko"
    assert leads_to(after) == to
    assert heading(after) != heading(before)
    if name != "device's consent":  # which is asked for with a form: the code that it was for stands in the field
        template = r'<form method="post"(?: action="[^"]*")?>|name="(?:next|user_code)" [^>]*value="[^"]*"'
        assert re.findall(template, after.text) == re.findall(template, before.text)
    else:
        assert "user_code" in to
        assert town.get(to).text.count(html.escape(to.rpartition("=")[2])) >= 1


def test_the_code_form_keeps_where_it_leads_to(town: Town) -> None:
    town.enter()
    turn_codes_on(town)
    town.browser.cookies.clear()
    shown = town.get(sign_in(town, next="/account").headers["location"])
    refused = town.post("/sign-in/code", {"token": hidden(shown, "token"), "code": "0", "next": "/account"})
    for page in (shown, refused):
        assert leads_to(page) == "/sign-in/code?next=%2Faccount"
    assert hidden(town.get(switch(town, leads_to(refused))), "next") == "/account"


def test_what_is_shown_only_once_has_no_switch_that_would_lose_it(town: Town) -> None:
    town.enter()
    _, codes = turn_codes_on(town)
    form = {"token": hidden(town.get("/account"), "token"), "do": "recovery"}
    assert leads_to(town.post("/account", {**form, "code": "wrong"}, **KOREAN)) == "/account"
    shown = town.post("/account", {**form, "code": codes[0]}, **KOREAN)
    assert heading(shown) == "복구 코드를 보관하세요"
    assert 'name="to"' not in shown.text


def test_the_name_of_the_host_stays_the_one_that_the_browser_came_by(town: Town) -> None:
    answer = town.post("/language", {"language": "ko", "to": "/sign-in"}, **HOST)
    assert answer.headers["location"] == "/sign-in"
    assert BASE not in answer.headers["location"]
