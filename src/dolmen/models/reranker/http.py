"""Any endpoint that speaks `POST /rerank`: a cloud service, or a server of the user's own."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from dolmen.models.breaker import Breaker
from dolmen.models.contract import ModelUnavailable
from dolmen.models.reranker.shapes import SHAPES, Shape, are_logits, probability, request, scores, unavailable

if TYPE_CHECKING:
    import httpx2

Scores = Literal["auto", "probability", "logit"]

LIMIT = 4.0
"""Seconds for a question in all, however the server spends them (C-153)."""
SLOW = 1.0
"""A failure that took longer than this begins the pause; one that came at once costs nobody anything."""
TEXT_LIMIT = 2_000
"""Characters of a text that are sent; cross-encoders read about 512 tokens."""
ANSWER_LIMIT = 1_000_000
THREADS = 8
_REMEMBERED = 64
_OTHER_SHAPE = frozenset({400, 415, 422})
"""What servers answer to a body that they do not know."""
_TRY_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RerankEndpoint:
    """Where and how to ask."""

    url: str  # base address, with or without `/rerank` at its end
    model: str = ""  # the name that the server knows it by; a server with one model needs none
    key: str | None = field(default=None, repr=False)  # sent as a bearer token
    scores: Scores = "auto"

    @property
    def address(self) -> str:
        base = self.url.rstrip("/")
        return base if urlsplit(base).path.endswith("/rerank") else f"{base}/rerank"

    @property
    def shown(self) -> str:
        """The address without a user, a password or a query in it: agents and logs see it."""
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


class HttpReranker:
    """A `Reranker` behind an endpoint. Connections are kept and shared by all threads.

    The shape of the request is found out by asking: a server that refuses one as badly formed is asked in the other,
    and whichever worked is used from then on.
    """

    def __init__(self, endpoint: RerankEndpoint, *, limit: float = LIMIT) -> None:
        self._endpoint, self._limit = endpoint, limit
        self.model = endpoint.model or urlsplit(endpoint.address).netloc.rpartition("@")[2]
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False
        self._breaker = Breaker()
        self._shape: Shape = SHAPES[0]
        self._logit = endpoint.scores == "logit"
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._ask)

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        if not texts:
            return []
        return self._remembered(_sendable(query), tuple(_sendable(text[:TEXT_LIMIT]) for text in texts))

    def close(self) -> None:
        with self._lock:
            self._closed = True
            client, self._client, pool, self._pool = self._client, None, self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
        if client is not None:
            client.close()
        self._remembered.cache_clear()

    def _ask(self, query: str, texts: tuple[str, ...]) -> tuple[float, ...]:
        self._breaker.check()
        started = time.monotonic()
        try:
            found = self._in_time(query, texts)
        except ModelUnavailable as failure:
            if time.monotonic() - started >= min(SLOW, self._limit):
                self._breaker.failed(failure)
            raise
        self._breaker.succeeded()
        if self._endpoint.scores == "auto" and are_logits(found):
            self._logit = True  # from now on also where all scores of an answer happen to lie between 0 and 1
        return tuple(probability(score, logit=self._logit) for score in found)

    def _in_time(self, query: str, texts: tuple[str, ...]) -> list[float]:
        """Asks in a thread of its own: a client's timeouts hold for each step, and a server that sends a byte now and
        then could keep the caller for minutes."""
        deadline = time.monotonic() + self._limit
        with self._lock:
            if self._closed:
                raise unavailable("it was closed")
            asked = self._threads().submit(self._request, query, texts, deadline)
        try:
            return asked.result(self._limit)
        except TimeoutError:
            asked.cancel()
            raise unavailable(f"no answer in {self._limit:.0f} s from {self._endpoint.shown}") from None

    def _request(self, query: str, texts: tuple[str, ...], deadline: float) -> list[float]:
        """The scores, asked for in the shape that worked last, then in the other."""
        reason = ""
        for shape in sorted(SHAPES, key=lambda each: each != self._shape):
            body = json.dumps(request(shape, self._endpoint.model, query, texts)).encode()
            status, answer = self._post(body, deadline)
            if status == 200:
                self._shape = shape
                return scores(answer, len(texts))
            reason = f"status {status} from {self._endpoint.shown}"
            if status not in _OTHER_SHAPE:
                break
        raise unavailable(reason)

    def _post(self, body: bytes, deadline: float) -> tuple[int, bytes]:
        """Status and body of the answer; one passing failure is not seen."""
        import httpx2

        for last in (False, True):
            try:
                status, answer = self._once(body, deadline)
            except httpx2.TimeoutException:
                raise unavailable(f"no answer in {self._limit:.0f} s from {self._endpoint.shown}") from None
            except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError) as error:
                if last or isinstance(error, httpx2.UnsupportedProtocol | httpx2.InvalidURL):
                    raise unavailable(f"{type(error).__name__} from {self._endpoint.shown}") from None
                _log.info("rerank request: %s", type(error).__name__)
            else:
                if last or status not in _TRY_AGAIN:
                    return status, answer
                _log.info("rerank request: status %d", status)
        raise AssertionError("the last attempt ends the loop")

    def _once(self, body: bytes, deadline: float) -> tuple[int, bytes]:
        left = deadline - time.monotonic()
        if left <= 0:
            raise unavailable(f"no answer in {self._limit:.0f} s from {self._endpoint.shown}")
        answer = bytearray()
        with self._connected().stream("POST", self._endpoint.address, content=body, timeout=left) as response:
            for part in response.iter_bytes():
                answer += part
                if len(answer) > ANSWER_LIMIT or time.monotonic() > deadline:
                    raise unavailable("its answer is too long, or came too slowly")
            return response.status_code, bytes(answer)

    def _threads(self) -> ThreadPoolExecutor:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(THREADS, "dolmen-rerank")
        return self._pool

    def _connected(self) -> httpx2.Client:
        import httpx2

        with self._lock:
            if self._closed:
                raise unavailable("it was closed")
            if self._client is None:
                headers = {"Content-Type": "application/json", "Accept": "application/json"}
                if self._endpoint.key:
                    headers["Authorization"] = f"Bearer {self._endpoint.key}"
                self._client = httpx2.Client(headers=headers, follow_redirects=False)
            return self._client


def _sendable(text: str) -> str:
    """Servers refuse an empty text, NUL and half a surrogate."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode() or " "
