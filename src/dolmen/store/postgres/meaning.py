"""The vector leg: exact where few passages are in sight, pgvector's HNSW index where many are.

An HNSW index knows nothing of filters: it gives the nearest of everybody, and the filter takes away afterwards. So it
is asked only where a good share of the index is in sight, it goes on by itself until enough have passed
(`hnsw.iterative_scan`), and when it gives up early the exact search answers instead (B018).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dolmen.store.contract import Filter, Hit
from dolmen.store.filter import condition, live_only, ordinary, passages
from dolmen.store.indexing import single
from dolmen.store.postgres.adapt import HalfVector, matrix
from dolmen.store.postgres.connections import EF_SEARCH
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.postgres.sight import Sight, Sights
from dolmen.store.session import Row
from dolmen.store.sql import queries

if TYPE_CHECKING:
    from dolmen.store.contract import Vector

INDEX_PRICE = 7
"""A vector met in the index costs about as much as this many compared one by one (measured: 20 and 3 microseconds)."""
FEW = 3000
"""When no more are in sight, or a filter lets no more through, none of the nearest is missed: all are compared."""
HNSW_DIMENSIONS = 4000
"""The most that pgvector's HNSW takes for `halfvec`; vectors of more are compared one by one."""
SAMPLE, LEAST_SAMPLE = 256, 8
"""Vectors that stand for a vault's when a query's cosines are judged; fewer than the latter say nothing."""
SAMPLES_KEPT = 64


class SharedVectors:
    """What a process remembers of vectors between transactions."""

    def __init__(self) -> None:
        self.dimensions: dict[int, int] = {}
        """Of the models; these never change."""
        self.samples: dict[tuple[str, int, tuple[str, ...]], tuple[int, Vector]] = {}
        """(vault, model, audiences of the viewer) -> how many live passages they saw, and vectors of some of them. What
        others keep to themselves says nothing here: a mean over a few vectors tells much about each of them."""


