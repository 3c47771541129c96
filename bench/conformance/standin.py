"""A stand-in for the models that agents call: the same answer to everything, in the form of each provider.

It keeps what it was sent, so that one can see what reached the model.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = "Done: the retry now waits 200 ms between attempts."

Json = dict[str, Any]


class StandIn(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.sent: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def heard(self, words: str) -> bool:
        """Whether the model was told these words."""
        return any(words in body for body in self.sent)


@contextmanager
def stand_in() -> Iterator[StandIn]:
    model = StandIn()
    thread = threading.Thread(target=model.serve_forever)
    thread.start()
    try:
        yield model
    finally:
        model.shutdown()
        thread.join()
        model.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: StandIn

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(json.dumps({"data": [], "models": []}), "application/json")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0)).decode("utf-8", "replace")
        self.server.sent.append(body)
        streamed = '"stream":true' in body.replace(" ", "") or "stream" in self.path.lower()
        events = _events(self.path)
        if streamed:
            named = [f"event: {one['type']}\n" if "type" in one else "" for one in events]
            lines = [f"{name}data: {json.dumps(one)}\n\n" for name, one in zip(named, events, strict=True)]
            done = "data: [DONE]\n\n" if "chat/completions" in self.path else ""
            self._answer("".join(lines) + done, "text/event-stream")
        else:
            self._answer(json.dumps(_whole(self.path)), "application/json")

    def _answer(self, text: str, type: str) -> None:
        data = text.encode()
        self.send_response(200)
        self.send_header("content-type", type)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _events(path: str) -> list[Json]:
    """A streamed answer."""
    if "/messages" in path:
        message = {**_anthropic(), "content": [], "stop_reason": None}
        delta = {"type": "text_delta", "text": ANSWER}
        return [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
            {"type": "message_stop"},
        ]
    if "/responses" in path:
        item = {"type": "message", "role": "assistant", "id": "m", "content": [{"type": "output_text", "text": ANSWER}]}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        return [
            {"type": "response.created", "response": {"id": "r"}},
            {"type": "response.output_item.done", "item": item},
            {"type": "response.completed", "response": {"id": "r", "output": [item], "usage": usage}},
        ]
    if "chat/completions" in path:
        head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        said = {"index": 0, "delta": {"role": "assistant", "content": ANSWER}, "finish_reason": None}
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        return [{**head, "choices": [said]}, {**head, "choices": [end], "usage": _tokens()}]
    return [_gemini()]


def _whole(path: str) -> Json:
    """The same in one piece."""
    if "count_tokens" in path:
        return {"input_tokens": 1}
    if "/messages" in path:
        return _anthropic()
    if "chat/completions" in path:
        message = {"role": "assistant", "content": ANSWER}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        return {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": _tokens(),
        }
    return _gemini()


def _anthropic() -> Json:
    return {
        "id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": ANSWER}],
        "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 9},
    }  # fmt: skip


def _tokens() -> Json:
    return {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def _gemini() -> Json:
    content = {"role": "model", "parts": [{"text": ANSWER}]}
    return {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"totalTokenCount": 2},
    }
