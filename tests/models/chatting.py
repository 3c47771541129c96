"""A real HTTP server that answers like a chat model, well or badly, as the test says."""

from __future__ import annotations

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.models.serving import JsonHandler, LocalServer

Answer = object
"""What a test's model says: an object (sent as its JSON), a text (sent as it is), or an int (an HTTP status)."""


class ChatServer(LocalServer):
    """Listens on a free loopback port while the `with` block runs.

    Attributes:
        requests: (headers, body) of every request, in order.
        says: what it answers, from the body of the request.
        silent: accept requests and say nothing until this is cleared or the server ends.
        forms: kinds of `response_format` that it takes; others are refused with 400.
    """

    def __init__(self, says: Callable[[dict[str, Any]], Answer] | Answer = "{}") -> None:
        self.requests: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.says: Callable[[dict[str, Any]], Answer] = says if callable(says) else lambda body: says
        self.forms: tuple[str, ...] = ("json_schema", "json_object", "")
        self.silent = False
        self.finish = "stop"
        super().__init__(self._handler())
        self._server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"{self.base}/v1"

    @property
    def asked(self) -> list[str]:
        """The material of every question."""
        return [body["messages"][1]["content"] for _, body in self.requests]

    def _answer(self, body: dict[str, Any]) -> tuple[int, bytes]:
        if body.get("response_format", {}).get("type", "") not in self.forms:
            return 400, b'{"error": "response_format is not supported"}'
        said = self.says(body)
        if isinstance(said, int):
            return said, b"{}"
        content = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": self.finish}
        return 200, json.dumps({"id": "1", "object": "chat.completion", "choices": [choice]}).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(JsonHandler):
            def do_POST(self) -> None:
                body = self.sent()
                owner.requests.append((dict(self.headers), body))
                if owner.silent:
                    owner.ending.wait()
                    self.close_connection = True
                    return
                status, answer = owner._answer(body) if self.path == "/v1/chat/completions" else (404, b"")
                self.answer(status, answer)

        return Handler