class MeaningSearch:
    """The vector leg of `contract.Index`, for one transaction."""

    def __init__(self, session: PostgresSession, sights: Sights, shared: SharedVectors) -> None:
        self._session = session
        self._sights = sights
        self._shared = shared
        self._sql = queries("search", "postgres")

    # ------------------------------------------------------------------------------------------------------- models
    def find_model(self, name: str, dim: int) -> int | None:
        row = self._session.one(self._sql["model"], {"name": name, "dim": dim})
        return None if row is None else int(row[0])

    def model(self, name: str, dim: int, at: int) -> int:
        found = self.find_model(name, dim)
        if found is not None:
            return found
        self._session.run(self._sql["add_model"], {"name": name, "dim": dim, "at": at})
        found = self.find_model(name, dim)
        assert found is not None, "just added, by this process or by another that has committed"
        if dim <= HNSW_DIMENSIONS:
            self._session.script(self._sql["add_hnsw"].fill(model=str(found), dim=str(dim)).text)
        return found

    def set_vectors(self, vault: str, model: int, items: Sequence[tuple[int, Vector]]) -> None:
        dim = self._dimension(model)
        if any(vector.shape != (dim,) for _, vector in items):
            raise ValueError(f"the vectors of model {model} have {dim} dimensions")
        if not items:
            return
        params = {"vault": vault, "model": model, "ids": [id for id, _ in items]}
        self._session.run(self._sql["hold"], params)
        self._session.run(self._sql["count_vectors"], params)
        rows = [{"vault": vault, "model": model, "id": id, "vec": HalfVector(vector)} for id, vector in items]
        self._session.many(self._sql["set_vector"], rows)

    # ------------------------------------------------------------------------------------------------------ nearest
    def nearest(self, filter: Filter, model: int, query: Vector, limit: int) -> list[Hit]:
        sight = self._sights.look(filter)
        if limit < 1 or not sight.scopes or query.shape != (self._dimension(model),):
            return []
        wanted = HalfVector(query)
        hits = self._nearest_live(filter, sight, model, wanted, limit)
        if not live_only(filter):
            hits += self._exact(filter, sight, model, wanted, limit, live=0)
            hits.sort(key=lambda hit: (-hit.score, hit.passage))
        return hits[:limit]

    def _nearest_live(self, filter: Filter, sight: Sight, model: int, query: HalfVector, limit: int) -> list[Hit]:
        if self._by_index_is_cheaper(filter, sight, model, limit):
            hits = self._by_index(filter, sight, model, query, limit)
            if len(hits) == limit:
                return hits
        search = self._closest if ordinary(filter) else self._exact
        return search(filter, sight, model, query, limit)

    def _by_index_is_cheaper(self, filter: Filter, sight: Sight, model: int, limit: int) -> bool:
        """Whether the index finds enough that pass before it has cost as much as comparing all of them."""
        if self._dimension(model) > HNSW_DIMENSIONS or not sight.live:
            return False
        indexed = max(sight.live_in_vault, sight.indexed)
        if sight.live <= max(FEW, INDEX_PRICE * max(limit, EF_SEARCH) * indexed / sight.live):
            return False
        return ordinary(filter) or self._qualifying(filter, sight, FEW + 1) > FEW

    def _qualifying(self, filter: Filter, sight: Sight, bound: int) -> int:
        seen = condition(filter, sight.reach)
        query = self._sql["qualifying"].fill(joins=seen.joins, where=seen.where)
        [(number,)] = self._session.fresh(query, {**seen.params, "bound": bound})
        return int(number)

    def _closest(self, filter: Filter, sight: Sight, model: int, query: HalfVector, limit: int) -> list[Hit]:
        """The nearest of some scopes under an ordinary filter."""
        seen = passages(filter, sight.reach)
        most = limit + limit // 4 + 16
        statement = self._sql["closest"].fill(joins=seen.joins, where=seen.where)
        asked = {"scopes": list(sight.scopes), "model": model, "query": query, "most": most, "limit": limit}
        hits = [Hit(*row) for row in self._session.fresh(statement, {**seen.params, **asked})]
        if len(hits) == limit or sight.live <= most:
            return hits
        return self._exact(filter, sight, model, query, limit)

    def _exact(
        self, filter: Filter, sight: Sight, model: int, query: HalfVector, limit: int, *, live: int = 1
    ) -> list[Hit]:
        seen = passages(filter, sight.reach)
        place = {"scopes": list(sight.scopes), "live": live, "model": model}
        statement = self._sql["exact"].fill(joins=seen.joins, where=seen.where)
        rows = self._session.fresh(statement, {**seen.params, **place, "query": query, "limit": limit})
        return [Hit(*row) for row in rows]

    def _by_index(self, filter: Filter, sight: Sight, model: int, query: HalfVector, limit: int) -> list[Hit]:
        seen = passages(filter, sight.reach)
        statement = self._sql["nearest"].fill(
            joins=seen.joins, where=seen.where, model=str(model), dim=str(self._dimension(model))
        )
        rows = self._session.fresh(statement, {**seen.params, "query": query, "limit": limit})
        return [Hit(*row) for row in rows]

    def _dimension(self, model: int) -> int:
        """0 for a model that nobody registered."""
        found = self._shared.dimensions.get(model, 0)
        if not found and (row := self._session.one(self._sql["dimension"], {"model": model})):
            found = self._shared.dimensions[model] = int(row[0])
        return found

    # ------------------------------------------------------------------------------------------------------- cosines
    def cosines(self, vault: str, model: int, query: Vector, ids: list[int]) -> dict[int, float]:
        params = {"vault": vault, "model": model, "query": HalfVector(query), "ids": ids}
        fits = query.shape == (self._dimension(model),)
        return dict(self._session.all(self._sql["cosines"], params)) if ids and fits else {}

    def of_memories(self, vault: str, model: int, ids: list[str]) -> dict[str, Vector]:
        asked = {"vault": vault, "model": model, "ids": ids}
        found = single(self._session.binary(self._sql["vectors_of_memories"], asked)) if ids else {}
        if not found:
            return {}
        rows = matrix(list(found.values()), self._dimension(model))
        return {id: row / max(float((row @ row) ** 0.5), 1e-9) for id, row in zip(found, rows, strict=True)}

    def background(self, filter: Filter, model: int, query: Vector) -> tuple[float, float] | None:
        if query.shape != (self._dimension(model),):
            return None
        sample = self._sample(filter, model)
        if len(sample) < LEAST_SAMPLE:
            return None
        cosines = sample @ query
        return float(cosines.mean()), float(cosines.std())

    def _sample(self, filter: Filter, model: int) -> Vector:
        """Some vectors of all that the viewer may see of the vault; the process keeps them while there is about as
        much of it."""
        sight = self._sights.look(Filter(filter.vault, None, filter.now))
        total, whose = sight.live, (filter.vault, model, sight.audiences)
        known = self._shared.samples.get(whose)
        if known is not None and total > SAMPLE and abs(known[0] - total) * 4 <= known[0]:
            return known[1]
        rows = self._vectors("sample" if total <= SAMPLE else "spread_sample", sight, model)
        if len(rows) < SAMPLE // 2 and SAMPLE < total <= sight.live_in_vault // 2:
            rows = self._vectors("sparse_sample", sight, model)  # what they may see lies too far apart
        found = matrix([row[0] for row in rows], self._dimension(model))
        if len(rows) >= SAMPLE // 2:  # else most passages still wait for their vector
            if len(self._shared.samples) >= SAMPLES_KEPT:
                self._shared.samples.clear()
            self._shared.samples[whose] = (total, found)
        return found

    def _vectors(self, query: str, sight: Sight, model: int) -> list[Row]:
        asked = {"vault": sight.vault, "model": model, "size": SAMPLE, "scopes": list(sight.scopes)}
        return self._session.binary(self._sql[query], asked)
