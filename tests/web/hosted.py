"""A hosted client that signs in: the `mcp` Python client in a thread of its own, and what a person does for it in a
browser."""

from __future__ import annotations

import ssl
import threading
from dataclasses import dataclass, field
from queue import Queue
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import anyio.to_thread
import httpx2
from mcp.client import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from playwright.sync_api import Page

WAIT = 20.0


@dataclass
class Kept:
    """What the client keeps."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class Hosted:
    """Connects to `url`, returns to `back`; `registered` is an id that it has already, `document` the address of what
    it says of itself."""

    url: str
    back: str
    registered: str = ""
    document: str = ""
    tls: ssl.SSLContext | None = None
    kept: Kept = field(default_factory=Kept)
    tools: list[str] = field(default_factory=list)
    failed: BaseException | None = None
    _to_browser: Queue[str] = field(default_factory=Queue)
    _from_browser: Queue[str] = field(default_factory=Queue)

    def __enter__(self) -> Hosted:
        if self.registered:
            wish: dict[str, Any] = {"redirect_uris": [self.back], "token_endpoint_auth_method": "none"}
            self.kept.client = OAuthClientInformationFull(client_id=self.registered, **wish)
        self._thread = threading.Thread(target=self._run, name="hosted client")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._from_browser.put("")  # ends one that still waits
        self._thread.join(WAIT)

    def address(self) -> str:
        """Where it sends the browser."""
        return self._to_browser.get(timeout=WAIT)

    def returned(self, location: str) -> list[str]:
        """The browser came back with this address; the tools that the client then sees."""
        self._from_browser.put(location)
        self._thread.join(WAIT)
        assert self.failed is None, self.failed
        return self.tools

    def _run(self) -> None:
        try:
            anyio.run(self._connect)
        except BaseException as error:  # told to the test that waits
            self.failed = error

    async def _connect(self) -> None:
        metadata = OAuthClientMetadata.model_validate({"client_name": "Hosted", "redirect_uris": [self.back]})
        signing_in = OAuthClientProvider(
            self.url, metadata, self.kept, self._send, self._come_back, client_metadata_url=self.document or None
        )
        async with (
            httpx2.AsyncClient(auth=signing_in, verify=self.tls or True, timeout=WAIT) as http,
            Client(streamable_http_client(self.url, http_client=http)) as client,
        ):
            self.tools = [tool.name for tool in (await client.list_tools()).tools]

    async def _send(self, address: str) -> None:
        self._to_browser.put(address)

    async def _come_back(self) -> AuthorizationCodeResult:
        location = await anyio.to_thread.run_sync(self._from_browser.get)
        told = {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
        return AuthorizationCodeResult(code=told["code"], state=told.get("state"), iss=told.get("iss"))


def allow(page: Page, address: str) -> tuple[str, list[str], list[str]]:
    """The person allows what the page at an address asks for.

    Returns:
        Where the browser was sent, every address that it then asked for, and what its console complained of.
    """
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.goto(address)
    with page.expect_response(lambda one: one.request.method == "POST" and "/oauth/authorize" in one.url) as answered:
        page.get_by_role("button", name="Allow").click(no_wait_after=True)
    location = answered.value.all_headers()["location"]
    page.wait_for_timeout(300)  # for the browser to go there, or to refuse to
    return location, asked, complaints
