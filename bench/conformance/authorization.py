"""The official suite's scenarios for authorization servers, on the product: its metadata, and a sign-in in which a
person's browser, Chromium, goes from the suite's address to the page, answers it, and is sent back. So does the
Inspector's."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx2
from playwright.sync_api import Page, sync_playwright

from bench.conformance import packages, servers

SCENARIOS = ("authorization-server-metadata-endpoint", "authorization-code-grant")
"""Every one that `conformance list` has for authorization servers. Those under `auth/` judge clients."""
REVISIONS = ("2025-11-25", "2026-07-28")
WAITS_AT = ("127.0.0.1", "localhost", "[::1]")
PASSWORD = "four words without sense"
_LINE = re.compile(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", re.M)
_ADDRESS = re.compile(r"(http\S+/oauth/authorize\?\S+)$")


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of the scenarios at one revision."""

    revision: str
    passed: tuple[str, ...]
    failed: tuple[str, ...]
    checks: int

    @property
    def conforms(self) -> bool:
        return not self.failed and set(self.passed) == set(SCENARIOS)


def judge(home: Path) -> list[Judged]:
    environment = packages.environment(home)
    with servers.product(environment, keys=True, public=True) as url, _browser() as browser:
        base = url.removesuffix("/mcp")
        _enter(environment, base, browser)
        return [_judged(base, browser, revision) for revision in REVISIONS]


def inspect(home: Path) -> dict[str, str]:
    """What the Inspector's command line sees after it signed in, for each name of this machine that it can wait at;
    `signed in, 13 tools` is what should happen. It deletes what it kept before, and revokes it."""
    environment = packages.environment(home)
    with servers.product(environment, keys=True, public=True) as url, _browser() as browser:
        _enter(environment, url.removesuffix("/mcp"), browser)
        return {
            name: _inspected(url, f"http://{name}:{servers.free_port()}", environment, browser) for name in WAITS_AT
        }


def _inspected(url: str, back: str, environment: Mapping[str, str], browser: Page) -> str:
    program = [str(packages.BIN / "node"), str(packages.BIN / "mcp-inspector"), "--cli", "--format", "json"]
    server = ["--server-url", url, "--transport", "http", "--relogin", "--callback-url", f"{back}/oauth/callback"]
    # It wants a terminal, or to be told that it may open a browser; that one does nothing here.
    opens = {**environment, "MCP_AUTO_OPEN_ENABLED": "true", "BROWSER": "true"}
    said = _with_a_browser([*program, *server, "--method", "tools/list"], opens, browser)
    found = re.search(r'^\{"result".*$', said, re.M)
    return f"signed in, {len(json.loads(found[0])['result']['tools'])} tools" if found else said[-300:]


def _with_a_browser(command: list[str], environment: Mapping[str, str] | None, browser: Page) -> str:
    """What a program says that prints the address to sign in at, and waits for the browser to come back."""
    said = ""
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            said += line
            if found := _ADDRESS.search(line.strip()):
                _allow(browser, found[1])
    return said


def _judged(base: str, browser: Page, revision: str) -> Judged:
    port = servers.free_port()
    back = f"http://127.0.0.1:{port}/callback"
    wish = {"client_name": "Conformance suite", "redirect_uris": [back]}
    client = httpx2.post(f"{base}/oauth/register", json=wish).json()["client_id"]
    program = packages.FOLDER / "node_modules" / packages.SUITE / "dist" / "index.js"
    command = [
        str(packages.BIN / "node"), str(program), "authorization", "--url", base, "--client-id", client,
        "--resource", f"{base}/mcp", "--port", str(port), "--spec-version", revision,
    ]  # fmt: skip
    said = _with_a_browser(command, None, browser)
    lines = [(name, int(passed), int(failed)) for name, passed, failed in _LINE.findall(said)]
    if not lines:
        raise SystemExit(f"The suite said nothing that is understood here:\n{said}")
    return Judged(
        revision,
        tuple(name for name, _, failed in lines if not failed),
        tuple(name for name, _, failed in lines if failed),
        sum(passed for _, passed, _ in lines),
    )


def _enter(environment: Mapping[str, str], base: str, browser: Page) -> None:
    """The owner chooses a password by the link that the command line prints."""
    command = [sys.executable, "-m", "dolmen", "person", "link", "--json"]
    named = {**environment, "DOLMEN_PUBLIC_URL": base}
    said = subprocess.run(command, env=named, check=True, capture_output=True, text=True).stdout
    browser.goto(json.loads(said)["link"])
    browser.get_by_label("Login").fill("owner")
    browser.get_by_label("Password").fill(PASSWORD)
    browser.get_by_role("button", name="Continue").click()
    browser.get_by_role("heading", name="You are signed in").wait_for()


def _allow(browser: Page, address: str) -> None:
    """What the person does: looks at the page, allows, and is sent back to the program that asked."""
    back = parse_qs(urlsplit(address).query)["redirect_uri"][0]
    browser.goto(address)
    with browser.expect_request(lambda request: request.url.startswith(f"{back}?code=")):
        browser.get_by_role("button", name="Allow").click(no_wait_after=True)


@contextmanager
def _browser() -> Iterator[Page]:
    """A window of the system's Chromium, as a person has it who lets no page run scripts."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        raise SystemExit("There is no Chromium here for a person to sign in with: apt-get install chromium")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        yield started.new_context(java_script_enabled=False, locale="en-GB").new_page()
        started.close()
