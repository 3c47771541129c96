"""From the first link to a machine that is let in and ended again, by the keyboard alone: in Korean, in the dark,
without scripts, on a narrow screen. Wherever the focus is, it can be seen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from dolmen.services.accounts import keys
from tests.web.conftest import PASSWORD, Site
from tests.web.test_account import code
from tests.web.test_device import waiting

pytestmark = pytest.mark.slow


@pytest.fixture
def korean(chromium: Browser) -> Iterator[Page]:
    context = chromium.new_context(
        java_script_enabled=False, viewport={"width": 360, "height": 740}, color_scheme="dark", locale="ko-KR"
    )
    context.set_default_timeout(10_000)
    yield context.new_page()
    context.close()


def focus(page: Page) -> str:
    """What has the focus: its field's name, or what it is called."""
    return str(
        page.evaluate(
            "(e => e.getAttribute('name') || e.getAttribute('aria-label') || e.innerText)(document.activeElement)"
        )
    )


def tab_to(page: Page, name: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", focus(page)
        if focus(page) == name:
            return
    raise AssertionError(f"The keyboard does not come to {name}")


def enter(page: Page, title: str) -> None:
    """Sends the form, or follows the link, that has the focus; the title is the first thing that is read out."""
    with page.expect_navigation():
        page.keyboard.press("Enter")
    assert page.title() == f"{title} · Dolmen"


def test_everything_from_the_first_link_on_is_done_by_the_keyboard(site: Site, korean: Page) -> None:
    page, type = korean, korean.keyboard.type
    page.goto(site.link())
    assert focus(page) == "login"
    type("ada")
    page.keyboard.press("Tab")
    type(PASSWORD)
    enter(page, "로그인되었습니다")
    tab_to(page, "계정: 비밀번호, 코드, 패스키, 연결")
    enter(page, "내 계정")

    tab_to(page, "일회용 코드 켜기")
    enter(page, "일회용 코드 켜기")
    secret = page.locator(".secret").inner_text()
    tab_to(page, "code")
    type("000000")
    enter(page, "완료되지 않음: 일회용 코드 켜기")
    assert focus(page) == "code"
    type(code(secret))
    enter(page, "복구 코드를 보관하세요")
    tab_to(page, "보관했습니다")
    enter(page, "내 계정")
    tab_to(page, "로그아웃")
    enter(page, "로그인")
    type("ada")
    page.keyboard.press("Tab")
    type(PASSWORD)
    enter(page, "코드 입력")
    type(code(secret, later=1))
    enter(page, "로그인되었습니다")

    _, codes = waiting(site)
    page.goto(codes["verification_uri"])
    type(codes["user_code"])
    enter(page, "Dolmen on box의 접근을 허용할까요?")
    tab_to(page, "mode")
    page.keyboard.press("ArrowDown")
    tab_to(page, "answer")  # to say no
    tab_to(page, "answer")
    enter(page, "기기의 접근을 허용했습니다")
    [connection] = keys(site.served.rt, site.served.owner())
    assert connection.mode == "write"

    page.goto(f"{site.base}/account")
    tab_to(page, "dolmen-on-box 끝내기")
    enter(page, "내 계정")
    assert page.get_by_role("status").inner_text() == "연결이 끝났습니다."
