"""The vector leg: exact where few passages are in sight, pgvector's HNSW index where many are.

An HNSW index knows nothing of filters: it gives the nearest of everybody, and the filter takes away afterwards. So it
is asked only where a good share of the index is in sight, it goes on by itself until enough have passed
(`hnsw.iterative_scan`), and when it gives up early the exact search answers instead (B018).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dolmen.store.contract import Filter, Hit
from dolmen.store.filter import live_only, ordinary, passages
from dolmen.store.postgres.adapt import HalfVector
from dolmen.store.postgres.connections import EF_SEARCH
from dolmen.store.postgres.session import PostgresSession
from dolmen.store.postgres.sight import Sight, look
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Row
from dolmen.store.sql import queries

if TYPE_CHECKING:
    from dolmen.store.contract import Vector

EXACT = 2000
"""So many vectors are compared one by one in the time that the index takes to find its way."""
HNSW_DIMENSIONS = 4000
"""The most that pgvector's HNSW takes for `halfvec`; vectors of more are compared one by one."""
SAMPLE, LEAST_SAMPLE = 256, 8


class MeaningSearch:
    """The vector leg of `contract.Index`, for one transaction."""

    def __init__(self, session: PostgresSession, numbers: ScopeNumbers, dimensions: dict[int, int]) -> None:
        self._session = session
        self._numbers = numbers
        self._dimensions = dimensions
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

    # ------------------------------------------------------------------------------------------------------ nearest
    def nearest(self, filter: Filter, model: int, query: Vector, limit: int) -> list[Hit]:
        sight = look(self._numbers, filter)
        if limit < 1 or not sight.scopes:
            return []
        wanted = HalfVector(query)
        hits = self._nearest_live(filter, sight, model, wanted, limit)
        if not live_only(filter):
            hits += self._exact(filter, sight, model, wanted, limit, live=0)[0]
            hits.sort(key=lambda hit: (-hit.score, hit.passage))
        return hits[:limit]

    def _nearest_live(self, filter: Filter, sight: Sight, model: int, query: HalfVector, limit: int) -> list[Hit]:
        if not self._indexed(filter, sight, model, limit):
            return self._exact(filter, sight, model, query, limit)[0]
        if not ordinary(filter):  # it may let little through: then those few are compared
            hits, qualifying = self._exact(filter, sight, model, query, limit, bound=EXACT + 1)
            if qualifying <= EXACT:
                return hits
        hits = self._by_index(filter, sight, model, query, limit)
        return hits if len(hits) == limit else self._exact(filter, sight, model, query, limit)[0]

    def _indexed(self, filter: Filter, sight: Sight, model: int, limit: int) -> bool:
        """Whether the index is the quicker way: it reads about as many vectors as it takes to meet enough in sight."""
        here, in_vault = sight.totals(self._session)
        if here <= EXACT or self._dimension(model) > HNSW_DIMENSIONS:
            return False
        row = self._session.one(self._sql["size"], {"vault": filter.vault})
        indexed = max(in_vault, row[0] if row else 0)
        return here > max(limit, EF_SEARCH) * indexed / here

    def _exact(
        self,
        filter: Filter,
        sight: Sight,
        model: int,
        query: HalfVector,
        limit: int,
        *,
        live: int = 1,
        bound: int | None = None,
    ) -> tuple[list[Hit], int]:
        """The nearest among those that the filter lets through, and how many those are, up to the bound."""
        seen = passages(filter, sight.within)
        place = {"scopes": list(sight.scopes), "live": live, "model": model}
        asked = {**place, "query": query, "bound": bound, "limit": limit}
        statement = self._sql["exact"].fill(joins=seen.joins, where=seen.where)
        rows = self._session.fresh(statement, {**seen.params, **asked})
        return [_hit(row[:5]) for row in rows], rows[0][5] if rows else 0

    def _by_index(self, filter: Filter, sight: Sight, model: int, query: HalfVector, limit: int) -> list[Hit]:
        seen = passages(filter, sight.within)
        statement = self._sql["nearest"].fill(
            joins=seen.joins, where=seen.where, model=str(model), dim=str(self._dimension(model))
        )
        return [_hit(row) for row in self._session.fresh(statement, {**seen.params, "query": query, "limit": limit})]

    def _dimension(self, model: int) -> int:
        found = self._dimensions.get(model)
        if found is None:
            row = self._session.one(self._sql["dimension"], {"model": model})
            found = self._dimensions[model] = int(row[0]) if row else HNSW_DIMENSIONS + 1
        return found

    # ------------------------------------------------------------------------------------------------------- cosines
    def cosines(self, vault: str, model: int, query: Vector, ids: list[int]) -> dict[int, float]:
        params = {"vault": vault, "model": model, "query": HalfVector(query), "ids": ids}
        return dict(self._session.all(self._sql["cosines"], params)) if ids else {}

    def background(self, filter: Filter, model: int, query: Vector) -> tuple[float, float] | None:
        small = look(self._numbers, filter).totals(self._session)[1] <= SAMPLE
        params = {"vault": filter.vault, "model": model, "query": HalfVector(query), "size": SAMPLE}
        [(number, mean, deviation)] = self._session.all(
            self._sql["background" if small else "background_sample"], params
        )
        return None if number < LEAST_SAMPLE else (mean, deviation)


def _hit(row: Row) -> Hit:
    id, memory, cosine, tokens, length = row
    return Hit(id, memory, cosine, tokens, length)
