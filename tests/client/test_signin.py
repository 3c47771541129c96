"""Signing in from a machine without a browser to servers that lie, are busy, or offer nothing."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from dolmen.client.signin import asking, finding, kept
from dolmen.domain.errors import DolmenError


@pytest.fixture(autouse=True)
def _nobody_is_signed_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


class Stranger:
    """A server that says what it is told to."""

    def __init__(self) -> None:
        self.says: dict[str, tuple[int, dict[str, str], Any]] = {}
        stranger = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.rfile.read(int(self.headers.get("content-length") or 0))
                status, headers, body = stranger.says.get(self.path, (404, {}, {}))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            do_POST = do_GET

            def log_message(self, *_: object) -> None:
                """Nothing on the terminal."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.base = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,))
        self.thread.start()

    def honest(self) -> None:
        self.says = {
            "/mcp": (401, {"WWW-Authenticate": "Bearer"}, {}),
            "/.well-known/oauth-protected-resource/mcp": (
                200, {}, {"resource": f"{self.base}/mcp", "authorization_servers": [self.base]},
            ),
            "/.well-known/oauth-authorization-server": (200, {}, {
                "issuer": self.base, "token_endpoint": f"{self.base}/t", "registration_endpoint": f"{self.base}/r",
                "device_authorization_endpoint": f"{self.base}/d",
            }),
            "/r": (201, {}, {"client_id": "c"}),
            "/d": (200, {}, {
                "device_code": "s", "user_code": "BBBB-BBBB", "verification_uri": f"{self.base}/v", "expires_in": 20,
            }),
        }  # fmt: skip


@pytest.fixture
def stranger() -> Iterator[Stranger]:
    one = Stranger()
    one.honest()
    yield one
    one.server.shutdown()
    one.thread.join()
    one.server.server_close()


def changed(stranger: Stranger, path: str, **fields: Any) -> None:
    status, headers, body = stranger.says[path]
    stranger.says[path] = (status, headers, {**body, **fields})


RESOURCE, SERVER = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"


@pytest.mark.parametrize(
    ("section", "path", "lie", "code"),
    [
        ("RFC 9728 §3.3", RESOURCE, {"resource": "https://memory.example/mcp"}, "unavailable"),
        ("RFC 9728 §3.3", RESOURCE, {"resource": None}, "unavailable"),
        ("RFC 9728 §2", RESOURCE, {"authorization_servers": []}, "invalid-argument"),
        ("RFC 8414 §2", RESOURCE, {"authorization_servers": ["http://issuer.example"]}, "invalid-argument"),
        ("RFC 8414 §2", RESOURCE, {"authorization_servers": ["file:///etc/passwd"]}, "invalid-argument"),
        ("RFC 8414 §3.3", SERVER, {"issuer": "https://memory.example"}, "unavailable"),
        ("RFC 8628 §4", SERVER, {"device_authorization_endpoint": None}, "conflict"),
        ("RFC 8628 §3.1", SERVER, {"device_authorization_endpoint": "http://plain.example/d"}, "invalid-argument"),
        ("RFC 6749 §3.2", SERVER, {"token_endpoint": "http://plain.example/t"}, "invalid-argument"),
        ("RFC 7591 §3", SERVER, {"registration_endpoint": None}, "conflict"),
        ("RFC 8628 §3.2", "/d", {"verification_uri": "javascript:alert(1)"}, "invalid-argument"),
        ("RFC 8628 §3.2", "/d", {"verification_uri_complete": "file:///etc/passwd"}, "invalid-argument"),
        ("RFC 8628 §3.2", "/d", {"device_code": None}, "unavailable"),
    ],
)
def test_what_a_server_says_is_checked(
    stranger: Stranger, section: str, path: str, lie: dict[str, Any], code: str
) -> None:
    changed(stranger, path, **lie)
    with pytest.raises(DolmenError) as refused:
        asking.sign_in(finding.find(stranger.base), pytest.fail, wait=pytest.fail)
    assert refused.value.code == code, (section, refused.value.message)
    assert kept.latest() is None


