"""The vector leg: exact where little qualifies, else the nearest by signature compared exactly, never cut before the
filter."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dolmen.store.contract import Filter, Hit
from dolmen.store.filter import Condition, live_only, ordinary, passages
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Row, Value
from dolmen.store.sql import doubling, queries
from dolmen.store.sqlite.passages import PassageWriter
from dolmen.store.sqlite.session import SqliteSession

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dolmen.store.contract import Vector
    from dolmen.store.sqlite.signatures import Signatures

ENOUGH = 512
"""From so many vectors on, a model has a centre and signatures; below, every search compares all of them."""
CANDIDATES = 384
"""The nearest by signature that are compared exactly, at least."""
FEW = 4096
"""So many qualifying passages are compared one by one when a filter lets little through."""
SCALE = 32767
"""A stored component is the real one times this (schema: vector)."""
SAMPLE = 256
"""Passages whose cosines tell what is ordinary."""
SAMPLES_KEPT = 64

Sampled = tuple[str, int, tuple[str, ...]]
"""(vault, model, audiences that the one who looks belongs to): what others keep to themselves says nothing of what is
ordinary, for a mean over a few vectors tells much about each of them."""


@dataclass(slots=True)
class SharedVectors:
    """What a process remembers of the vectors."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    signatures: dict[int, Signatures] = field(default_factory=dict)
    samples: dict[Sampled, tuple[int, NDArray[np.float32]]] = field(default_factory=dict)
    """-> (number of passages when it was taken, rows)."""


