"""A mirror and a server that never says that it is done, or that takes little at once."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from dolmen.domain.errors import DolmenError
from tests.interfaces.conftest import Serve
from tests.interfaces.mirror.conftest import Machine, listening
from tests.interfaces.mirror.test_command import start

pytestmark = pytest.mark.slow


@contextmanager
def dripping(head: bytes) -> Iterator[str]:
    """A server that sends a byte now and then, for ever: no wait for more is ever long."""
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.wfile.write(head)
            with suppress(OSError):  # whoever asked went away
                while not ended.wait(0.02):
                    self.wfile.write(b" ")

        def log_message(self, *_: Any) -> None:
            pass

    with listening(Handler) as base:
        try:
            yield f"{base}/mcp"
        finally:
            ended.set()


_BEGUN = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize("head", [_BEGUN + b"X-More: ", _BEGUN + b"\r\n{", _BEGUN + b"Content-Length: 9999\r\n\r\n{"])
def test_an_answer_that_drips_without_end_is_given_up_once(serve: Serve, machine: Machine, head: bytes) -> None:
    far = machine(serve())
    far.whole = 0.4
    with dripping(head) as far.url, pytest.raises(DolmenError) as error:
        far.sync()
    assert (error.value.code, far.waited) == ("unavailable", [])
    assert "no answer in time" in error.value.message


def test_a_watched_server_that_hangs_keeps_nobody_from_stopping(serve: Serve, tmp_path: Path) -> None:
    served = serve()
    root = tmp_path / "vault"
    root.mkdir()
    (root / "a.md").write_text("One.\n")
    hanging, over = threading.Event(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if (root / "hang").exists():
                hanging.set()
                over.wait(60)
                return
            asked = Request(served.base + self.path, body or None, {"Content-Type": "application/json"})
            with urlopen(asked) as answer:
                text = answer.read()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    os.utime(root / "a.md", (1_700_000_000, 1_700_000_000))
    with listening(Handler) as base:
        watching = start(root, "--user", "--server", base, "--watch", "--json")
        assert watching.stdout is not None
        assert json.loads(watching.stdout.readline()) == {"what": "create", "path": "a.md"}
        (root / "hang").touch()
        assert hanging.wait(30)
        watching.send_signal(signal.SIGINT)
        assert watching.wait(timeout=30) == 0
        over.set()
    watching.stdout.close()


def test_a_server_that_hangs_up_on_what_is_too_large_is_asked_for_less(serve: Serve, machine: Machine) -> None:
    """It answers, and ends the connection, while most of the request is still to be sent."""
    far = machine(serve(body_limit=900_000))
    for number in range(6):
        far.put(f"{number}.md", f"The note {number}.\n" + "Many words. " * 30_000)
    far.put("long.md", "\N{MONEY BAG}" * 990_000)
    done = far.sync()
    assert {path: error.code for path, error in done.refused.items()} == {"long.md": "too-large"}
    assert (done.counts["create"], far.waited) == (6, [])


def test_a_proxy_that_takes_little_at_once_is_asked_for_less(serve: Serve, machine: Machine) -> None:
    served = serve()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            asked = Request(served.base + self.path, body or None, {"Content-Type": "application/json"})
            status, text = 413, b"<html>"
            if len(body) <= 500:
                with urlopen(asked) as answer:
                    status, text = answer.status, answer.read()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            pass

    far = machine(served)
    for number in range(9):
        far.put(f"{number}.md", f"The note {number}.\n")
    far.put("long.md", "Very long. " * 100)
    with listening(Handler) as base:
        far.url = f"{base}/mcp"
        done = far.sync()
    assert {path: (error.code, "client_max_body_size" in error.fix) for path, error in done.refused.items()} == {
        "long.md": ("too-large", True)
    }
    assert done.counts["create"] == 9
