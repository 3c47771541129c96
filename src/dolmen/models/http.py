"""Any endpoint that speaks OpenAI's `POST /v1/embeddings`: a cloud service, or a server of the user's own."""

from __future__ import annotations

import json
import logging
import math
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from dolmen.models.breaker import Breaker
from dolmen.models.contract import ModelUnavailable
from dolmen.models.text import sendable

if TYPE_CHECKING:
    import httpx2

    from dolmen.models.contract import Vector, Vectors

TIMEOUT = 10.0  # seconds for one request
ATTEMPTS = 2
QUERY_TIMEOUT = 4.0  # somebody waits for the answer, and the words alone answer too
BATCH_TEXTS = 64
BATCH_CHARACTERS = 64_000  # servers refuse large bodies; at about 3 characters a token this is 20,000 tokens
QUERY_CACHE = 512

_FIX = "Check the embedding endpoint's address, key and model with `dolmen doctor`; recall works by words until then."
_TRY_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and how to ask."""

    url: str  # base address, with or without `/embeddings` at its end, such as http://127.0.0.1:11434/v1
    model: str  # the name that the server knows it by
    key: str | None = field(default=None, repr=False)  # sent as a bearer token
    dimensions: int | None = None  # asks for shortened vectors, where the model offers them
    query_prefix: str = ""  # some models were trained with one, such as "query: "
    document_prefix: str = ""
    name: str = ""  # under which its vectors are kept; the model's name when empty

    @property
    def address(self) -> str:
        base = self.url.rstrip("/")
        return base if base.endswith("/embeddings") else f"{base}/embeddings"


class HttpEmbedder:
    """An `Embedder` behind an endpoint. Connections are kept and shared by all threads."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.model = _identity(endpoint)
        self._dim = endpoint.dimensions or 0
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._closed = False
        self._breaker = Breaker()
        self._query_vector = lru_cache(maxsize=QUERY_CACHE)(self._encode_query)

    @property
    def dim(self) -> int:
        return self._dim

    @property
    def ready(self) -> bool:
        """True: nothing is loaded here. Whether the server answers is known only by asking it."""
        return not self._closed

    def warm(self) -> None:
        """Nothing to load here, and a request may cost money."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        prefixed = [self._endpoint.document_prefix + text for text in texts]
        parts = [self._request(batch) for batch in _batches(prefixed)]
        return np.concatenate(parts) if parts else np.empty((0, self._dim), np.float32)

    def embed_query(self, text: str) -> Vector:
        return self._query_vector(text)

    def unrelated(self, text: str) -> float | None:
        """None: nobody has measured this model."""
        return None

    def close(self) -> None:
        with self._lock:
            self._closed = True
            if self._client is not None:
                self._client.close()
                self._client = None
        self._query_vector.cache_clear()

    def _encode_query(self, text: str) -> Vector:
        vector: Vector = self._request([self._endpoint.query_prefix + text], QUERY_TIMEOUT)[0]
        vector.setflags(write=False)  # the cache hands the same array to every caller
        return vector

    def _request(self, texts: Sequence[str], timeout: float = TIMEOUT) -> Vectors:
        body: dict[str, object] = {"model": self._endpoint.model, "input": [sendable(t) for t in texts]}
        if self._endpoint.dimensions:
            body["dimensions"] = self._endpoint.dimensions
        self._breaker.check()
        vectors = _vectors(self._answer(body, timeout), len(texts))
        self._breaker.succeeded()
        if self._dim and vectors.shape[1] != self._dim:
            raise ModelUnavailable(f"it answered with {vectors.shape[1]} dimensions instead of {self._dim}", _FIX)
        self._dim = vectors.shape[1]
        return vectors

    def _answer(self, body: dict[str, object], timeout: float) -> bytes:
        """The body of a successful answer, after at most one more attempt. A server that hangs is not asked again: the
        pause begins."""
        import httpx2

        client = self._connected()
        reason = ""
        for attempt in range(ATTEMPTS):
            try:
                response = client.post(self._endpoint.address, content=json.dumps(body).encode(), timeout=timeout)
            except httpx2.TimeoutException:
                failure = ModelUnavailable(f"no answer in {timeout:.0f} s from {self._endpoint.address}", _FIX)
                self._breaker.failed(failure)
                raise failure from None
            except (httpx2.HTTPError, httpx2.InvalidURL, RuntimeError) as error:
                reason = f"{type(error).__name__} from {self._endpoint.address}"
            else:
                if response.status_code == 200:
                    return response.content
                reason = f"status {response.status_code} from {self._endpoint.address}"
                if response.status_code not in _TRY_AGAIN:
                    break
            _log.info("embedding request %d of %d: %s", attempt + 1, ATTEMPTS, reason)
        raise ModelUnavailable(reason, _FIX)

    def _connected(self) -> httpx2.Client:
        import httpx2

        with self._lock:
            if self._closed:
                raise ModelUnavailable("it was closed", "Start the process again.")
            if self._client is None:
                headers = {"Content-Type": "application/json", "Accept": "application/json"}
                if self._endpoint.key:
                    headers["Authorization"] = f"Bearer {self._endpoint.key}"
                self._client = httpx2.Client(timeout=TIMEOUT, headers=headers, follow_redirects=False)
            return self._client


def _identity(endpoint: Endpoint) -> str:
    """Everything that changes the vector of a document. The address does not: a model may move."""
    shortened = f"/{endpoint.dimensions}" if endpoint.dimensions else ""
    prefixed = f"+{zlib.crc32(endpoint.document_prefix.encode()):08x}" if endpoint.document_prefix else ""
    return f"http:{endpoint.name or endpoint.model}{shortened}{prefixed}"


def _batches(texts: Sequence[str]) -> list[list[str]]:
    batches: list[list[str]] = []
    size = 0
    for text in texts:
        if not batches or len(batches[-1]) == BATCH_TEXTS or size + len(text) > BATCH_CHARACTERS:
            batches.append([])
            size = 0
        batches[-1].append(text)
        size += len(text)
    return batches


def _vectors(answer: bytes, count: int) -> Vectors:
    """Parses `{"data": [{"index", "embedding"}]}`; order is by index, because servers may answer in any.

    Raises:
        ModelUnavailable: another shape, another count, or a number that is none.
    """
    import numpy as np

    from dolmen.models.vectors import unit

    try:
        data = json.loads(answer)["data"]
        rows = [item["embedding"] for item in sorted(data, key=lambda item: item.get("index", 0))]
        vectors = np.asarray(rows, np.float32)
    except (ValueError, KeyError, TypeError, AttributeError) as failure:
        raise ModelUnavailable("its answer is not a list of embeddings", _FIX) from failure
    if vectors.ndim != 2 or len(vectors) != count or not vectors.shape[1] or not math.isfinite(float(vectors.sum())):
        raise ModelUnavailable(f"its answer does not hold {count} vectors of numbers", _FIX)
    return unit(vectors)
