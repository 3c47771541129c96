"""What a page says when it refuses: a page, in the language of its reader, that tells nothing of the machine behind."""

from __future__ import annotations

import logging
import re
from typing import Any

import httpx2
import pytest

from dolmen.domain.errors import DolmenError
from dolmen.services import people
from tests.interfaces.http.test_oauth_flow import BACK, Town, hidden, town

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cheap_passwords")]

__all__ = ["town"]

KOREAN = {"accept-language": "ko-KR,ko;q=0.9,en;q=0.8"}


def shown(answer: httpx2.Response) -> str:
    """What the page says of a problem, without its marks."""
    assert answer.headers["content-type"].startswith("text/html")
    assert 'lang="ko"' in answer.text
    found = re.search(r'<p class="problem" role="alert" id="problem">(.*?)</p>|<p class="lead">(.*?)</p>', answer.text)
    assert found, answer.text
    return found[1] or found[2]


def test_a_choice_that_does_not_do_is_refused_in_korean(town: Town) -> None:
    town.enter()
    request = town.request(town.register())
    form = {"token": hidden(town.get(request), "token"), "agent": "claude", "mode": "suggest", "toolset": "core"}
    sent = {**form, "days": "30", "project": "/home/ada", "answer": "allow"}
    assert shown(town.post(request, sent, **KOREAN)).startswith("로컬 경로는")
    assert shown(town.post(request, {**sent, "days": "5"}, **KOREAN)).startswith("접근 종료 시점이 올바르지")
    assert shown(town.post(request, {**sent, "agent": "?", "project": ""}, **KOREAN)).startswith("에이전트에 이름이")
    foreign = town.post(request, {**sent, "token": "somebody else's"}, **KOREAN)
    assert foreign.status_code == 403
    assert "저희 페이지가 아닙니다" in shown(foreign)


def test_a_code_that_no_device_waits_with_is_refused_in_korean(town: Town) -> None:
    town.enter()
    token = hidden(town.get("/device"), "token")
    answers = [town.post("/device", {"token": token, "user_code": "BBBBBBBB"}, **KOREAN) for _ in range(6)]
    assert [each.status_code for each in answers] == [404] * 5 + [429]
    assert shown(answers[0]).startswith("이 코드로 기다리는 기기가 없습니다")
    assert shown(answers[5]).startswith("맞지 않는 코드를 너무 많이")
    assert town.post("/device", {"token": "", "user_code": ""}, **KOREAN).status_code == 403


def test_a_mistake_of_the_program_is_told_in_korean_and_in_its_own_words(town: Town) -> None:
    answer = town.get(town.request(town.register(), redirect_uri="https://evil.example/"), **KOREAN)
    assert answer.status_code == 400
    assert "redirect_uri가 클라이언트가 등록한 주소가 아닙니다." in answer.text
    assert '<code lang="en">invalid_request: redirect_uri is not one that the client registered.</code>' in answer.text
    assert BACK not in answer.text
    assert town.browser.get(str(answer.request.url)).text.count("redirect_uri is not one") == 1


@pytest.mark.parametrize("path", ["/sign-in", "/device", "/home", "/account", "/oauth/authorize"])
def test_a_reader_who_asks_too_often_reads_that_on_a_page(town: Town, path: str) -> None:
    for _ in range(60):
        assert town.get("/home").status_code == 303
    answer = town.get(path, **KOREAN)
    assert answer.status_code == 429
    assert shown(answer) == "1분에 60번이 넘는 요청이 왔습니다. 잠시 뒤에 다시 시도하세요."
    assert 0 < int(answer.headers["retry-after"]) <= 60
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")


def test_a_script_that_asks_too_often_is_told_in_korean_too(town: Town) -> None:
    for _ in range(60):
        town.get("/home")
    address, more = town.served.base + "/sign-in/passkey/challenge", {"sec-fetch-site": "same-origin"}
    answer = town.browser.post(address, json={}, headers={**KOREAN, **more})
    assert answer.status_code == 429
    assert answer.json() == {"error": "1분에 60번이 넘는 요청이 왔습니다. 잠시 뒤에 다시 시도하세요."}
    assert int(answer.headers["retry-after"])


@pytest.mark.parametrize("path", ["/sign-in/code", "/home", "/device", "/oauth/authorize"])
def test_a_store_that_fails_tells_no_stranger_where_it_is(
    town: Town, path: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> Any:
        raise DolmenError("unavailable", "/srv/ada/dolmen.db cannot be opened.", "Check /srv/ada.")

    monkeypatch.setattr(people, "at_browser", broken)
    monkeypatch.setattr("dolmen.services.second_factor.waits", broken)
    asked = town.request(town.register()) if path == "/oauth/authorize" else path
    with caplog.at_level(logging.WARNING):
        answers = [town.get(asked, **KOREAN), town.get(asked)]
    assert [each.status_code for each in answers] == [503, 503]
    assert "/srv/ada" not in answers[0].text + answers[1].text
    found = re.fullmatch(r"지금은 서버가 처리할 수 없습니다\..* \((\w{8})\)", shown(answers[0]))
    assert found
    assert f"id={found[1]} reason=unavailable: /srv/ada/dolmen.db cannot be opened." in caplog.text
