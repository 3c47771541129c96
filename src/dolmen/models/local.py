"""An embedder that runs in this process: loaded late, once, in the background, and shared by all threads."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, TypeVar

from dolmen.models.contract import ModelUnavailable
from dolmen.models.memory import Rest

if TYPE_CHECKING:
    from dolmen.models.contract import Vector, Vectors

Result = TypeVar("Result")
QUERY_CACHE = 512  # vectors of 1.5 kB

_log = logging.getLogger(__name__)


class Encoder(Protocol):
    """A loaded model."""

    def documents(self, texts: Sequence[str]) -> Vectors:
        """Unit rows in the order of the texts. Safe from several threads at once."""

    def query(self, text: str) -> tuple[Vector, float | None]:
        """Unit vector of a question, and the cosine to it up to which a passage is unrelated, where that is known."""


class LocalEmbedder:
    """Makes an `Embedder` out of something that loads an `Encoder`.

    The first call loads (or waits for `warm`); the model is never loaded when the object is made. A load that failed
    is not tried again, because what is missing on the disk stays missing until the process is started anew.
    """

    def __init__(self, model: str, dim: int, load: Callable[[], Encoder]) -> None:
        self.model = model
        self.dim = dim
        self._load = load
        self._lock = threading.Lock()
        self._encoder: Encoder | None = None
        self._failure: ModelUnavailable | None = None
        self._warming: threading.Thread | None = None
        self._rest = Rest()
        self._question = lru_cache(maxsize=QUERY_CACHE)(self._encode_query)

    @property
    def ready(self) -> bool:
        return self._encoder is not None

    def warm(self) -> None:
        with self._lock:
            if self._encoder or self._failure or self._warming:
                return
            self._warming = threading.Thread(target=self._load_quietly, name="dolmen-model", daemon=True)
            self._warming.start()

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        batch = list(texts)
        return self._run(lambda encoder: encoder.documents(batch))

    def embed_query(self, text: str) -> Vector:
        return self._question(text)[0]

    def unrelated(self, text: str) -> float | None:
        return self._question(text)[1]

    def close(self) -> None:
        with self._lock:
            self._encoder = None
            self._failure = ModelUnavailable("it was closed", "Start the process again.")
            self._question.cache_clear()

    def _encode_query(self, text: str) -> tuple[Vector, float | None]:
        vector, unrelated = self._run(lambda encoder: encoder.query(text))
        vector.setflags(write=False)  # the cache hands the same array to every caller
        return vector, unrelated

    def _run(self, call: Callable[[Encoder], Result]) -> Result:
        encoder = self._loaded()
        try:
            return call(encoder)
        except (RuntimeError, MemoryError, OSError) as failure:
            _log.exception("embedding failed")
            raise ModelUnavailable(f"{self.model} failed on this text ({type(failure).__name__})") from failure
        finally:
            self._rest.worked()

    def _loaded(self) -> Encoder:
        encoder = self._encoder
        if encoder is not None:
            return encoder
        with self._lock:
            if self._encoder is not None:
                return self._encoder
            if self._failure is not None:
                raise ModelUnavailable(self._failure.reason, self._failure.fix)
            try:
                self._encoder = self._load()
            except ModelUnavailable as failure:
                self._failure = failure
                raise
            except Exception as failure:  # a foreign library may raise anything while it loads
                _log.exception("loading %s failed", self.model)
                self._failure = ModelUnavailable(f"{self.model} did not load ({type(failure).__name__}: {failure})")
                raise self._failure from failure
            return self._encoder

    def _load_quietly(self) -> None:
        try:
            self._loaded()
        except ModelUnavailable as failure:
            _log.warning("%s", failure.message)
