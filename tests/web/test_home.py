"""A person of several vaults chooses one, in a real browser: without scripts, on a narrow screen, by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page

from dolmen.services import vaults
from tests.web.conftest import PASSWORD, Site
from tests.web.test_sign_in import _FAINT, _UNNAMED, enter

pytestmark = pytest.mark.slow

BACK = "http://127.0.0.1:9/callback"


def test_the_vault_that_is_chosen_is_the_one_that_a_client_is_offered(site: Site, page: Page) -> None:
    enter(site, page)
    assert page.get_by_role("heading", name="Your vaults").count() == 0
    vaults.add_vault(site.served.rt, site.served.owner(), "Work")
    page.reload()
    region = page.get_by_role("region", name="Your vaults")
    assert region.get_by_role("listitem").count() == 2
    for _ in range(4):  # the languages, the account, the one button of the list
        page.keyboard.press("Tab")
    assert page.locator(":focus").get_attribute("aria-label") == "Offer first: Work"
    page.keyboard.press("Enter")
    page.get_by_role("status").wait_for()
    assert page.get_by_role("status").inner_text() == "Work is offered first from now on."
    assert "Work offered first" in region.locator("[aria-current=true]").inner_text()
    page.goto(site.request(site.client("Codex", BACK), BACK))
    assert page.get_by_label("Vault").locator("option:checked").inner_text() == "Work"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-GB", "ko-KR"])
def test_the_list_fits_and_can_be_read(site: Site, chromium: Browser, scheme: str, locale: str) -> None:
    dark = "dark" if scheme == "dark" else "light"
    context = chromium.new_context(viewport={"width": 320, "height": 740}, color_scheme=dark, locale=locale)
    context.set_default_timeout(10_000)
    page = context.new_page()
    for name in ("Unbrokenlongnameofavaultthatnobodyhasheardofandthatgoesonandon", "연구 노트"):
        vaults.add_vault(site.served.rt, site.served.owner(), name)
    page.goto(site.link())
    page.locator("[name=login]").fill("ada")
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/home")
    page.locator(".list button").first.click()
    page.wait_for_url("**/home?done=vault")
    for address in ("/home?done=vault", "/account"):
        page.goto(site.base + address)
        assert page.evaluate("document.documentElement.scrollWidth") <= 320
        assert page.evaluate(_FAINT) == []
        assert page.evaluate(_UNNAMED) == []
    context.close()
