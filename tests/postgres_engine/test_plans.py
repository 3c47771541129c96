"""How the server answers: one partition of eight, and the scope inside the scan, not after it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from dolmen.domain.text import analyze
from dolmen.store.contract import Tx
from dolmen.store.filter import Reach, condition, passages
from dolmen.store.ids import rising
from dolmen.store.postgres.adapt import HalfVector
from dolmen.store.postgres.engine import PostgresStore
from dolmen.store.postgres.session import PostgresSession, numbered
from dolmen.store.postgres.words import lexemes
from dolmen.store.sql import Query, queries
from tests.conftest import NewStore
from tests.contract.given import Clock, Desk, passage, unit

SEARCH = queries("search", "postgres")


@pytest.fixture(scope="module")
def filled(new_module_store: NewStore) -> Iterator[Desk]:
    """What `young` has, and the server's statistics of it."""
    with fill(new_module_store) as desk:
        with desk.store.write() as tx:
            session_of(tx).script("ANALYZE memory; ANALYZE passage; ANALYZE passage_vector; ANALYZE revision")
        yield desk


@pytest.fixture(scope="module")
def young(new_module_store: NewStore) -> Iterator[Desk]:
    """A store that grew so fast that the server has no statistics of it yet."""
    with fill(new_module_store) as desk:
        yield desk


@contextmanager
def fill(new_module_store: NewStore) -> Iterator[Desk]:
    """2,000 memories in project P and 30 in Q, with vectors of 8 dimensions."""
    clock = Clock()
    store = PostgresStore(new_module_store("postgres"), clock, rising(clock))
    desk = Desk(store, clock)
    with store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
    with store.write() as tx:
        model = tx.index.model("m", 8, 1)
        scopes = ["project:p"] * 2000 + ["project:q"] * 30
        made = [desk.memory(f"heron number{n}", scope=scope) for n, scope in enumerate(scopes)]
        for memory in made:
            assert tx.memories.add(memory, memory.text)
        tx.index.put("v", [passage(memory, tx.now) for memory in made])
        waiting = [each.passage for each in tx.index.pending(model, 5000)]
        tx.index.set_vectors("v", model, [(id, unit(id, 8)) for id in waiting])
    yield desk
    store.close()


def session_of(tx: Tx) -> PostgresSession:
    session: PostgresSession = tx.index._session  # type: ignore[attr-defined]  # of PostgresIndex
    return session


def plan(tx: Tx, query: Query, params: dict[str, Any]) -> list[dict[str, Any]]:
    """The nodes of the plan, outermost first."""
    text, names = numbered(query)
    cursor = session_of(tx).connection.execute(
        b"EXPLAIN (ANALYZE, FORMAT JSON) " + text, [params[name] for name in names], prepare=False
    )
    row = cursor.fetchone()
    assert row is not None
    tree = row[0] if isinstance(row[0], list) else json.loads(row[0])
    return list(nodes(tree[0]["Plan"]))


def nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from nodes(child)


def tables(found: list[dict[str, Any]]) -> set[str]:
    """Those that were read; what is pruned while the statement runs stands in the plan, too."""
    return {node["Relation Name"] for node in found if "Relation Name" in node and node["Actual Loops"]}


def test_a_read_of_one_vault_opens_one_partition_of_each_table(filled: Desk) -> None:
    with filled.store.read() as tx:
        seen = condition(filled.sight("project:p", as_of=filled.clock.now), Reach([1, 2]))
        query = Query("test", f"SELECT m.id FROM memory m {seen.joins} WHERE {seen.where}")
        opened = tables(plan(tx, query, dict(seen.params)))
    assert sorted(re.sub(r"\d", "N", name) for name in opened) == ["memory_N", "revision_N"]


