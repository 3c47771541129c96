"""The official suite's scenarios for authorization servers, on the product: its metadata, and a sign-in in which a
person's browser goes from the suite's address to the page, answers it, and is sent back. So does the Inspector's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx2

from bench.conformance import packages, servers

SCENARIOS = ("authorization-server-metadata-endpoint", "authorization-code-grant")
"""Every one that `conformance list` has for authorization servers. Those under `auth/` judge clients."""
REVISIONS = ("2025-11-25", "2026-07-28")
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
    with servers.product(environment, keys=True, public=True) as url, httpx2.Client(follow_redirects=False) as browser:
        base = url.removesuffix("/mcp")
        _enter(environment, base, browser)
        return [_judged(base, browser, revision) for revision in REVISIONS]


def inspect(home: Path) -> str:
    """What the Inspector's command line sees after it signed in; `signed in, 13 tools` is what should happen."""
    environment = packages.environment(home)
    with servers.product(environment, keys=True, public=True) as url, httpx2.Client(follow_redirects=False) as browser:
        _enter(environment, url.removesuffix("/mcp"), browser)
        program = [str(packages.BIN / "node"), str(packages.BIN / "mcp-inspector"), "--cli", "--format", "json"]
        command = [*program, "--server-url", url, "--transport", "http", "--method", "tools/list"]
        # It wants a terminal, or to be told that it may open a browser; that one does nothing here.
        opens = {**environment, "MCP_AUTO_OPEN_ENABLED": "true", "BROWSER": "true"}
        said = _with_a_browser(command, opens, browser)
    found = re.search(r'^\{"result".*$', said, re.M)
    return f"signed in, {len(json.loads(found[0])['result']['tools'])} tools" if found else said[-300:]


def _with_a_browser(command: list[str], environment: Mapping[str, str] | None, browser: httpx2.Client) -> str:
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


def _judged(base: str, browser: httpx2.Client, revision: str) -> Judged:
    port = servers.free_port()
    back = f"http://127.0.0.1:{port}/callback"
    wish = {"client_name": "Conformance suite", "redirect_uris": [back]}
    client = browser.post(f"{base}/oauth/register", json=wish).json()["client_id"]
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


def _enter(environment: Mapping[str, str], base: str, browser: httpx2.Client) -> None:
    """The owner chooses a password by the link that the command line prints."""
    command = [sys.executable, "-m", "dolmen", "person", "link", "--json"]
    named = {**environment, "DOLMEN_PUBLIC_URL": base}
    said = subprocess.run(command, env=named, check=True, capture_output=True, text=True).stdout
    link = urlsplit(json.loads(said)["link"]).path
    answer = browser.post(base + link, data={"login": "owner", "password": PASSWORD})
    if answer.status_code != 303:
        raise SystemExit(f"The link leads nowhere: {answer.status_code}\n{answer.text}")


def _allow(browser: httpx2.Client, address: str) -> None:
    """What the person does: looks at the page, allows, and is sent back to the suite."""
    shown = browser.get(address)
    token = re.search(r'name="token" value="([^"]+)"', shown.text)
    if token is None:
        raise SystemExit(f"No page to answer: {shown.status_code}\n{shown.text}")
    form = {"token": token[1], "agent": "suite", "mode": "suggest", "toolset": "core", "days": "7", "answer": "allow"}
    browser.get(browser.post(address, data=form).headers["location"])
