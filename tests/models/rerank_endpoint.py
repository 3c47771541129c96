"""A real HTTP server that answers like a rerank endpoint: a text scores by the share of the question's words in it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any, Literal

from tests.models.serving import JsonHandler, LocalServer

Speaks = Literal["jina", "voyage", "tei", "logits"]


def overlap(query: str, text: str) -> float:
    """0 to 1: how many of the question's words the text has."""
    asked = set(query.lower().split())
    return len(asked & set(text.lower().replace(".", " ").split())) / max(1, len(asked))


class RerankServer(LocalServer):
    """Listens on a free loopback port while the `with` block runs.

    Attributes:
        requests: (path, headers, body) of every request, in order.
        failures: statuses to answer with before it works.
        body: when set, the exact bytes to answer with.
        silent: accept the request and close the connection without an answer, this many times.
        hang: hold the answer back, a byte now and then, until the block ends.
        score: what a text is worth.
    """

    def __init__(self, speaks: Speaks = "jina") -> None:
        self.speaks = speaks
        self.requests: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.failures: list[int] = []
        self.silent = 0
        self.hang = False
        self.body: bytes | None = None
        self.score: Callable[[str, str], float] = overlap
        super().__init__(self._handler())

    @property
    def url(self) -> str:
        return self.base

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(JsonHandler):
            def do_POST(self) -> None:
                body = self.sent()
                owner.requests.append((self.path, dict(self.headers), body))
                if owner.silent:
                    owner.silent -= 1
                    self.close_connection = True
                    return
                status, answer = owner._answer(self.path, body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                try:
                    while owner.hang and not owner.ending.wait(0.1):
                        self.wfile.write(b" ")
                    self.wfile.write(answer)
                except OSError:
                    self.close_connection = True

        return Handler

    def _answer(self, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
        if self.failures:
            return self.failures.pop(0), b'{"error": "no"}'
        if not path.endswith("/rerank"):
            return 404, b"{}"
        if ("texts" if self.speaks == "tei" else "documents") not in body:
            return 422, b'{"error": "missing field"}'
        if self.body is not None:
            return 200, self.body
        texts = body.get("texts") or body["documents"]
        found = [(n, self.score(body["query"], text)) for n, text in enumerate(texts)]
        if self.speaks == "logits":
            found = [(n, math.log((score + 0.001) / (1.001 - score))) for n, score in found]
        found.sort(key=lambda pair: -pair[1])
        if self.speaks == "tei":
            return 200, json.dumps([{"index": n, "score": score} for n, score in found]).encode()
        items = [{"index": n, "relevance_score": score} for n, score in found]
        return 200, json.dumps({"data" if self.speaks == "voyage" else "results": items}).encode()
