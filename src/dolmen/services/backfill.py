"""Vectors for what has none of the current model yet: new text, and everything after a change of the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dolmen.domain.values import SECOND
from dolmen.models.contract import ModelUnavailable
from dolmen.services.runtime import Runtime
from dolmen.store.contract import Pending

if TYPE_CHECKING:
    from dolmen.models.contract import Embedder, Vector

BATCH = 32
"""Texts between two writes; a killed process does at most these again."""
LEASE = "backfill"
_LEASE_FOR = 60 * SECOND
_TRIES = 3
_MOST_REFUSED = 1000

Progress = Callable[[int], None]
"""Called with the number of passages done so far."""


def never() -> bool:
    return False


class Backfill:
    """The work of one process; the lease makes sure that one does it at a time (B012, B014, B017)."""

    def __init__(self, rt: Runtime) -> None:
        self._rt = rt
        self._owner = ""
        self._models: dict[tuple[str, int], int] = {}
        self._refused: set[int] = set()
        """Passages that the model would not take; asked again by the next process."""

    def run(
        self, limit: int | None = None, progress: Progress | None = None, stopped: Callable[[], bool] = never
    ) -> int:
        """Embeds what waits, live text first; returns how many passages.

        Stops early, without an error, when another process is at it. Each batch is committed, so it goes on where it
        stopped, also after a kill.

        Raises:
            DolmenError: `model-unavailable`.
        """
        embedder = self._rt.embedder
        if embedder is None:
            return 0
        model = self._model(embedder)
        done = 0
        leased = False
        try:
            while not stopped() and (limit is None or done < limit):
                batch = self._next(model, BATCH if limit is None else min(BATCH, limit - done))
                leased = bool(batch) and self._lease()
                if not leased:
                    break
                self._store(model, self._vectors(embedder, batch))
                done += len(batch)
                if progress:
                    progress(done)
        finally:
            if leased or done:
                self._release()
        return done

    def waiting(self) -> bool:
        """Whether there is anything to do; a read, cheap enough to ask every few seconds."""
        embedder = self._rt.embedder
        return embedder is not None and bool(self._next(self._model(embedder), 1))

    def _model(self, embedder: Embedder) -> int:
        if embedder.dim == 0:
            embedder.embed_query("dolmen")  # an endpoint's size is known from its first answer
        identity = (embedder.model, embedder.dim)
        if identity not in self._models:
            with self._rt.store.write() as tx:
                self._models[identity] = tx.index.model(embedder.model, embedder.dim, tx.now)
        return self._models[identity]

    def _next(self, model: int, limit: int) -> list[Pending]:
        with self._rt.store.read() as tx:
            found = tx.index.pending(model, limit + len(self._refused))
        return [each for each in found if each.passage not in self._refused][:limit]

    def _lease(self) -> bool:
        with self._rt.store.write() as tx:
            self._owner = self._owner or tx.new_id()
            return tx.leases.take(LEASE, self._owner, tx.now, tx.now + _LEASE_FOR)

    def _release(self) -> None:
        with self._rt.store.write() as tx:
            tx.leases.release(LEASE, self._owner)

    def _vectors(self, embedder: Embedder, batch: Sequence[Pending]) -> list[tuple[Pending, Vector]]:
        try:
            return list(zip(batch, embedder.embed_documents([each.text for each in batch]), strict=True))
        except ModelUnavailable as failure:
            return self._one_by_one(embedder, batch, failure)

    def _one_by_one(
        self, embedder: Embedder, batch: Sequence[Pending], failure: ModelUnavailable
    ) -> list[tuple[Pending, Vector]]:
        """One text that an endpoint refuses must not hold back the others; a model that is down refuses them all."""
        vectors: list[tuple[Pending, Vector]] = []
        refused: list[int] = []
        for each in batch:
            try:
                vectors.append((each, embedder.embed_documents([each.text])[0]))
            except ModelUnavailable:
                refused.append(each.passage)
                if len(refused) >= _TRIES and not vectors:
                    raise failure from None
        if not vectors:
            raise failure
        self._refused.update(refused)
        if len(self._refused) > _MOST_REFUSED:
            raise failure
        return vectors

    def _store(self, model: int, vectors: Sequence[tuple[Pending, Vector]]) -> None:
        with self._rt.store.write() as tx:
            for vault in {each.vault for each, _ in vectors}:
                rows = [(each.passage, vector) for each, vector in vectors if each.vault == vault]
                tx.index.set_vectors(vault, model, rows)