@pytest.mark.parametrize(
    ("status", "body", "code", "pauses"),
    [
        (400, {"error": "slow_down"}, "gone", [5, 10, 15]),  # RFC 8628 §3.5: five seconds more from then on
        (503, {}, "gone", [5, 10, 20]),  # RFC 8628 §3.5: exponential backoff
        (400, {"error": "authorization_pending"}, "gone", [5, 5, 5, 5]),
        (400, {"error": "expired_token"}, "gone", [5]),
        (400, {"error": "invalid_grant"}, "unavailable", [5]),
        (400, {"error": "access_denied"}, "forbidden", [5]),
        (200, {"token_type": "Bearer"}, "unavailable", [5]),
        (200, {"access_token": "t", "token_type": "mac"}, "unavailable", [5]),  # RFC 6749 §7.1
    ],
)
def test_a_machine_asks_as_the_rfc_says(
    stranger: Stranger, status: int, body: dict[str, Any], code: str, pauses: list[float]
) -> None:
    stranger.says["/t"] = (status, {}, body)
    waited: list[float] = []
    with pytest.raises(DolmenError) as refused:
        asking.sign_in(finding.find(stranger.base), lambda _: None, wait=waited.append)
    assert (refused.value.code, waited) == (code, pauses)


@pytest.mark.parametrize("said", [float("inf"), float("nan"), 10**400, 1e-9, -1, "soon", None])
def test_no_number_of_a_server_breaks_or_hurries_a_machine(stranger: Stranger, said: Any) -> None:
    changed(stranger, "/d", interval=said, expires_in=said)
    stranger.says["/t"] = (200, {}, {"access_token": "t", "token_type": "Bearer", "expires_in": said})
    waited, shown = [], []
    with suppress(DolmenError):
        asking.sign_in(finding.find(stranger.base), shown.append, wait=waited.append)
    assert 1 <= shown[0].minutes <= 60
    assert all(1 <= seconds <= 60 for seconds in waited)


def test_a_draft_that_is_there_already_is_not_written_into(stranger: Stranger, tmp_path: Path) -> None:
    """Neither through a link to another file, nor into one that others can read."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("mine")
    file = kept.file()
    file.parent.mkdir(parents=True)
    file.with_name(f".{file.name}.{os.getpid()}.draft").symlink_to(elsewhere)
    stranger.says["/t"] = (200, {}, {"access_token": "t", "token_type": "Bearer"})
    asking.sign_in(finding.find(stranger.base), lambda _: None, wait=lambda _: None)
    assert elsewhere.read_text() == "mine"
    assert not file.is_symlink()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_servers_own_words_are_told(stranger: Stranger) -> None:
    stranger.says["/r"] = (429, {}, {"error": {"code": "rate-limited", "message": "More than 10 requests per minute."}})
    with pytest.raises(DolmenError) as busy:
        asking.sign_in(finding.find(stranger.base), pytest.fail)
    assert busy.value.message == f"{stranger.base} registers no program: More than 10 requests per minute."
    stranger.says["/r"] = (400, {}, {"error": "invalid_client_metadata", "error_description": "No."})
    with pytest.raises(DolmenError) as wrong:
        asking.sign_in(finding.find(stranger.base), pytest.fail)
    assert wrong.value.message == f"{stranger.base} registers no program: No."


def test_a_server_without_sign_in_asks_for_a_key(stranger: Stranger) -> None:
    stranger.says = {"/mcp": (401, {}, {})}
    with pytest.raises(DolmenError) as keyed:
        finding.find(stranger.base)
    assert "asks for a key" in keyed.value.message


@pytest.mark.parametrize(
    "url", ["http://memory.example/mcp", "ftp://x/mcp", "https://a@b/mcp", "https://", "https://é"]
)
def test_tokens_go_over_no_open_wire(url: str) -> None:
    with pytest.raises(DolmenError) as refused:
        finding.find(url)
    assert refused.value.code == "invalid-argument"
