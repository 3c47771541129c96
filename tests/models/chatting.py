"""A real HTTP server that answers like a chat model, well or badly, as the test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Answer = object
"""What a test's model says: an object (sent as its JSON), a text (sent as it is), or an int (an HTTP status)."""


class ChatServer:
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
        self._speak = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def asked(self) -> list[str]:
        """The material of every question."""
        return [body["messages"][1]["content"] for _, body in self.requests]

    def __enter__(self) -> ChatServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._speak.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

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

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                owner.requests.append((dict(self.headers), body))
                if owner.silent:
                    owner._speak.wait()
                    self.close_connection = True
                    return
                status, answer = owner._answer(body) if self.path == "/v1/chat/completions" else (404, b"")
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler
