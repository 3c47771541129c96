"""A real HTTP server on this machine for a test: what stands behind it answers as a model's endpoint would."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class LocalServer:
    """Listens on a free loopback port while the `with` block runs; `ending` is set before it stops."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self.ending = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ending.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class JsonHandler(BaseHTTPRequestHandler):
    """One that reads JSON and says nothing on the terminal."""

    protocol_version = "HTTP/1.1"

    def sent(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return body

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass
