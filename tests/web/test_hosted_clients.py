"""A hosted client signs in from end to end, for each kind of address that clients return to: the `mcp` Python client,
a person, and a real browser between them."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from dolmen.services.accounts import keys
from tests.web.conftest import Site
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
