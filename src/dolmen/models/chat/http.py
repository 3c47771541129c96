"""Any endpoint that speaks OpenAI's `POST /chat/completions`: a cloud service, or a server of the user's own."""

from __future__ import annotations

import json
import logging
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dolmen.models.breaker import Breaker
from dolmen.models.chat.answer import content_of, parsed
from dolmen.models.chat.contract import ChatUnavailable, Question, Unanswered
from dolmen.models.contract import ModelUnavailable
from dolmen.models.text import sendable

if TYPE_CHECKING:
    import httpx2

TIMEOUT = 60.0
"""Seconds for one answer; a local model on a processor takes 10 to 30 for a session."""
ANSWER_BYTES = 1_000_000

_FIX = "Check the chat endpoint's address, key and model with `dolmen doctor`; nothing that was written is lost."
_REFUSES_FORM = frozenset({400, 404, 415, 422, 501})
_REFUSES_QUESTION = frozenset({400, 413, 422})
"""In any form: it is too long, or a filter does not let it through. The next question may be taken."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChatEndpoint:
    """Where and how to ask."""

    url: str  # base address, with or without `/chat/completions` at its end, such as http://127.0.0.1:11434/v1
    model: str  # the name that the server knows it by
    key: str | None = field(default=None, repr=False)  # sent as a bearer token
    timeout: float = TIMEOUT
    reasoning: str = ""  # sent as `reasoning_effort`; empty sends no such field

    @property
    def address(self) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith("/chat/completions") else f"{base}/chat/completions"


class HttpChat:
    """A `Chat` behind an endpoint. Asks for JSON as strictly as the endpoint can be asked, and checks it."""

    def __init__(self, endpoint: ChatEndpoint) -> None:
        self._endpoint = endpoint
        self.model = endpoint.model
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._closed = False
        self._breaker = Breaker()
        self._form = 0
        """How much of the JSON form the endpoint has refused so far: an index into `_forms`."""

    def ask(self, question: Question, timeout: float | None = None) -> dict[str, Any]:
        try:
            self._breaker.check()
        except ModelUnavailable as paused:
            raise ChatUnavailable(paused.reason, paused.fix) from None
        until = time.monotonic() + (timeout or self._endpoint.timeout)
        try:
            body = self._answer(question, until)
        except _Refused:
            raise  # others may be taken
        except Unanswered as late:
            self._breaker.failed(ChatUnavailable(late.reason, late.fix))
            raise
        except ChatUnavailable as failure:
            self._breaker.failed(failure)
            raise
        self._breaker.succeeded()
        return parsed(content_of(body), question.schema)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _answer(self, question: Question, until: float) -> bytes:
        """The body of a successful answer. A form that was refused where a less strict one was taken is not asked
        again."""
        forms = _forms(question)
        status = 0
        for form in range(self._form, len(forms)):
            status, body = self._post(_body(self._endpoint, question, forms[form]), until)
            if status == 200:
                if form > self._form:
                    _log.info("the chat endpoint takes the question without a stricter response_format")
                    self._form = form
                return body
            if status not in _REFUSES_FORM:
                break
        said = f"status {status} from {self._endpoint.address}"
        raise _Refused(said, _FIX) if status in _REFUSES_QUESTION else ChatUnavailable(said, _FIX)

    def _post(self, body: bytes, until: float) -> tuple[int, bytes]:
        """(status, body), read until a moment: a server that sends a byte now and then does not hold us either."""
        import httpx2

        try:
            left = max(0.001, until - time.monotonic())
            with self._connected().stream("POST", self._endpoint.address, content=body, timeout=left) as response:
                read = b""
                for piece in response.iter_bytes():
                    read += piece
                    if len(read) > ANSWER_BYTES:
                        raise Unanswered("its answer is very long", _FIX)
                    if time.monotonic() > until:
                        raise Unanswered(f"no whole answer in time from {self._endpoint.address}", _FIX)
                return response.status_code, read
        except httpx2.TimeoutException:
            raise Unanswered(f"no answer in time from {self._endpoint.address}", _FIX) from None
        except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError, OSError) as error:
            raise ChatUnavailable(f"{type(error).__name__} from {self._endpoint.address}", _FIX) from None

    def _connected(self) -> httpx2.Client:
        import httpx2

        with self._lock:
            if self._closed:
                raise ChatUnavailable("it was closed", "Start the process again.")
            if self._client is None:
                headers = {"Content-Type": "application/json", "Accept": "application/json"}
                if self._endpoint.key:
                    headers["Authorization"] = f"Bearer {self._endpoint.key}"
                self._client = httpx2.Client(headers=headers, follow_redirects=False)
            return self._client


class _Refused(Unanswered):
    """The endpoint works and does not take this question."""


def _forms(question: Question) -> tuple[dict[str, Any] | None, ...]:
    """Ways to ask for JSON, the strictest first; the last one is the words of the rules alone."""
    schema = {"name": question.name, "strict": True, "schema": question.schema}
    return ({"type": "json_schema", "json_schema": schema}, {"type": "json_object"}, None)


def _body(endpoint: ChatEndpoint, question: Question, form: dict[str, Any] | None) -> bytes:
    rules = f"{question.rules}\n\nAnswer with one JSON object of this schema and nothing else:\n"
    rules += json.dumps(question.schema, ensure_ascii=False, separators=(",", ":"))
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [
            {"role": "system", "content": rules},
            {"role": "user", "content": sendable(question.material)},
        ],
        "temperature": 0,
        "max_tokens": question.longest,
        "stream": False,
    }
    if endpoint.reasoning:
        body["reasoning_effort"] = endpoint.reasoning
    if form is not None:
        body["response_format"] = form
    return json.dumps(body).encode()
