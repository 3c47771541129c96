"""The switch of languages in a real browser: without scripts, on a narrow screen, by keyboard, in the midst of a
sign-in."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page

from dolmen.services.accounts import keys
from tests.web.conftest import PASSWORD, Site

pytestmark = pytest.mark.slow

BACK = "http://127.0.0.1:9/callback"


def test_somebody_who_reads_korean_switches_on_the_way_to_letting_a_client_in(site: Site, page: Page) -> None:
    """The request that the client sent stays the same; the choice holds for all pages that follow."""
    page.goto(site.link())
    page.get_by_role("button", name="한국어").click()
    page.get_by_role("heading", name="환영합니다").wait_for()
    page.get_by_label("아이디").fill("ada")
    page.get_by_label("비밀번호").fill(PASSWORD)
    page.get_by_role("button", name="계속").click()
    page.get_by_role("heading", name="로그인되었습니다").wait_for()
    page.get_by_role("button", name="English").click()
    page.get_by_role("heading", name="You are signed in").wait_for()
    request = site.request(site.client("Codex", BACK), BACK)
    page.goto(request)
    page.get_by_role("button", name="한국어").click()
    page.get_by_role("heading", name="Codex의 접근을 허용할까요?").wait_for()
    assert page.url == request
    page.get_by_label("읽기와 쓰기").check()
    with page.expect_request(lambda sent: sent.url.startswith(BACK)) as back:
        page.get_by_role("button", name="허용").click()
    assert "code=" in back.value.url
    [connection] = keys(site.served.rt, site.served.owner())
    assert connection.mode == "write"
    [kept] = [each for each in page.context.cookies() if each["name"] == "dolmen_language"]
    assert (kept["value"], kept["httpOnly"], kept["sameSite"], kept["path"]) == ("ko", True, "Lax", "/")
    assert kept["expires"] > time.time() + 300 * 24 * 3600


def test_it_works_by_the_keyboard_and_says_which_one_is_read(site: Site, page: Page) -> None:
    page.goto(site.base + "/device")
    switch = page.get_by_role("form", name="Language")
    assert switch.get_by_role("button").all_inner_texts() == ["English", "한국어"]
    assert switch.locator("[aria-current=true]").inner_text() == "English"
    page.goto(f"{site.base}/enter/none")  # a page without a field that has the focus at once
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "English"
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "한국어"
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="진행할 수 없습니다").wait_for()
    assert page.get_by_role("form", name="언어").locator("[aria-current=true]").inner_text() == "한국어"
    assert page.url == f"{site.base}/enter/none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_stays_in_its_place_under_the_strict_policy(site: Site, chromium: Browser, scheme: str) -> None:
    """In one line with the mark, large enough for a finger, at 360 pixels; the browser refuses nothing of the page."""
    dark = "dark" if scheme == "dark" else "light"
    context = chromium.new_context(viewport={"width": 360, "height": 740}, color_scheme=dark)
    context.set_default_timeout(10_000)
    page = context.new_page()
    complaints: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            complaints.append(message.text)

    page.on("console", heard)
    page.goto(f"{site.base}/sign-in")
    for name in ("한국어", "English"):
        page.get_by_role("button", name=name).click()
        page.get_by_role("form").locator("[aria-current=true]", has_text=name).wait_for()
        mark = page.locator(".mark").bounding_box()
        assert mark is not None
        for button in page.locator(".languages button").all():
            box = button.bounding_box()
            assert box is not None
            assert box["height"] >= 44
            assert box["x"] + box["width"] <= 360
            assert box["y"] < mark["y"] + mark["height"]
    assert complaints == []
    context.close()
