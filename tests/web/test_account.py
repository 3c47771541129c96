"""One-time codes, passkeys and one's own account, with a real browser: without scripts wherever that is possible."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, CDPSession, Page

from dolmen.domain import totp
from dolmen.domain.values import SECOND
from dolmen.services.accounts import keys
from tests.web.conftest import PASSWORD, Site
from tests.web.test_sign_in import _FAINT, _UNNAMED, enter

pytestmark = pytest.mark.slow

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


@pytest.fixture
def scripted(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser that runs scripts."""
    context = chromium.new_context(viewport={"width": 360, "height": 740})
    context.set_default_timeout(10_000)
    yield context
    context.close()


@pytest.fixture
def key(scripted: BrowserContext) -> tuple[Page, CDPSession, str]:
    """A window, and an authenticator that is plugged into it."""
    page = scripted.new_page()
    devtools = scripted.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    made = devtools.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    return page, devtools, made["authenticatorId"]


def code(secret: str, later: int = 0) -> str:
    """What the app shows, or will show."""
    return totp.code_at(totp.from_text("".join(secret.split())), time.time_ns() // 1000 + later * 30 * SECOND)


def at_name(site: Site, path: str) -> str:
    return site.base.replace("127.0.0.1", "localhost") + path


def sign_in(page: Page, site: Site, base: str = "") -> None:
    page.goto(f"{base or site.base}/sign-in")
    page.get_by_label("Login").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()


def sign_out(page: Page) -> None:
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.get_by_role("heading", name="Sign in").wait_for()


def turn_codes_on(page: Page, site: Site) -> tuple[str, list[str]]:
    """The secret, and the recovery codes."""
    page.goto(f"{site.base}/account")
    page.get_by_role("button", name="Turn one-time codes on").click()
    secret = page.locator(".secret").inner_text()
    page.get_by_label("The code that the app shows now").fill("000000")
    page.get_by_role("button", name="Turn on").click()
    assert "not the code" in page.get_by_role("alert").inner_text()
    assert page.locator(".secret").inner_text() == secret
    page.get_by_label("The code that the app shows now").fill(code(secret))
    page.get_by_role("button", name="Turn on").click()
    page.get_by_role("heading", name="Keep your recovery codes").wait_for()
    return secret, page.locator(".recovery code").all_inner_texts()


def add_passkey(page: Page, site: Site, name: str = "laptop") -> None:
    page.goto(at_name(site, "/account"))
    page.get_by_label("Name of the passkey").fill(name)
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_text("The passkey is added").wait_for()


def test_codes_are_turned_on_asked_for_recovered_from_and_turned_off(site: Site, page: Page) -> None:
    enter(site, page)
    secret, recovery = turn_codes_on(page, site)
    assert len(set(recovery)) == 10
    page.get_by_role("link", name="I have kept them").click()
    assert "Recovery codes left: 10" in page.content()
    sign_out(page)
    sign_in(page, site)
    page.get_by_role("heading", name="Enter a code").wait_for()
    page.goto(f"{site.base}/account")
    page.get_by_role("heading", name="Sign in").wait_for()
    page.goto(f"{site.base}/sign-in/code")
    page.get_by_label("Code").fill("000000")
    page.get_by_role("button", name="Continue").click()
    assert "not the code" in page.get_by_role("alert").inner_text()
    page.get_by_label("Code").fill(code(secret, later=1))
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="You are signed in").wait_for()
    page.goto(f"{site.base}/account")
    sign_out(page)
    sign_in(page, site)
    page.get_by_label("Code").fill(recovery[0].upper())
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="You are signed in").wait_for()
    page.goto(f"{site.base}/account")
    page.locator("summary", has_text="Turn one-time codes off").click()
    off = page.locator("form", has=page.get_by_role("button", name="Turn one-time codes off"))
    off.get_by_label("Password").fill(PASSWORD)
    off.get_by_label("Code of the app").fill(recovery[1])
    off.get_by_role("button").click()
    page.get_by_text("One-time codes are off.").wait_for()
    sign_out(page)
    sign_in(page, site)
    page.get_by_role("heading", name="You are signed in").wait_for()


