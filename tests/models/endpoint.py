"""A real HTTP server that answers like an embeddings endpoint, with vectors made from the bytes of the text."""

from __future__ import annotations

import hashlib
import json
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.models.serving import JsonHandler, LocalServer

DIM = 32


class EmbeddingServer(LocalServer):
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
        super().__init__(self._handler())

    @property
    def url(self) -> str:
        return f"{self.base}/v1"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(JsonHandler):
            def do_POST(self) -> None:
                body = self.sent()
                owner.requests.append((dict(self.headers), body))
                if owner.silent:
                    owner.silent -= 1
                    self.close_connection = True
                    return
                status = owner.failures.pop(0) if owner.failures else 200
                if self.path != "/v1/embeddings":
                    status = 404
                answer = owner.body if owner.body is not None else _answer(body)
                self.answer(status, answer)

        return Handler


def _answer(body: dict[str, Any]) -> bytes:
    dim = body.get("dimensions", DIM)
    data = [{"index": i, "embedding": vector(text, dim)} for i, text in enumerate(body["input"])]
    return json.dumps({"object": "list", "data": data[::-1], "model": body["model"]}).encode()


def vector(text: str, dim: int = DIM) -> list[float]:
    """A vector that only this text has, not of unit length."""
    return [byte - 127.5 for byte in hashlib.shake_256(text.encode()).digest(dim)]
