"""A real HTTP server that answers like an embeddings endpoint, with vectors made from the bytes of the text."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

DIM = 32


class EmbeddingServer:
    """Listens on a free loopback port while the `with` block runs.

    Attributes:
        requests: (headers, body) of every request, in order.
        failures: statuses to answer with before it works.
        body: when set, the exact bytes to answer with.
        silent: accept the request and close the connection without an answer, this many times.
    """

    def __init__(self) -> None:
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.failures: list[int] = []
        self.silent = 0
        self.body: bytes | None = None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> EmbeddingServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.requests.append((dict(self.headers), body))
                if owner.silent:
                    owner.silent -= 1
                    self.close_connection = True
                    return
                status = owner.failures.pop(0) if owner.failures else 200
                if self.path != "/v1/embeddings":
                    status = 404
                answer = owner.body if owner.body is not None else _answer(body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _answer(body: dict[str, Any]) -> bytes:
    dim = body.get("dimensions", DIM)
    data = [{"index": i, "embedding": vector(text, dim)} for i, text in enumerate(body["input"])]
    return json.dumps({"object": "list", "data": data[::-1], "model": body["model"]}).encode()


def vector(text: str, dim: int = DIM) -> list[float]:
    """A vector that only this text has, not of unit length."""
    return [byte - 127.5 for byte in hashlib.shake_256(text.encode()).digest(dim)]
