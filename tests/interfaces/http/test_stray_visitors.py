"""Somebody opens an address in a browser that is for programs, or that is not there."""

from __future__ import annotations

import httpx2
import pytest

from dolmen.interfaces.http.web.language import LANGUAGES, words
from tests.interfaces.conftest import Serve, Served

BASE = "https://memory.example.com"
BROWSER = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.fixture
def hosted(serve: Serve) -> Served:
    return serve(public_url=BASE)


def opened(served: Served, path: str, **headers: str) -> httpx2.Response:
    return served.http.get(served.base + path, headers=BROWSER | headers)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("path", "status", "title"),
    [("/mcp", 401, "tools"), ("/mcp/kmem", 401, "tools"), ("/sse", 404, "nothing"), ("/mcp/core/x", 404, "nothing")],
)
def test_a_browser_is_told_what_the_address_is_for_and_where_to_go(
    hosted: Served, language: str, path: str, status: int, title: str
) -> None:
    answer = opened(hosted, path, **{"accept-language": language})
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("text/html")
    assert f"<h1>{words(language)[f'stray.{title}']}</h1>" in answer.text
    assert f"<code>{BASE}/mcp</code>" in answer.text
    assert 'href="/home"' in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert ("resource_metadata=" in answer.headers.get("www-authenticate", "")) is (status == 401)


def test_a_server_without_pages_says_which_setting_makes_there_be_some(served: Served) -> None:
    for path, status in (("/mcp", 405), ("/", 404)):
        answer = opened(served, path)
        assert answer.status_code == status
        assert f"<code>{served.base}/mcp</code>" in answer.text
        assert "DOLMEN_PUBLIC_URL" in answer.text
        assert 'action="/language"' not in answer.text
        assert "/home" not in answer.text
        assert opened(served, "/web/style.css").headers["content-type"].startswith("text/css")


def test_what_a_stranger_writes_into_an_address_is_no_markup(hosted: Served) -> None:
    answer = opened(hosted, '/x"><script>alert(1)</script>?y="><img src=x>')
    assert (answer.status_code, answer.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "<script" not in answer.text
    assert "<img" not in answer.text


def test_programs_are_answered_as_before(hosted: Served, served: Served) -> None:
    bearer = {"authorization": "Bearer dlm_unknown"}
    for server, headers in (
        (hosted, {"accept": "*/*"}),
        (hosted, {"accept": "application/json, text/event-stream"}),
        (hosted, {"accept": "text/event-stream"}),
        (hosted, BROWSER | bearer),
        (served, {"accept": "*/*"}),
    ):
        for path in ("/mcp", "/mcp/kmem", "/none"):
            answer = server.http.get(server.base + path, headers=headers)
            assert answer.headers["content-type"] == "application/json", (path, headers)
            assert answer.json()["error"]["fix"]
    for path in ("/mcp", "/none"):
        answer = hosted.http.post(hosted.base + path, headers=BROWSER, json={})
        assert answer.headers["content-type"] == "application/json"
    for path in ("/api/v1/none", "/.well-known/none"):
        assert opened(hosted, path).headers["content-type"] == "application/json", "what programs look for there"
