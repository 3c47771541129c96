"""Many rows of others never take the place of the few that are asked for (B018)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from dolmen.domain.memory import Memory
from dolmen.store.contract import Filter, Hit
from dolmen.store.ids import rising
from dolmen.store.postgres.adapt import HalfVector, adapt
from dolmen.store.postgres.engine import PostgresStore
from tests.conftest import NewStore
from tests.contract.given import Clock, Desk

DIM = 16
NORTH = np.eye(DIM, dtype=np.float32)[0]
SIZES = {"project:p": 10_000, "project:far": 40_000, "project:q": 30}
"""Vectors point anywhere. Those of P are the nearest to the north: who asks from there meets P before the rest."""


def places() -> dict[str, NDArray[np.float32]]:
    cloud = np.random.default_rng(1).normal(size=(sum(SIZES.values()), DIM)).astype(np.float32)
    cloud /= np.linalg.norm(cloud, axis=1, keepdims=True)
    few, many = cloud[:30], cloud[30:]
    near_first = many[np.argsort(-(many @ NORTH))]
    return {"project:p": near_first[:10_000], "project:far": near_first[10_000:], "project:q": few}


class Crowd:
    """50,000 memories in two projects and 30 in a third, all with the word `heron`."""

    model = 1

    def __init__(self, url: str) -> None:
        self.clock = Clock()
        self.store = PostgresStore(url, self.clock, rising(self.clock))
        with self.store.write() as tx:
            tx.accounts.add_vault("v", "Ada's", "o", "Ada")
        desk = Desk(self.store, self.clock)
        first = [desk.add("the first one", scope=scope) for scope in SIZES]
        self.vectors: dict[int, NDArray[np.float32]] = {}
        with psycopg.connect(url, cursor_factory=psycopg.RawCursor) as connection:
            adapt(connection)
            for scope, vectors in places().items():
                self._fill(connection, scope, vectors)
            connection.execute("ANALYZE")
        with self.store.write() as tx:
            tx.memories.purge("v", [memory.id for memory in first])
            # Last, so that the vector index is made in one go: that takes a tenth of the time.
            assert tx.index.model("m", DIM, 1) == self.model

    def _fill(self, connection: psycopg.Connection[tuple[int]], scope: str, vectors: NDArray[np.float32]) -> None:
        """Copies of the first memory of the scope; every hundredth is a decision."""
        [number] = connection.execute("SELECT id FROM scope WHERE name = $1", [scope]).fetchone() or (0,)
        connection.execute(
            "INSERT INTO memory SELECT (populated).* FROM (SELECT jsonb_populate_record(m, jsonb_build_object("
            " 'id', m.scope_id || '-' || n, 'content_key', n::text, 'kind', CASE n % 100 WHEN 0 THEN 'decision'"
            " ELSE 'fact' END)) AS populated FROM memory m CROSS JOIN generate_series(1, $1) AS n"
            " WHERE m.scope_id = $2 AND m.content_key NOT LIKE '%-%') AS made",
            [len(vectors), number],
        )
        ids = connection.execute(
            "INSERT INTO passage"
            " (vault_id, memory_id, scope_id, live, ord, start_at, end_at, length, valid_from, tokens)"
            " SELECT 'v', $2 || '-' || n, $2, 1, 0, 0, 9, 2, 0, 'heron number' || n FROM generate_series(1, $1) AS n"
            " RETURNING id",
            [len(vectors), number],
        ).fetchall()
        connection.execute("INSERT INTO passage_count VALUES ('v', $1, 1, $2, $3)", [number, self.model, len(vectors)])
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO passage_vector VALUES ('v', $1, $2, 1, $3::halfvec)",
                [(id, self.model, HalfVector(vector)) for (id,), vector in zip(ids, vectors)],
            )
        self.vectors |= {id: vector for (id,), vector in zip(ids, vectors)}

    def sight(self, scope: str, **fields: object) -> Filter:
        return Filter(vault="v", scopes=(scope,), now=self.clock.now, **fields)  # type: ignore[arg-type]  # by name

    def nearest(self, sight: Filter, limit: int) -> list[Hit]:
        with self.store.read() as tx:
            return tx.index.nearest(sight, self.model, NORTH, limit)

    def memories(self, ids: list[str]) -> dict[str, Memory]:
        with self.store.read() as tx:
            return tx.memories.many("v", ids)


@pytest.fixture(scope="module")
def crowd(new_module_store: NewStore) -> Iterator[Crowd]:
    made = Crowd(new_module_store("postgres"))
    yield made
    made.store.close()


@pytest.mark.slow
def test_a_small_project_beside_a_large_one_gets_all_that_it_asks_for(crowd: Crowd) -> None:
    """B018: 50,000 rows elsewhere, 30 here, limit 20: always min(limit, rows)."""
    hits = crowd.nearest(crowd.sight("project:q"), 20)
    assert len(hits) == 20
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert {memory.scope for memory in crowd.memories([hit.memory for hit in hits]).values()} == {"project:q"}
    assert len(crowd.nearest(crowd.sight("project:q"), 100)) == 30
    with crowd.store.read() as tx:
        words = tx.index.match(crowd.sight("project:q"), ["heron"], 20)
        assert len(words) == 20
        assert len(tx.index.match(crowd.sight("project:q"), ["heron"], 100)) == 30
        assert {m.scope for m in tx.memories.many("v", [hit.memory for hit in words]).values()} == {"project:q"}


@pytest.mark.slow
def test_a_large_project_far_from_the_question_gets_all_that_it_asks_for(crowd: Crowd) -> None:
    """B018: the index meets 10,000 of others first and gives up; the exact search then answers."""
    hits = crowd.nearest(crowd.sight("project:far"), 20)
    assert {memory.scope for memory in crowd.memories([hit.memory for hit in hits]).values()} == {"project:far"}
    best = sorted((float(NORTH @ vector) for vector in crowd.vectors.values()), reverse=True)
    assert len(hits) == 20
    assert hits[0].score < best[10_000]


@pytest.mark.slow
@pytest.mark.parametrize("limit", [1, 20, 300])
def test_a_large_project_gets_nearly_the_nearest_there_are(crowd: Crowd, limit: int) -> None:
    sight = Filter(vault="v", scopes=("project:p", "project:far"), now=crowd.clock.now)
    hits = crowd.nearest(sight, limit)
    assert len(hits) == limit
    here = {id: float(NORTH @ vector) for id, vector in crowd.vectors.items()}
    near = sorted(here.values(), reverse=True)[: limit + 30]
    assert sum(hit.score >= near[-1] - 0.001 for hit in hits) >= 0.95 * limit
    assert all(abs(hit.score - here[hit.passage]) < 0.002 for hit in hits)


@pytest.mark.slow
def test_a_filter_that_lets_little_through_gets_all_that_it_asks_for(crowd: Crowd) -> None:
    """B018 by another filter than the scope: 100 decisions among 10,000 facts."""
    sight = crowd.sight("project:p", kinds=("decision",))
    assert len(crowd.nearest(sight, 20)) == 20
    assert len(crowd.nearest(sight, 200)) == 100
    with crowd.store.read() as tx:
        assert len(tx.index.match(sight, ["heron"], 20)) == 20
        assert len(tx.index.match(sight, ["heron", "number7"], 200)) == 100


@pytest.mark.slow
def test_how_common_a_word_is_gets_estimated_from_what_was_looked_at(crowd: Crowd) -> None:
    with crowd.store.read() as tx:
        total, found = tx.index.frequencies(crowd.sight("project:far"), ["heron", "number77", "nowhere"], 1000)
    assert total == 40_000
    assert 35_000 <= found["heron"] <= 45_000
    assert (found["number77"], found["nowhere"]) == (1, 0)


@pytest.mark.slow
def test_the_background_of_many_passages_is_that_of_a_sample(crowd: Crowd) -> None:
    with crowd.store.read() as tx:
        spread = tx.index.background(crowd.sight("project:p"), crowd.model, NORTH)
    assert spread is not None
    cosines = np.array([float(NORTH @ vector) for vector in crowd.vectors.values()])
    assert abs(spread[0] - cosines.mean()) < 0.1
    assert abs(spread[1] - cosines.std()) < 0.1