def test_the_text_search_reads_the_entries_of_its_own_scope_only(filled: Desk) -> None:
    """Common words of project P cost nothing in project Q."""
    with filled.store.read() as tx:
        scope = scope_id(tx, "project:q")
        [token] = analyze("heron", query=True)
        asked = {"vault": "v", "queries": [lexemes([f"s{scope}:"], token)], "bound": 2001}
        found = plan(tx, SEARCH["probe"], asked)
        assert {re.sub(r"\d", "N", name) for name in tables(found)} == {"passage_N"}
        [scan] = [node for node in found if node["Node Type"] == "Bitmap Index Scan"]
        assert scan["Actual Rows"] == 30
        assert tx.index.frequencies(filled.sight("project:q"), [token], 1000) == (30, {token: 30})


def test_the_vector_index_is_walked_with_the_filter_inside_until_enough_have_passed(filled: Desk) -> None:
    with filled.store.read() as tx:
        scope = scope_id(tx, "project:p")
        seen = passages(filled.sight("project:p"), Reach([scope]))
        query = SEARCH["nearest"].fill(joins=seen.joins, where=seen.where, model="1", dim="8")
        found = plan(tx, query, {**seen.params, "query": HalfVector(unit(1, 8)), "limit": 20})
    assert found[0]["Node Type"] == "Limit"
    assert {re.sub(r"\d", "N", name) for name in tables(found)} == {"memory_N", "passage_N", "passage_vector_N"}
    [walk] = [node for node in found if "Order By" in node]
    assert walk["Relation Name"].startswith("passage_vector_")
    assert walk["Actual Rows"] < 400, "it stops when enough have passed"
    [filtered] = [node for node in found if node.get("Alias") == "m"]
    assert "scope_id" in filtered["Filter"]
    assert "Sort" not in {node["Node Type"] for node in found}


def test_a_small_scope_is_compared_exactly_through_its_own_index(filled: Desk) -> None:
    with filled.store.read() as tx:
        scope = scope_id(tx, "project:q")
        seen = passages(filled.sight("project:q"), Reach([scope]))
        query = SEARCH["exact"].fill(joins=seen.joins, where=seen.where)
        place = {"scopes": [scope], "live": 1, "model": 1}
        found = plan(tx, query, {**seen.params, **place, "query": HalfVector(unit(1, 8)), "limit": 20})
    read = [node["Actual Rows"] * node["Actual Loops"] for node in found if "Relation Name" in node]
    assert max(read) <= 60, "nothing of the other 4,000 is looked at"


@pytest.mark.parametrize("name", ["hits", "likeliest", "match", "closest", "nearest"])
def test_memories_of_chosen_passages_are_looked_up_one_by_one_also_before_the_server_has_statistics(
    young: Desk, name: str
) -> None:
    """Without them it takes reading the whole scope each time for as cheap; a growing store would stand still."""
    with young.store.read() as tx:
        scope = scope_id(tx, "project:p")
        seen = passages(young.sight("project:p"), Reach([scope]))
        query = SEARCH[name].fill(joins=seen.joins, where=seen.where, model="1", dim="8")
        [token] = analyze("heron", query=True)
        given = {
            "ids": list(range(1, 21)), "scores": [1.0] * 20, "k1": 1.2, "b": 0.75, "keep": 20, "limit": 20, "most": 20,
            "bound": 20, "queries": [lexemes([f"s{scope}:"], token)], "weights": [1.0], "scopes": [scope], "model": 1,
            "query": HalfVector(unit(1, 8)),
        }  # fmt: skip
        found = plan(tx, query, {**given, **seen.params})
    [memories] = [node for node in found if node.get("Relation Name", "").startswith("memory_")]
    assert memories["Actual Loops"] >= 10
    assert memories["Actual Rows"] == 1


def scope_id(tx: Tx, name: str) -> int:
    query = Query("test", "SELECT id FROM scope WHERE vault_id = 'v' AND name = :name")
    row = session_of(tx).one(query, {"name": name})
    assert row is not None
    return int(row[0])
