"""The consent page says what a client asked for, beside what it proposes: the person sees both, and chooses."""

from __future__ import annotations

import html
import re

import pytest

from dolmen.services.policy import set_policy
from tests.interfaces.http.test_device_flow import asked, entered, machine
from tests.interfaces.http.test_oauth_flow import BACK, Town, hidden, town

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cheap_passwords")]

__all__ = ["town"]

LESS = "Less than that is selected; allow more only if you mean to."
KOREAN = {"accept-language": "ko"}


def wish(page: str) -> str:
    """What the page says that the client asked for."""
    found = re.search(r'<fieldset aria-describedby="asks">.*?id="asks">(.*?)</p>', page, re.DOTALL)
    assert found, page
    return html.unescape(re.sub(r"</?b>", "", found[1]))


def choices(page: str) -> dict[str, str]:
    """Each choice: `checked`, `disabled` or nothing, and what stands beside it."""
    found = re.findall(r'value="(\w+)"( checked| disabled)?>\s*<span><b>[^<]*</b>(.*?)<br>', page)
    return {mode: (state + re.sub(r"<[^>]*>", "", beside)).strip() for mode, state, beside in found}


@pytest.mark.parametrize(
    ("scope", "said", "expected"),
    [
        ("read suggest write", f"It asks to read and write. {LESS}", ("", "checked", "asked for")),
        ("memory:read memory:write", f"It asks to read and write. {LESS}", ("", "checked", "asked for")),
        ("read suggest", "It asks to read and propose.", ("", "checked asked for", "disabled (not asked for)")),
        ("read", "It asks to read.", ("checked asked for", "disabled (not asked for)", "disabled (not asked for)")),
        (None, "It does not say which of these it needs: you decide.", ("", "checked", "")),
    ],
)
def test_the_page_says_what_the_client_asked_for_and_proposes_no_more_than_proposing(
    town: Town, scope: str | None, said: str, expected: tuple[str, ...]
) -> None:
    """C-310"""
    town.enter()
    page = town.get(town.request(town.register(), scope=scope)).text
    assert wish(page) == said
    assert tuple(choices(page).values()) == expected


def test_it_is_said_in_korean(town: Town) -> None:
    town.enter()
    page = town.get(town.request(town.register()), **KOREAN).text
    assert wish(page).startswith("읽기와 쓰기를 요청합니다. 지금은 그보다 좁은 권한이 선택되어 있습니다.")
    assert choices(page) == {"read": "", "suggest": "checked", "write": "요청한 권한"}
    assert wish(town.get(town.request(town.register(), scope="read"), **KOREAN).text) == "읽기를 요청합니다."


def test_a_device_is_shown_with_what_it_asked_for(town: Town) -> None:
    town.enter()
    code = asked(town, ("client_id", machine(town)), ("scope", "read suggest write")).json()["user_code"]
    assert wish(entered(town, code).text) == f"It asks to read and write. {LESS}"


def test_whoever_chose_what_was_asked_for_is_not_told_of_less(town: Town) -> None:
    town.enter()
    request = town.request(town.register())
    form = {"token": hidden(town.get(request), "token"), "mode": "write", "agent": "?", "toolset": "core"}
    page = town.post(request, {**form, "days": "30", "answer": "allow"}).text
    assert wish(page) == "It asks to read and write."
    assert choices(page)["write"] == "checked asked for"


@pytest.mark.parametrize("mode", ["", "everything", "admin"])
def test_a_mode_that_there_is_not_is_refused_on_the_page(town: Town, mode: str) -> None:
    town.enter()
    request = town.request(town.register())
    form = {"token": hidden(town.get(request), "token"), "mode": mode, "agent": "a", "toolset": "core", "days": "30"}
    answer = town.post(request, {**form, "answer": "allow"})
    assert answer.status_code == 400
    assert "Choose one of the three." in answer.text


def test_what_cannot_be_allowed_says_why_beside_what_was_asked_for(town: Town) -> None:
    """C-306: a key that may do less; a vault that lets no agent write."""
    town.enter()
    key = {"authorization": f"Bearer {town.served.key('chatgpt', mode='suggest')}"}
    sent = {"client_name": "My App", "redirect_uris": [BACK]}
    kept = town.served.http.post(town.served.base + "/oauth/register", json=sent, headers=key).json()["client_id"]
    page = town.get(town.request(kept)).text
    assert wish(page) == "It asks to read and write."
    assert choices(page)["write"] == "disabled asked for (more than its key allows)"
    set_policy(town.served.rt, town.served.owner(), "agent_writes", "off")
    page = town.get(town.request(town.register())).text
    assert choices(page)["write"] == "disabled asked for (agent writes are off in this memory)"
