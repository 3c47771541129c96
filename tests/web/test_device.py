"""Letting a machine in with a code, in a real browser, without scripts, on a narrow screen."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from dolmen.domain.oauth import DEVICE_GRANT
from dolmen.services.accounts import keys
from tests.web.conftest import PASSWORD, Site
from tests.web.test_sign_in import _FAINT, _UNNAMED, enter

pytestmark = pytest.mark.slow


def waiting(site: Site, name: str = "Dolmen on box") -> tuple[str, dict[str, Any]]:
    """A machine that waits: its client, and its codes."""
    wish = {"client_name": name, "grant_types": [DEVICE_GRANT, "refresh_token"]}
    client = site.served.http.post(f"{site.base}/oauth/register", json=wish).json()["client_id"]
    codes = site.served.http.post(f"{site.base}/oauth/device_authorization", data={"client_id": client}).json()
    return client, codes


def polled(site: Site, client: str, codes: dict[str, Any]) -> dict[str, Any]:
    form = {"grant_type": DEVICE_GRANT, "device_code": codes["device_code"], "client_id": client}
    found: dict[str, Any] = site.served.http.post(f"{site.base}/oauth/token", data=form).json()
    return found


def test_a_person_types_the_code_and_lets_the_machine_in(site: Site, page: Page) -> None:
    enter(site, page)
    client, codes = waiting(site)
    page.goto(codes["verification_uri"])
    page.get_by_label("Code").fill("BBBB BBBB")
    page.keyboard.press("Enter")
    assert "No device waits" in page.get_by_role("alert").inner_text()
    page.get_by_label("Code").fill(codes["user_code"].lower().replace("-", ""))
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="Let Dolmen on box in?").wait_for()
    assert codes["user_code"] in page.content()
    page.get_by_label("Read and write").check()
    page.get_by_role("button", name="Allow").click()
    page.get_by_role("heading", name="The device is let in").wait_for()
    assert polled(site, client, codes)["scope"] == "read suggest write"
    [connection] = keys(site.served.rt, site.served.owner())
    assert (connection.agent, connection.mode) == ("dolmen-on-box", "write")


def test_a_link_leads_by_the_sign_in_to_the_comparison(site: Site, page: Page) -> None:
    enter(site, page)
    page.context.clear_cookies()
    client, codes = waiting(site)
    page.goto(codes["verification_uri_complete"])
    page.get_by_label("Login").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    assert page.get_by_label("Code").input_value() == codes["user_code"]
    page.get_by_role("button", name="It shows the same code").click()
    page.get_by_role("button", name="Deny").click()
    page.get_by_role("heading", name="The device is not let in").wait_for()
    assert polled(site, client, codes)["error"] == "access_denied"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-GB", "ko-KR"])
def test_the_pages_fit_and_can_be_read(site: Site, chromium: Browser, scheme: str, locale: str) -> None:
    """Nothing is cut off to the side, texts stand out (WCAG AA), and every field has a name."""
    dark = "dark" if scheme == "dark" else "light"
    context = chromium.new_context(viewport={"width": 320, "height": 740}, color_scheme=dark, locale=locale)
    context.set_default_timeout(10_000)
    page = context.new_page()
    page.goto(site.link())
    page.locator("[name=login]").fill("ada")
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/home")
    _, codes = waiting(site, "Unbrokenlongnameofaprogramthatnobodyhasheardofandthatgoesonandon")
    page.goto(codes["verification_uri_complete"])
    for step in ("entry", "consent", "done"):
        assert page.locator("h1").count() == 1, step
        assert page.evaluate("document.documentElement.scrollWidth") <= 320, step
        assert page.evaluate(_FAINT) == [], step
        assert page.evaluate(_UNNAMED) == [], step
        if step == "entry":
            page.locator("button.primary").click()
            page.locator("[name=answer]").first.wait_for()
        elif step == "consent":
            page.locator("[name=answer][value=allow]").click()
            page.locator("[name=answer]").first.wait_for(state="detached")
    context.close()