def test_a_passkey_is_added_and_signs_in_without_a_name(site: Site, key: tuple[Page, CDPSession, str]) -> None:
    page, devtools, authenticator = key
    enter(site, page)
    page.goto(f"{site.base}/account")
    page.get_by_role("link", name="http://localhost").click()  # a passkey needs a name
    page.get_by_role("heading", name="Sign in").wait_for()
    sign_in(page, site, at_name(site, ""))
    add_passkey(page, site)
    [credential] = stored(devtools, authenticator)
    assert credential["isResidentCredential"]
    assert credential["rpId"] == "localhost"
    sign_out(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("heading", name="You are signed in").wait_for()
    page.goto(at_name(site, "/account"))
    assert "used 20" in page.locator("li", has_text="laptop").inner_text()
    page.get_by_label("Name of the passkey").fill("again")
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_text("has a passkey for this server already").wait_for()


def test_a_passkey_asks_for_no_code_and_may_be_the_only_way_in(site: Site, key: tuple[Page, CDPSession, str]) -> None:
    page, _, _ = key
    enter(site, page)
    sign_in(page, site, at_name(site, ""))
    add_passkey(page, site)
    page.locator("summary", has_text="Remove the password").click()
    page.get_by_role("button", name="Remove the password").click()
    page.get_by_text("You have no password any more.").wait_for()
    assert page.get_by_role("button", name="Remove laptop").count() == 0
    sign_out(page)
    sign_in(page, site, at_name(site, ""))
    assert "wrong" in page.get_by_role("alert").inner_text()
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("heading", name="You are signed in").wait_for()


def test_who_is_not_verified_by_the_authenticator_does_not_come_in(
    site: Site, key: tuple[Page, CDPSession, str]
) -> None:
    page, devtools, authenticator = key
    enter(site, page)
    sign_in(page, site, at_name(site, ""))
    add_passkey(page, site)
    sign_out(page)
    devtools.send("WebAuthn.setUserVerified", {"authenticatorId": authenticator, "isUserVerified": False})
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_text("did not work, or was cancelled").wait_for()
    page.goto(at_name(site, "/account"))
    page.get_by_role("heading", name="Sign in").wait_for()


def test_a_copied_authenticator_is_refused_and_logged(
    site: Site, key: tuple[Page, CDPSession, str], caplog: pytest.LogCaptureFixture
) -> None:
    """Its counter has stayed behind."""
    page, devtools, authenticator = key
    enter(site, page)
    sign_in(page, site, at_name(site, ""))
    add_passkey(page, site)
    [copy] = stored(devtools, authenticator)
    sign_out(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("heading", name="You are signed in").wait_for()
    page.goto(at_name(site, "/account"))
    sign_out(page)
    devtools.send("WebAuthn.clearCredentials", {"authenticatorId": authenticator})
    devtools.send("WebAuthn.addCredential", {"authenticatorId": authenticator, "credential": copy})
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_text("That passkey does not open this server.").wait_for()
    assert any("reason=passkey-counter" in record.getMessage() for record in caplog.records)


def test_a_passkey_that_was_removed_opens_nothing(site: Site, key: tuple[Page, CDPSession, str]) -> None:
    page, _, _ = key
    enter(site, page)
    sign_in(page, site, at_name(site, ""))
    add_passkey(page, site)
    page.get_by_role("button", name="Remove laptop").click()
    page.get_by_text("The passkey is removed.").wait_for()
    sign_out(page)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_text("That passkey does not open this server.").wait_for()


def test_without_a_script_the_password_form_stands_alone(site: Site, page: Page) -> None:
    enter(site, page)
    page.goto(at_name(site, "/sign-in"))
    assert page.get_by_role("button", name="Sign in with a passkey").count() == 0
    sign_in(page, site, at_name(site, ""))
    page.goto(at_name(site, "/account"))
    assert page.get_by_role("button", name="Add a passkey").count() == 0
    assert "needs JavaScript" in page.locator("noscript").inner_text()


def test_browsers_and_connections_are_listed_and_ended(site: Site, page: Page, scripted: BrowserContext) -> None:
    enter(site, page)
    other = scripted.new_page()
    sign_in(other, site)
    other.get_by_role("heading", name="You are signed in").wait_for()
    site.served.key("codex")
    page.goto(f"{site.base}/account")
    lines = page.locator("section", has=page.get_by_role("heading", name="Where you are signed in")).locator("li")
    assert lines.count() == 2
    assert "Chrome · Linux" in lines.first.inner_text()
    page.get_by_role("button", name="End Chrome · Linux").click()
    page.get_by_text("Signed out there.").wait_for()
    other.goto(f"{site.base}/account")
    other.get_by_role("heading", name="Sign in").wait_for()
    page.get_by_role("button", name="End codex").click()
    page.get_by_text("The connection has ended.").wait_for()
    [connection] = keys(site.served.rt, site.served.owner())
    assert connection.revoked_at is not None


def test_name_and_password_are_changed_by_the_keyboard_alone(site: Site, page: Page) -> None:
    enter(site, page)
    page.goto(f"{site.base}/account")
    page.get_by_label("What others see").focus()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("Ada Lovelace")
    page.keyboard.press("Enter")
    page.get_by_text("Your name is changed.").wait_for()
    assert "Ada Lovelace, login ada" in page.content()
    page.locator("summary", has_text="Change the password").focus()
    for typed in ("Enter", "Tab", "not my password", "Tab", "other words without sense", "Enter"):
        if typed in ("Enter", "Tab"):
            page.keyboard.press(typed)
        else:
            page.keyboard.type(typed)
    page.get_by_role("alert").wait_for()
    assert page.get_by_label("Password until now").is_visible()  # what was opened stays open
    page.locator("summary", has_text="Change the password").focus()
    for typed in ("Tab", PASSWORD, "Tab", "other words without sense", "Enter"):
        if typed in ("Enter", "Tab"):
            page.keyboard.press(typed)
        else:
            page.keyboard.type(typed)
    page.get_by_text("Your password is changed").wait_for()
    sign_out(page)
    sign_in(page, site)
    assert "wrong" in page.get_by_role("alert").inner_text()


@pytest.mark.parametrize("width", [320, 360, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-GB", "ko-KR"])
def test_every_page_of_the_account_fits_every_screen(
    site: Site, chromium: Browser, width: int, scheme: Any, locale: str
) -> None:
    context = chromium.new_context(viewport={"width": width, "height": 740}, color_scheme=scheme, locale=locale)
    context.set_default_timeout(10_000)
    page = context.new_page()
    page.goto(site.link())
    page.locator("[name=login]").fill("a-long-login-without-any-place-to-break-it@example.example")
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/home")
    site.served.key("an-agent-with-a-long-name-that-has-no-place-to-break", label="of many words " * 5)
    page.goto(f"{site.base}/account")
    fits(page, width)
    page.locator("[name=do][value=codes] ~ button").click()
    page.locator(".secret").wait_for()
    fits(page, width)
    secret = page.locator(".secret").inner_text()
    page.locator("[name=code]").fill(code(secret))
    page.keyboard.press("Enter")
    page.locator(".recovery").wait_for()
    fits(page, width)
    page.goto(f"{site.base}/account")
    for closed in page.locator("summary").all():
        closed.click()
    fits(page, width)
    page.goto(f"{site.base}/sign-in")
    page.locator("[name=login]").fill("a-long-login-without-any-place-to-break-it@example.example")
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/sign-in/code")
    fits(page, width)
    assert page.locator("html").get_attribute("lang") == locale[:2]
    context.close()


def fits(page: Page, width: int) -> None:
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
    assert page.evaluate(_FAINT) == [], page.url
    assert page.evaluate(_UNNAMED) == [], page.url


def stored(devtools: CDPSession, authenticator: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = devtools.send("WebAuthn.getCredentials", {"authenticatorId": authenticator})[
        "credentials"
    ]
    return found
