"""A hosted client signs in from end to end, for each kind of address that clients return to: the `mcp` Python client,
a person, and a real browser between them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from dolmen.interfaces.http.oauth import routes
from dolmen.services.accounts import keys
from tests.interfaces.http.test_oauth_fetching import DOCUMENT, Authority, fetcher, serving
from tests.web.conftest import Site, standing
from tests.web.hosted import Hosted, allow
from tests.web.test_sign_in import enter

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("back", "registered"),
    [
        ("http://127.0.0.1:33418/callback", ""),
        ("http://localhost:9/callback", ""),
        ("http://localhost:33419/callback", "http://127.0.0.1/callback"),  # B078, RFC 8252 §7.3: any port, either name
        ("http://[::1]:33420/callback", ""),
        ("http://localhost/callback?from=dolmen", ""),
        ("https://claude.ai/api/mcp/auth_callback", ""),
        ("cursor://anysphere.cursor-mcp/oauth/callback", ""),
        ("vscode://vscode.github-authentication/did-authenticate", ""),
        ("com.example.app:/oauth", ""),
    ],
)
def test_a_client_signs_in_and_sees_its_tools(site: Site, page: Page, back: str, registered: str) -> None:
    enter(site, page)
    known = site.client("Hosted", registered) if registered else ""
    with Hosted(f"{site.base}/mcp", back, known) as client:
        location, asked, complaints = allow(page, client.address())
        assert location.startswith(back)
        assert complaints == [line for line in complaints if "Content Security Policy" not in line]
        if back.startswith("http"):
            assert location in asked, complaints
        assert "recall" in client.returned(location)
    assert client.kept.tokens is not None
    assert client.kept.tokens.scope == "read suggest"
    [connection] = keys(site.served.rt, site.served.owner())
    assert (connection.agent, connection.mode) == ("hosted", "suggest")


@pytest.mark.usefixtures("cheap_passwords")
def test_a_client_that_is_known_by_its_document_signs_in_and_registers_nothing(
    new_store: Callable[[str], str], page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """draft-ietf-oauth-client-id-metadata-document: the page says where the document is, whose address is the id."""
    back = "http://127.0.0.1:33421/callback"
    said = {
        "client_id": DOCUMENT,
        "client_name": "Editor",
        "redirect_uris": ["http://127.0.0.1/callback"],
        "token_endpoint_auth_method": "none",
    }
    answer = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n" + json.dumps(said).encode()
    )
    authority = Authority(tmp_path)
    with serving(authority, answer) as (port, heard):
        monkeypatch.setattr(routes, "Fetcher", lambda: fetcher(authority, port))
        with standing(new_store("sqlite")) as site:
            enter(site, page)
            with Hosted(f"{site.base}/mcp", back, document=DOCUMENT) as client:
                address = client.address()
                page.goto(address)
                page.get_by_role("heading", name="Let Editor in?").wait_for()
                assert DOCUMENT in page.inner_text("main")
                location, _, _ = allow(page, address)
                assert "recall" in client.returned(location)
            assert len(heard) == 1
            assert client.kept.client is not None
            assert client.kept.client.client_id == DOCUMENT
            [connection] = keys(site.served.rt, site.served.owner())
            assert connection.agent == "editor"


@pytest.mark.parametrize(("path", "tool"), [("/mcp/openai", "search"), ("/mcp/kenfold", "get_context")])
def test_a_client_of_another_set_of_tools_signs_in_at_its_path(site: Site, page: Page, path: str, tool: str) -> None:
    """RFC 9728 §3.1, RFC 8707: the resource is that path, and the page proposes those tools."""
    enter(site, page)
    with Hosted(f"{site.base}{path}", "http://localhost:33422/callback") as client:
        location, _, _ = allow(page, client.address())
        assert tool in client.returned(location)
    [connection] = keys(site.served.rt, site.served.owner())
    assert f"/mcp/{connection.toolset}" == path
