"""A real browser, and a server with a public address that it reaches.

Playwright drives the system's Chromium (`.ci/run` installs it). Without one these tests are not collected, and the head
of the report says so: the same pages are tested without a browser in tests/interfaces/http.
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from dolmen.interfaces.http.options import HttpOptions
from dolmen.services import people
from tests.interfaces.conftest import Served, serving

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
PASSWORD = "four words without sense"

collect_ignore_glob = [] if CHROMIUM else ["test_*.py"]


def pytest_report_header() -> str:
    return f"browser: {CHROMIUM or 'none, so the pages are not tested in one'}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:  # of the whole run
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.slow)
    # The browser keeps an event loop running in this thread until the end, and no other one starts beside it.
    items.sort(key=lambda item: item.path.is_relative_to(Path(__file__).parent))


@dataclass
class Site:
    """The server, and what a test types into the browser's address line."""

    served: Served

    @property
    def base(self) -> str:
        return self.served.base

    def link(self) -> str:
        owner = self.served.owner()
        return f"{self.base}/enter/{people.entry_link(self.served.rt, owner, owner.person)}"

    def client(self, name: str, back: str) -> str:
        sent = {"client_name": name, "redirect_uris": [back]}
        return str(self.served.http.post(f"{self.base}/oauth/register", json=sent).json()["client_id"])

    def request(self, client: str, back: str, scope: str = "read suggest write") -> str:
        fields = {
            "client_id": client, "redirect_uri": back, "response_type": "code", "state": "s", "scope": scope,
            "code_challenge": "x" * 43, "code_challenge_method": "S256",
        }  # fmt: skip
        return f"{self.base}/oauth/authorize?{urlencode(fields)}"


@contextmanager
def standing(database: str) -> Iterator[Site]:
    """A server that knows the address at which it is reached."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    options = HttpOptions(public_url=f"http://127.0.0.1:{port}")
    with serving(database, options, port, embedder="none") as served:
        yield Site(served)


@pytest.fixture
def site(new_store: Callable[[str], str], cheap_passwords: None) -> Iterator[Site]:
    with standing(new_store("sqlite")) as found:
        yield found


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Browser) -> Iterator[Page]:
    """A browser window without scripts: the pages need none."""
    context = chromium.new_context(java_script_enabled=False, viewport={"width": 360, "height": 740})
    context.set_default_timeout(10_000)
    opened = context.new_page()
    yield opened
    context.close()
