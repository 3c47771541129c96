"""The vector leg of `contract.Index`."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dolmen.domain.audience import Viewer, everybody, of_persons
from dolmen.domain.memory import Memory
from dolmen.domain.values import DAY
from dolmen.store.ids import rising
from dolmen.store.opening import open_store
from tests.contract.given import START, Desk, add, by, near, passage, unit


def many(desk: Desk, number: int, **fields: object) -> list[Memory]:
    memories = [desk.memory(f"{fields} {n}", **fields) for n in range(number)]
    with desk.store.write() as tx:
        for memory in memories:
            add(tx, memory)
    return memories


def spread(memories: list[Memory], start: int = 0) -> dict[str, np.ndarray]:
    return {memory.id: unit(start + n) for n, memory in enumerate(memories)}


def closest(vectors: dict[str, np.ndarray], query: np.ndarray, limit: int) -> list[str]:
    return sorted(vectors, key=lambda id: -float(vectors[id] @ query))[:limit]


@pytest.mark.parametrize("number", [3, 40, 700])
def test_the_nearest_come_first_with_their_cosines(desk: Desk, number: int) -> None:
    vectors = spread(many(desk, number))
    model = desk.embed(vectors)
    query = near(unit(1), 10_001, 0.5)
    with desk.store.read() as tx:
        hits = tx.index.nearest(desk.sight(), model, query, 10)
        assert tx.index.cosines("v", model, query, [hit.passage for hit in hits]) == pytest.approx(
            {hit.passage: hit.score for hit in hits}, abs=1e-6
        )
        assert tx.index.cosines("w", model, query, [hit.passage for hit in hits]) == {}
        assert tx.index.cosines("v", model, query, [10**9]) == {}
    assert [hit.memory for hit in hits] == closest(vectors, query, 10)
    assert [hit.score for hit in hits] == pytest.approx([float(vectors[hit.memory] @ query) for hit in hits], abs=2e-3)
    assert [hit.score for hit in hits] == sorted([hit.score for hit in hits], reverse=True)


def test_as_many_come_back_as_qualify_however_many_others_are_nearer(desk: Desk) -> None:
    """B018: a scoped query over a large store returns min(limit, rows of the scope)."""
    crowd = many(desk, 1500, scope="project:p")
    few = many(desk, 30, scope="project:q")
    marked = many(desk, 5, scope="project:p", kind="decision")
    query = unit(77)
    desk.embed({memory.id: near(query, n, 0.2) for n, memory in enumerate(crowd)})
    model = desk.embed(spread([*few, *marked], 9000))
    assert sorted(desk.nearest(desk.sight("project:q"), model, query, 20)) == sorted(
        closest(spread([*few, *marked], 9000) | {memory.id: -query for memory in marked}, query, 20)
    )
    assert len(desk.nearest(desk.sight("project:q"), model, query, 50)) == 30
    assert set(desk.nearest(desk.sight("project:p", kinds=("decision",)), model, query, 50)) == {m.id for m in marked}
    assert len(desk.nearest(desk.sight("project:p"), model, query, 600)) == 600


def test_deleted_memories_take_no_place_of_live_ones(desk: Desk) -> None:
    """B026."""
    crowd = many(desk, 900)
    query = unit(77)
    model = desk.embed({memory.id: near(query, n, 0.2) for n, memory in enumerate(crowd)})
    desk.nearest(desk.sight(), model, query)
    with desk.store.write() as tx:
        tx.memories.purge("v", [memory.id for memory in crowd[:450]])
        for memory in crowd[450:899]:
            after = memory.with_(version=2, status="deleted")
            tx.memories.update(memory, after, by(tx.now), memory.id)
            tx.index.set_live("v", memory.id, False)
    assert desk.nearest(desk.sight(), model, query, 1) == [crowd[899].id]
    assert len(desk.nearest(desk.sight(statuses=("deleted",)), model, query, 999)) == 449


def test_what_was_just_written_is_found_before_and_after_the_commit(desk: Desk, engine_url: str) -> None:
    """In its own transaction, then at once by every other process."""
    model = desk.embed(spread(many(desk, 600)))
    query = near(unit(4242), 1, 0.1)
    other = open_store(engine_url, desk.clock, rising(desk.clock))
    with other.read() as tx:
        assert len(tx.index.nearest(desk.sight(), model, query, 9)) == 9
    fresh = desk.memory("fresh")
    with desk.store.write() as tx:
        tx.memories.add(fresh, "k")
        (id,) = tx.index.put("v", [passage(fresh, tx.now)])
        tx.index.set_vectors("v", model, [(id, unit(4242))])
        assert tx.index.nearest(desk.sight(), model, query, 9)[0].memory == fresh.id
        with other.read() as outside:
            assert fresh.id not in {hit.memory for hit in outside.index.nearest(desk.sight(), model, query, 9)}
    for store in (desk.store, other):
        with store.read() as tx:
            assert tx.index.nearest(desk.sight(), model, query, 9)[0].memory == fresh.id
    other.close()


def test_what_was_rolled_back_is_found_by_nobody(desk: Desk) -> None:
    model = desk.embed(spread(many(desk, 600)))
    ghost = desk.memory("ghost")
    with pytest.raises(RuntimeError, match="stop"), desk.store.write() as tx:  # noqa: PT012
        tx.memories.add(ghost, "k")
        (id,) = tx.index.put("v", [passage(ghost, tx.now)])
        tx.index.set_vectors("v", model, [(id, unit(4242))])
        assert tx.index.nearest(desk.sight(), model, unit(4242), 1)[0].memory == ghost.id
        raise RuntimeError("stop")
    late = desk.add("late")
    desk.embed({late.id: unit(4343)})
    assert ghost.id not in desk.nearest(desk.sight(), model, unit(4242), 600)
    assert desk.nearest(desk.sight(), model, unit(4343), 1) == [late.id]


def test_models_never_mix_and_the_old_one_serves_until_it_is_replaced(desk: Desk) -> None:
    """B012, B014, B017."""
    memories = many(desk, 20)
    old = desk.embed(spread(memories), "old")
    with desk.store.write() as tx:
        assert tx.index.model("old", 64, tx.now) == old
        assert tx.index.find_model("old", 64) == old
        assert tx.index.find_model("old", 32) is None
        same_size = tx.index.model("new", 64, tx.now)
        larger = tx.index.model("new", 128, tx.now)
        assert len({old, same_size, larger}) == 3
        assert len(tx.index.pending(same_size, 99)) == 20
    assert desk.nearest(desk.sight(), same_size, unit(1)) == []
    assert len(desk.nearest(desk.sight(), old, unit(1))) == 20
    half = {memory.id: unit(n, 128) for n, memory in enumerate(memories[:8])}
    assert desk.embed(half, "new", 128) == larger
    with desk.store.read() as tx:
        health = tx.index.health(desk.sight(), larger)
        assert (health.passages, health.embedded, health.models) == (20, 8, {"old": 12, "new": 8})
        assert len(tx.index.pending(larger, 99)) == 12
    assert set(desk.nearest(desk.sight(), larger, unit(1, 128))) == set(half)
    assert set(desk.nearest(desk.sight(), old, unit(1))) == {memory.id for memory in memories[8:]}


def test_a_vector_of_another_size_than_its_models_is_refused(desk: Desk) -> None:
    memory = desk.add("one")
    model = desk.embed({memory.id: unit(1)})
    with pytest.raises(ValueError, match="64"), desk.store.write() as tx:
        tx.index.set_vectors("v", model, [(1, unit(1, 32))])


def test_a_vector_for_a_passage_that_is_gone_is_skipped(desk: Desk) -> None:
    memory, foreign = desk.add("one"), desk.add("two", vault="w")
    model = desk.embed({})
    with desk.store.write() as tx:
        passages = {each.memory: each.passage for each in tx.index.pending(model, 9)}
        tx.memories.purge("v", [memory.id])
        tx.index.set_vectors("v", model, [(passages[memory.id], unit(1)), (passages[foreign.id], unit(2))])
        assert tx.index.health(desk.sight(scopes=None), model).models == {}
        assert [each.memory for each in tx.index.pending(model, 9)] == [foreign.id]


def test_a_vector_is_replaced_by_a_newer_one(desk: Desk) -> None:
    memories = many(desk, 600)
    model = desk.embed(spread(memories))
    desk.nearest(desk.sight(), model, unit(1))
    with desk.store.write() as tx:
        (hit,) = tx.index.nearest(desk.sight(), model, unit(5), 1)
        tx.index.set_vectors("v", model, [(hit.passage, unit(7007))])
    assert desk.nearest(desk.sight(), model, unit(7007), 1) == [hit.memory]
    assert desk.nearest(desk.sight(), model, unit(5), 1) != [hit.memory]


def test_the_background_is_the_mean_and_spread_of_ordinary_cosines(desk: Desk) -> None:
    model = desk.embed(vectors := spread(many(desk, 7)))
    with desk.store.read() as tx:
        assert tx.index.background(desk.sight(), model, unit(1)) is None
    vectors |= spread(many(desk, 200, scope="project:x"), 50)
    desk.embed(vectors)
    query = unit(9999)
    with desk.store.read() as tx:
        found = tx.index.background(desk.sight(), model, query)
        assert tx.index.background(desk.sight(vault="w"), model, query) is None
    assert found is not None
    cosines = np.array([float(vector @ query) for vector in vectors.values()])
    assert found == pytest.approx((cosines.mean(), cosines.std()), abs=0.05)


@pytest.mark.parametrize(("seen", "hidden"), [(20, 20), (300, 900), (700, 300)])
def test_the_background_is_made_of_what_the_one_who_looks_may_see(desk: Desk, seen: int, hidden: int) -> None:
    """C-46: a mean over a few vectors tells much about each of them."""
    query = unit(9999)
    others = many(desk, hidden, audience=of_persons(["bob"]))
    mine = many(desk, seen)
    vectors = spread(mine) | {memory.id: near(query, n, 0.2) for n, memory in enumerate(others)}
    model = desk.embed(vectors)
    for viewer, visible in ((everybody("v"), mine), (Viewer("v", "bob"), [*mine, *others]), (None, [*mine, *others])):
        with desk.store.read(viewer) as tx:
            found = tx.index.background(desk.sight(), model, query)
        cosines = np.array([float(vectors[memory.id] @ query) for memory in visible])
        assert found == pytest.approx((cosines.mean(), cosines.std()), abs=0.06)


def test_passages_of_the_past_are_near_as_of_their_time(desk: Desk) -> None:
    memory = desk.add("heron")
    model = desk.embed({memory.id: unit(1)})
    desk.clock.pass_()
    changed = desk.change(memory, text="stork")
    desk.embed({memory.id: unit(2)})
    with desk.store.read() as tx:
        (now,) = tx.index.nearest(desk.sight(), model, unit(1), 9)
        (then,) = tx.index.nearest(desk.sight(as_of=START), model, unit(1), 9)
    assert (now.memory, now.tokens, round(now.score, 2)) == (changed.id, "stork", round(float(unit(1) @ unit(2)), 2))
    assert (then.memory, then.tokens, round(then.score, 2)) == (memory.id, "heron", 1.0)


def test_limits_and_questions_of_another_size_find_nothing(desk: Desk) -> None:
    model = desk.embed(spread(many(desk, 3)))
    assert desk.nearest(desk.sight(), model, unit(1), 0) == []
    assert desk.nearest(desk.sight("project:none"), model, unit(1)) == []


def test_the_past_beyond_every_memory_is_empty(desk: Desk) -> None:
    model = desk.embed(spread(many(desk, 3)))
    assert desk.nearest(desk.sight(as_of=START - DAY), model, unit(1)) == []


def test_the_vectors_of_memories_come_back_as_they_were_given(desk: Desk) -> None:
    one, two, none = desk.add("one"), desk.add("two"), desk.add("three")
    given = {one.id: unit(1), two.id: unit(2)}
    model = desk.embed(given)
    other = desk.embed({none.id: unit(3)}, "other")
    with desk.store.write() as tx:
        long = desk.memory("first part, second part")
        tx.memories.add(long, "long")
        parts = [replace(passage(long, tx.now), ord=n) for n in range(2)]
        tx.index.set_vectors("v", model, [(id, unit(9)) for id in tx.index.put("v", parts)])
    every = [one.id, two.id, none.id, long.id, "not-here"]
    with desk.store.read() as tx:
        found = tx.index.vectors("v", model, every)
        assert sorted(found) == sorted(given)
        for id, vector in found.items():
            assert float(vector @ given[id]) > 0.999
            assert abs(float(vector @ vector) - 1) < 1e-3
        assert list(tx.index.vectors("v", other, every)) == [none.id]
        assert tx.index.vectors("w", model, every) == {}
        assert tx.index.vectors("v", model, []) == {}
    changed = desk.change(one, text="one more")
    with desk.store.read() as tx:
        assert changed.id not in tx.index.vectors("v", model, every)
