"""What a page says to somebody who listens to it, or who comes to it at the wrong time."""

from __future__ import annotations

import html
import re

import pytest

from dolmen.interfaces.http.web import pages
from dolmen.services import people, vaults
from tests.interfaces.http.test_oauth_flow import PASSWORD, Town, hidden, town

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cheap_passwords")]

__all__ = ["town"]


def title(page: str) -> str:
    return html.unescape(re.findall(r"<title>(.*?)</title>", page)[0])


def test_a_link_that_was_used_leads_to_the_sign_in(town: Town) -> None:
    owner = town.served.owner()
    link = people.entry_link(town.served.rt, owner, owner.person)
    town.post(f"/enter/{link}", {"login": "ada", "password": PASSWORD})
    page = town.get(f"/enter/{link}")
    assert page.status_code == 410
    assert '<a href="/home">You have chosen a password already? Sign in</a>' in page.text
    assert "<code>dolmen person link</code>" in page.text
    assert "/home" not in town.get("/oauth/authorize?client_id=nobody").text


@pytest.mark.parametrize(
    ("path", "sent", "field"),
    [
        ("/sign-in", {"login": "ada", "password": "wrong"}, "login"),
        ("/enter", {"login": "a b", "password": PASSWORD}, "login"),
        ("/device", {"user_code": "BBBB-BBBB"}, "user_code"),
        ("/account/codes", {"code": "000000"}, "code"),
    ],
)
def test_a_problem_is_heard_first_and_with_the_field_that_has_the_focus(
    town: Town, path: str, sent: dict[str, str], field: str
) -> None:
    """WCAG 2.2 §3.3.1: a page that is loaded with its alert is not announced by every screen reader."""
    town.enter()
    if path == "/enter":
        owner = town.served.owner()
        path += "/" + people.entry_link(town.served.rt, owner, owner.person)
    if path == "/account/codes":
        town.post("/account", {"token": hidden(town.get("/account"), "token"), "do": "codes"})
    before = town.get(path).text
    assert not title(before).startswith("Not done")
    assert "problem" not in before
    token = re.findall(r'name="token" value="([^"]*)"', before)
    page = town.post(path, {**sent, **({"token": token[-1]} if token else {})}).text
    assert title(page) == f"Not done: {title(before)}"
    assert len(re.findall('id="problem"', page)) == 1
    [tag] = [each for each in re.findall(r"<input[^>]*>", page) if f'name="{field}"' in each]
    assert re.search(r' aria-describedby="problem\b', tag), tag
    assert "autofocus" in tag


@pytest.mark.parametrize(("field", "entered"), [("project", "/home/ada"), ("agent", "?")])
def test_a_wrong_choice_is_told_at_its_field_too(town: Town, field: str, entered: str) -> None:
    """WCAG 2.2 §3.3.1: the field has the focus, and nothing else is called wrong."""
    town.enter()
    request = town.request(town.register())
    form = {"token": hidden(town.get(request), "token"), "agent": "claude", "mode": "suggest", "toolset": "core"}
    sent = {**form, "days": "30", "answer": "allow", field: entered}
    assert "aria-invalid" not in town.get(request).text
    page = town.post(request, sent).text
    [tag] = [each for each in re.findall(r"<(?:input|select)[^>]*>", page) if "aria-invalid" in each]
    assert f'name="{field}"' in tag
    assert f'aria-describedby="problem {field}-help"' in tag
    assert "autofocus" in tag
    assert len(re.findall('aria-describedby="problem', page)) == 1
    listed = town.post(request, {**sent, field: "claude", "days": "5"})
    assert (listed.status_code, "aria-invalid" in listed.text) == (400, False)


def test_what_describes_a_field_is_on_the_page(town: Town) -> None:
    town.enter()
    for path in ("/sign-in", "/device", "/account", town.request(town.register())):
        page = town.get(path).text
        for names in re.findall(r'aria-(?:describedby|labelledby)="([^"]+)"', page):
            for name in names.split():
                assert page.count(f'id="{name}"') == 1, (path, name)


def test_a_command_in_a_sentence_is_shown_as_one_and_nothing_else_becomes_markup() -> None:
    shown = pages._code("`a <b>` & `c`")
    assert shown == "<code>a &lt;b&gt;</code> &amp; <code>c</code>"


def test_a_name_in_a_sentence_stays_text(town: Town) -> None:
    town.enter()
    name = "<i>\"{name}' `x`"
    client = town.register(client_name=name)
    page = town.get(town.request(client)).text
    assert "<i>" not in page
    assert html.unescape(re.findall("<h1>(.*?)</h1>", page)[0]) == f"Let {name} in?"


@pytest.mark.parametrize(
    ("back", "source"),
    [
        ("http://127.0.0.1:9/cb", "http://127.0.0.1:9"),
        ("http://[::1]:9/cb", "http:"),
        ("cursor://anysphere.cursor-mcp/oauth/callback", "cursor:"),
    ],
)
def test_the_answer_may_lead_where_the_client_waits(town: Town, back: str, source: str) -> None:
    """RFC 8252 §7.3; CSP 3 §2.3.1 has no way to name an IPv6 address."""
    town.enter()
    client = town.register(redirect_uris=[back])
    policy = town.get(town.request(client, redirect_uri=back)).headers["content-security-policy"]
    assert policy.endswith(f"form-action 'self' {source}")


def test_what_is_seen_on_a_button_begins_its_name(town: Town) -> None:
    """WCAG 2.2 §2.5.3: who speaks to the browser says what they see."""
    town.enter()
    vaults.add_vault(town.served.rt, town.served.owner(), "Work")
    town.tokens(town.register())
    buttons = 0
    for path in ("/home", "/account"):
        for language in ("en", "ko"):
            page = town.get(path, **{"accept-language": language}).text
            for name, seen in re.findall(r'<button aria-label="([^"]+)">([^<]+)</button>', page):
                assert seen in name
                buttons += 1
    assert buttons == 4


def test_times_of_the_account_stay_whole_and_are_read_by_machines(town: Town) -> None:
    town.enter()
    page = town.get("/account").text
    found = re.findall(r'<time datetime="(\d{4}-\d\d-\d\dT[\d:.]+Z)">(\d{4}-\d\d-\d\d \d\d:\d\d) UTC</time>', page)
    assert len(found) == 2  # since, seen
    assert all(exact.startswith(shown.replace(" ", "T")) for exact, shown in found)
