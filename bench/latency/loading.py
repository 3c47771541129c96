"""Filling a store for a measurement: through the services, in this process, with vectors that cost no model time."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bench.corpus import statement
from bench.quality.embeddings import VectorCache
from dolmen.domain.memory import BATCH_LIMIT
from dolmen.services import upkeep
from dolmen.services.accounts import local_actor
from dolmen.services.journal import JournalBuffer
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory
from dolmen.services.runtime import Options, Runtime
from dolmen.store.opening import open_store

if TYPE_CHECKING:
    from dolmen.models.contract import Embedder, Vector, Vectors

REAL = 1_000
"""Statements whose vectors the model makes; those of all others are near one of these."""
_SPREAD = 0.35
"""Length of the random step from a real vector, itself of length 1."""


class StandIn:
    """Vectors of the model's name and size without the model: a real one, moved in a random direction by a seed of the
    text. They lie as real vectors do (near each other, in a few directions), so an index has the same work with them.
    """

    ready = True

    def __init__(self, embedder: Embedder, cache: Path) -> None:
        self.model, self.dim = embedder.model, embedder.dim
        self._real = VectorCache(embedder, cache).documents([statement(number) for number in range(REAL)])

    def warm(self) -> None:
        """Always ready."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._near(text) for text in texts])

    def embed_query(self, text: str) -> Vector:
        return self._near(text)

    def unrelated(self, text: str) -> float | None:
        return None

    def close(self) -> None:
        """Holds nothing."""

    def _near(self, text: str) -> Vector:
        chance = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little"))
        step = chance.standard_normal(self.dim, dtype=np.float32)
        moved = self._real[chance.integers(REAL)] + _SPREAD * step / np.linalg.norm(step)
        vector: Vector = (moved / np.linalg.norm(moved)).astype(np.float32)
        return vector


def fill(url: str, first: int, last: int, stand_in: StandIn | None) -> float:
    """Stores the statements first <= n < last, then embeds what has no vector yet; returns CPU ms per memory stored."""
    store = open_store(url)
    rt = Runtime(store, stand_in, JournalBuffer(store), Options(inline_embeddings=0))
    try:
        actor = local_actor(rt, agent="bench")
        started = time.process_time()
        for at in range(first, last, BATCH_LIMIT):
            numbers = range(at, min(at + BATCH_LIMIT, last))
            results = remember(rt, actor, [NewMemory(content=statement(number)) for number in numbers])
            failed = [result for result in results if result.outcome == "failed"]
            if failed:
                raise RuntimeError(f"{len(failed)} statements were refused: {failed[0].error}")
            _progress("stored", at + len(numbers), last)
        used = time.process_time() - started
        if stand_in is not None:
            upkeep.backfill(rt)
        store.tidy()
        return 1000 * used / max(1, last - first)
    finally:
        rt.journal.close()
        store.close()


def _progress(what: str, done: int, of: int) -> None:
    if done % 10_000 < BATCH_LIMIT and done >= BATCH_LIMIT:
        print(f"  {what} {done} of {of}", file=sys.stderr, flush=True)