class VectorSearch:
    """The vector leg of `contract.Index`, for one transaction."""

    def __init__(
        self, session: SqliteSession, numbers: ScopeNumbers, writer: PassageWriter, shared: SharedVectors
    ) -> None:
        self._session = session
        self._numbers = numbers
        self._writer = writer
        self._shared = shared
        self._sql = queries("search", "sqlite")

    # ------------------------------------------------------------------------------------------------------- models
    def model(self, name: str, dim: int, at: int) -> int:
        found = self.find_model(name, dim)
        if found is None:
            self._session.run(self._sql["add_model"], {"name": name, "dim": dim, "at": at})
            found = self.find_model(name, dim)
        assert found is not None
        return found

    def find_model(self, name: str, dim: int) -> int | None:
        row = self._session.one(self._sql["model"], {"name": name, "dim": dim})
        return None if row is None else int(row[0])

    def set_vectors(self, vault: str, model: int, items: Sequence[tuple[int, Vector]]) -> None:
        import numpy as np

        from dolmen.store.sqlite.signatures import signatures_of

        dim, centre = self._model(model)
        for id, vector in items:
            if vector.shape != (dim,):
                raise ValueError(f"a vector of this model has {dim} dimensions, not {vector.shape}")
            claim: dict[str, Value] = {"id": id, "vault": vault, "model": model, "seq": self._writer.tick()}
            if not self._session.run(self._sql["claim"], claim):
                continue
            stored = np.rint(np.clip(vector, -1, 1) * SCALE).astype("<i2").tobytes()
            self._session.run(self._sql["set_vector"], {"id": id, "model": model, "vec": stored})
            if centre is None:
                self._session.run(self._sql["drop_signature"], {"id": id})
            else:
                (bits,) = signatures_of(vector.astype(np.float32)[None, :], centre)
                self._session.run(self._sql["set_signature"], {"id": id, "bits": bits})
        if centre is None and self._number(model) >= ENOUGH:
            self._give_centre(model, dim)

    def _give_centre(self, model: int, dim: int) -> None:
        """Signatures for the vectors that came before there was a centre to measure them from."""
        import numpy as np

        from dolmen.store.sqlite.signatures import signatures_of

        rows = self._session.all(self._sql["vectors_of"], {"model": model})
        vectors = _matrix(rows, dim) / np.float32(SCALE)
        centre = vectors.mean(axis=0, dtype=np.float64).astype(np.float32)
        self._session.run(self._sql["set_centre"], {"model": model, "centre": centre.astype("<f4").tobytes()})
        self._session.many(
            self._sql["set_signature"],
            [{"id": row[0], "bits": bits} for row, bits in zip(rows, signatures_of(vectors, centre))],
        )
        self._session.run(self._sql["new_epoch"])

    def _model(self, model: int) -> tuple[int, NDArray[np.float32] | None]:
        import numpy as np

        row = self._session.one(self._sql["centre"], {"model": model})
        if row is None:
            raise ValueError(f"there is no vector model {model}")
        return row[0], None if row[1] is None else np.frombuffer(row[1], "<f4")

    def _number(self, model: int) -> int:
        row = self._session.one(self._sql["number_of"], {"model": model})
        return int(row[0]) if row else 0

    # ------------------------------------------------------------------------------------------------------- search
    def nearest(self, filter: Filter, model: int, query: Vector, limit: int) -> list[Hit]:
        dim, _ = self._model(model)
        if limit < 1 or query.shape != (dim,):
            return []
        seen = passages(filter, self._numbers.reach(filter))
        signatures = self._signatures(model)
        if signatures is None:
            return self._compare(seen, model, query, self._qualifying(seen, model, -1), limit)
        plain = ordinary(filter)
        enough = max(6 * limit, CANDIDATES) if plain else max(4 * limit, CANDIDATES * 2 // 3)
        looked_at = enough
        while True:
            near, there = signatures.near(query, self._places(filter), looked_at)
            near += self._unseen(signatures, model, near)
            candidates = near if plain else self._passing(seen, near)
            complete = looked_at >= there
            if len(candidates) >= enough or complete:
                hits = self._compare(seen, model, query, candidates, limit)
                if len(hits) >= limit or complete:
                    return hits
            share = max(len(candidates) / max(len(near), 1), 0.001)
            if share * there <= FEW and len(few := self._qualifying(seen, model, FEW + 1)) <= FEW:
                return self._compare(seen, model, query, few, limit)
            looked_at = max(2 * looked_at, int(1.2 * enough / share))

    def _unseen(self, signatures: Signatures, model: int, known: list[int]) -> list[int]:
        """What this transaction itself changed, which the process must not remember before the commit."""
        if not self._writer.wrote:
            return []
        rows = self._session.all(self._sql["changed"], {"seq": signatures.seq, "model": model})
        return list({row[0] for row in rows}.difference(known))

    def _passing(self, seen: Condition, ids: list[int]) -> list[int]:
        """Those that the filter lets through."""
        query = self._sql["passing"].fill(joins=seen.joins, where=seen.where)
        return [row[0] for row in self._session.among(query, ids, seen.params)]

    def cosines(self, vault: str, model: int, query: Vector, passages: Sequence[int]) -> dict[int, float]:
        rows = self._session.among(self._sql["vectors_in_vault"], passages, {"vault": vault, "model": model})
        return dict(zip([row[0] for row in rows], _cosines(rows, query).tolist()))

    def background(self, filter: Filter, model: int, query: Vector) -> tuple[float, float] | None:
        sample = self._sample(filter.vault, model, len(query))
        if sample is None:
            return None
        cosines = sample @ query
        return float(cosines.mean()), float(cosines.std())

    def _places(self, filter: Filter) -> list[int]:
        within = self._numbers.reach(filter).scopes if filter.as_of is None else None
        scopes = self._numbers.every(filter.vault) if within is None else list(within)
        return scopes if live_only(filter) else [*scopes, *[-scope for scope in scopes]]

    def _signatures(self, model: int) -> Signatures | None:
        """The process's signatures, as new as this transaction; None while the model has no centre."""
        from dolmen.store.sqlite.signatures import Signatures

        row = self._session.one(self._sql["clock"])
        assert row is not None
        seq, epoch = row
        with self._shared.lock:
            known = self._shared.signatures.get(model)
            if known is not None and known.epoch == epoch:
                if seq > known.seq and not self._writer.wrote:  # what is not committed must not be remembered
                    known.follow(self._session, seq)
                return known
            dim, centre = self._model(model)
            if centre is None:
                return None
            fresh = Signatures(model, dim, centre, seq, epoch)
            fresh.load(self._session)
            if not self._writer.wrote:
                self._shared.signatures[model] = fresh
            return fresh

    def _qualifying(self, seen: Condition, model: int, limit: int) -> list[int]:
        query = self._sql["qualifying"].fill(joins=seen.joins, where=seen.where)
        return [row[0] for row in self._session.all(query, {**seen.params, "model": model, "limit": limit})]

    def _compare(self, seen: Condition, model: int, query: Vector, candidates: list[int], limit: int) -> list[Hit]:
        """The nearest of the candidates that pass the filter."""
        import numpy as np

        rows = self._session.among(self._sql["vectors"], candidates, {"model": model})
        cosines = _cosines(rows, query)
        hits: list[Hit] = []
        best_first = np.argsort(-cosines, kind="stable").tolist()
        text = self._sql["hits"].fill(joins=seen.joins, where=seen.where)
        for chunk in doubling(best_first, limit):
            passing = {row[0]: row for row in self._session.among(text, [rows[i][0] for i in chunk], seen.params)}
            kept = [i for i in chunk if rows[i][0] in passing]
            hits += [_hit(passing[rows[i][0]], float(cosines[i])) for i in kept]
            if len(hits) >= limit:
                break
        return hits[:limit]

    def _sample(self, vault: str, model: int, dim: int) -> NDArray[np.float32] | None:
        """Vectors of passages spread over all that the viewer may see of the vault; taken again when their number has
        changed by a quarter."""
        import numpy as np

        scopes = self._numbers.every(vault)
        whose = (vault, model, tuple(self._numbers.audiences(vault)))
        [(total,)] = self._session.among(self._sql["embedded_total"], scopes, {"model": model}) or [(0,)]
        if total < 8:
            return None
        known = self._shared.samples.get(whose)
        if known is not None and abs(known[0] - total) * 4 <= known[0] and known[1].shape[1] == dim:
            return known[1]
        ids = [row[0] for row in self._session.among(self._sql["embedded"], scopes, {"model": model})]
        some = ids if len(ids) <= SAMPLE else [ids[i * len(ids) // SAMPLE] for i in range(SAMPLE)]
        rows = self._session.among(self._sql["vectors"], some, {"model": model})
        sample: NDArray[np.float32] = _matrix(rows, dim) / np.float32(SCALE)
        if not self._writer.wrote:
            if len(self._shared.samples) >= SAMPLES_KEPT:
                self._shared.samples.clear()
            self._shared.samples[whose] = (total, sample)
        return sample


def _hit(row: Row, cosine: float) -> Hit:
    return Hit(passage=row[0], memory=row[1], score=cosine, tokens=row[2], length=row[3])


def _cosines(rows: Sequence[Row], query: Vector) -> NDArray[np.float32]:
    import numpy as np

    return (_matrix(rows, len(query)) @ (query / SCALE)).astype(np.float32)


def _matrix(rows: Sequence[Row], dim: int) -> NDArray[np.float32]:
    """Rows (passage, stored vector) as (n, dim) float32, not yet divided by SCALE."""
    import numpy as np

    return np.frombuffer(b"".join([row[1] for row in rows]), "<i2").reshape(-1, dim).astype(np.float32)


def unpacked(data: bytes) -> Vector:
    """A stored vector at unit length."""
    import numpy as np

    vector = np.frombuffer(data, "<i2").astype(np.float32) / np.float32(SCALE)
    return vector / max(float(np.linalg.norm(vector)), 1e-9)
