"""Signing in and deciding about a client, with a real browser, without scripts, on a narrow screen."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from dolmen.services.accounts import keys
from tests.web.conftest import PASSWORD, Site

pytestmark = pytest.mark.slow


@pytest.fixture
def client() -> Iterator[tuple[str, list[str]]]:
    """A program on this machine that waits for the browser to come back: its address, and what it was asked for."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_response(200)
            self.send_header("content-type", "text/plain")
            self.end_headers()
            self.wfile.write(b"You can close this window.")

        def log_message(self, *_: object) -> None:
            """Nothing on the terminal."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/callback", heard
    server.shutdown()
    thread.join()
    server.server_close()


def enter(site: Site, page: Page) -> None:
    page.goto(site.link())
    page.get_by_label("Login").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Continue").click()
    page.get_by_role("heading", name="You are signed in").wait_for()


def test_a_person_lets_a_client_in_from_the_first_link_to_the_way_back(
    site: Site, page: Page, client: tuple[str, list[str]]
) -> None:
    back, heard = client
    enter(site, page)
    page.get_by_role("button", name="Sign out").click()
    page.goto(site.request(site.client("Codex", back), back))
    page.get_by_label("Login").fill("ada")
    page.get_by_label("Password").fill("a wrong password")
    page.get_by_role("button", name="Sign in").click()
    assert "wrong" in page.get_by_role("alert").inner_text()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("heading", name="Let Codex in?").wait_for()
    assert "a program on your own computer" in page.content()
    page.get_by_label("Read and write").check()
    page.get_by_label("Name of the agent").fill("Codex at home")
    page.get_by_role("button", name="Allow").click()
    page.get_by_text("You can close this window.").wait_for()
    answer = parse_qs(urlsplit(heard[0]).query)
    assert answer["state"] == ["s"]
    assert answer["iss"] == [site.base]
    assert answer["code"][0].startswith("dlo_")
    [connection] = keys(site.served.rt, site.served.owner())
    assert (connection.agent, connection.mode) == ("codex-at-home", "write")


def test_saying_no_makes_nothing(site: Site, page: Page, client: tuple[str, list[str]]) -> None:
    back, heard = client
    enter(site, page)
    page.goto(site.request(site.client("Codex", back), back))
    page.get_by_role("button", name="Deny").click()
    page.get_by_text("You can close this window.").wait_for()
    assert parse_qs(urlsplit(heard[0]).query)["error"] == ["access_denied"]
    assert keys(site.served.rt, site.served.owner()) == []


def test_it_works_by_the_keyboard_alone(site: Site, page: Page, client: tuple[str, list[str]]) -> None:
    back, heard = client
    enter(site, page)
    page.goto(site.request(site.client("Codex", back), back))
    for _ in range(3):  # past the two languages
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.get_by_label("Read and write").is_checked()
    for _ in range(6):
        page.keyboard.press("Tab")
    assert page.locator("button:focus").inner_text() == "Allow"
    page.keyboard.press("Enter")
    page.get_by_text("You can close this window.").wait_for()
    assert "code" in parse_qs(urlsplit(heard[0]).query)
    [connection] = keys(site.served.rt, site.served.owner())
    assert connection.mode == "write"


@pytest.mark.parametrize("width", [320, 360, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("locale", ["en-GB", "ko-KR"])
def test_every_page_fits_every_screen(site: Site, chromium: Browser, width: int, scheme: str, locale: str) -> None:
    """Nothing is cut off to the side, also with long names; and the text stands out from its ground (WCAG AA)."""
    back = "https://a-very-long-name-of-a-host-that-nobody-has-heard-of.company.example/callback"
    context = chromium.new_context(
        viewport={"width": width, "height": 740},
        color_scheme="dark" if scheme == "dark" else "light",
        locale=locale,
    )
    context.set_default_timeout(10_000)
    page = context.new_page()
    name = "Unbrokenlongnameofaprogramthatnobodyhasheardofandthatgoesonandon" * 1
    addresses = [f"{site.base}/sign-in", site.link(), site.request(site.client(name, back), back, "read")]
    page.goto(addresses[1])
    page.locator("[name=login]").fill("ada")
    page.locator("[name=password]").fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/home")
    addresses[1] = site.link()
    for address in addresses:
        page.goto(address)
        assert page.locator("h1").count() == 1
        assert page.evaluate("document.documentElement.scrollWidth") <= width, address
        assert page.evaluate(_FAINT) == [], address
        assert page.evaluate(_UNNAMED) == [], address
    assert page.locator("html").get_attribute("lang") == locale[:2]
    context.close()


_FAINT = """() => {
  const rgb = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = v => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = element => {
    for (let e = element; e; e = e.parentElement) {
      const color = rgb(getComputedStyle(e).backgroundColor);
      if (color.length === 3 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll('main *')) {
    if (![...element.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    if (element.closest('option')) continue;
    const [a, b] = [light(rgb(getComputedStyle(element).color)), light(ground(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(element.outerHTML.slice(0, 80));
  }
  return faint;
}"""
"""Texts whose contrast is under 4.5 to 1."""

_UNNAMED = """() => [...document.querySelectorAll('input:not([type=hidden]), select, button')]
  .filter(e => !(e.labels && e.labels.length) && !e.textContent.trim()).map(e => e.outerHTML)"""
"""Fields and buttons that a screen reader has no name for."""
