"""`contract.Index`, apart from how it searches."""

from __future__ import annotations

import pytest

from dolmen.store.contract import Passage
from tests.contract.given import START, Desk, add, passage, unit


def test_passages_are_numbered_in_the_order_given(desk: Desk) -> None:
    text = "한국어 first part. Second part 🎉 here."
    memory = desk.memory(text)
    cut = 16
    parts = [
        Passage(memory.id, "user", "", 0, 0, cut, ("first", "part"), True, START),
        Passage(memory.id, "user", "", 1, cut, len(text), ("second", "part"), True, START),
    ]
    with desk.store.write() as tx:
        tx.memories.add(memory, "k")
        ids = tx.index.put("v", parts)
        assert tx.index.put("v", []) == []
        assert tx.index.spans("v", ids) == {ids[0]: (0, cut), ids[1]: (cut, len(text))}
        assert [hit.passage for hit in tx.index.match(desk.sight(), ["second"], 9)] == [ids[1]]
        model = tx.index.model("m", 64, tx.now)
        assert [(p.passage, p.text) for p in tx.index.pending(model, 9)] == [
            (ids[0], text[:cut]),
            (ids[1], text[cut:]),
        ]


def test_a_passage_without_tokens_is_kept_and_can_be_embedded(desk: Desk) -> None:
    memory = desk.add("!!!")
    model = desk.embed({memory.id: unit(1)})
    assert desk.nearest(desk.sight(), model, unit(1)) == [memory.id]
    desk.change(memory, status="deleted")
    assert desk.nearest(desk.sight(), model, unit(1)) == []


def test_what_waits_for_a_vector_is_given_live_and_old_first(desk: Desk) -> None:
    old = desk.add("old text", scope="project:a")
    gone = desk.add("gone")
    desk.clock.pass_()
    desk.change(gone, status="deleted")
    new = desk.change(old, text="new text")
    other = desk.add("elsewhere", vault="w")
    with desk.store.write() as tx:
        model = tx.index.model("m", 64, tx.now)
        waiting = tx.index.pending(model, 99)
        assert [(p.vault, p.memory, p.text) for p in waiting[:2]] == [
            ("v", new.id, "new text"),
            ("w", other.id, "elsewhere"),
        ]
        assert {(p.memory, p.text) for p in waiting[2:]} == {(gone.id, "gone"), (old.id, "old text")}
        assert [p.passage for p in tx.index.pending(model, 3)] == [p.passage for p in waiting[:3]]
        assert tx.index.pending(model, 0) == []
        tx.index.set_vectors("v", model, [(waiting[0].passage, unit(1))])
        assert [p.passage for p in tx.index.pending(model, 99)] == [p.passage for p in waiting[1:]]


def test_health_counts_the_live_passages_in_sight(desk: Desk) -> None:
    first = desk.add("one")
    at = desk.clock.pass_()
    second = desk.add("two")
    desk.add("three", scope="project:x")
    desk.add("four", vault="w")
    desk.change(desk.add("gone"), status="deleted")
    model = desk.embed({first.id: unit(1)})
    with desk.store.read() as tx:
        health = tx.index.health(desk.sight(), model)
        assert (health.passages, health.embedded, health.oldest_pending_at) == (2, 1, at)
        assert tx.index.health(desk.sight(scopes=None), model).passages == 3
        without = tx.index.health(desk.sight(), None)
        assert (without.passages, without.embedded) == (2, 0)
    desk.embed({second.id: unit(2)})
    with desk.store.read() as tx:
        health = tx.index.health(desk.sight(), model)
        assert (health.embedded, health.oldest_pending_at, health.models) == (2, None, {"m": 2})
        nothing = tx.index.health(desk.sight("project:none"), model)
        assert (nothing.passages, nothing.embedded, nothing.oldest_pending_at) == (0, 0, None)


def test_the_index_of_a_vault_is_made_again_from_the_rows(desk: Desk) -> None:
    """DESIGN rule 9, B056: it can be dropped at any time; other vaults keep theirs."""
    memories = [desk.add(f"heron {n}") for n in range(20)]
    foreign = desk.add("heron elsewhere", vault="w")
    vectors = {memory.id: unit(n) for n, memory in enumerate([*memories, foreign])}
    model = desk.embed(vectors)
    with desk.store.write() as tx:
        tx.index.clear("v")
        assert tx.index.match(desk.sight(), ["heron"], 99) == []
        assert tx.index.frequencies(desk.sight(), ["heron"], 99) == (0, {"heron": 0})
        assert tx.index.nearest(desk.sight(), model, unit(1), 9) == []
        assert tx.index.health(desk.sight(), model).passages == 0
        assert [hit.memory for hit in tx.index.match(desk.sight(vault="w"), ["heron"], 9)] == [foreign.id]
        assert [hit.memory for hit in tx.index.nearest(desk.sight(vault="w"), model, unit(1), 9)] == [foreign.id]
        for memory in tx.memories.stream("v"):
            tx.index.put("v", [passage(memory, memory.created_at)])
    desk.embed(vectors)
    assert len(desk.found(desk.sight(), "heron")) == 20
    assert desk.nearest(desk.sight(), model, unit(3), 1) == [memories[3].id]


def test_a_memory_is_dropped_from_the_index_alone(desk: Desk) -> None:
    one, two = desk.add("heron one"), desk.add("heron two")
    model = desk.embed({one.id: unit(1), two.id: unit(2)})
    with desk.store.write() as tx:
        tx.index.drop("w", [one.id])
        tx.index.drop("v", [one.id, "unknown"])
        tx.index.retire("w", two.id, tx.now)
        tx.index.set_live("w", two.id, False)
        tx.index.retire("v", "unknown", tx.now)
        tx.index.set_live("v", "unknown", False)
        assert tx.memories.get("v", one.id) == one
    assert desk.found(desk.sight(), "heron") == [two.id]
    assert desk.nearest(desk.sight(), model, unit(1)) == [two.id]


def test_every_scope_of_a_large_vault_is_searched_when_none_is_named(desk: Desk) -> None:
    memories = [desk.memory(f"heron {n}", scope=f"project:{n}") for n in range(150)]
    with desk.store.write() as tx:
        for memory in memories:
            add(tx, memory)
    everywhere = desk.sight(scopes=None)
    assert set(desk.found(everywhere, "heron", 999)) == {memory.id for memory in memories}
    assert desk.found(everywhere, "149") == [memories[149].id]
    with desk.store.read() as tx:
        assert tx.index.frequencies(everywhere, ["heron", "149"], 999) == (150, {"heron": 150, "149": 1})
    model = desk.embed({memory.id: unit(n) for n, memory in enumerate(memories)})
    assert desk.nearest(everywhere, model, unit(3), 1) == [memories[3].id]
    assert len(desk.nearest(everywhere, model, unit(3), 999)) == 150


@pytest.mark.parametrize("live", [True, False])
def test_what_is_put_as_not_live_is_not_served(desk: Desk, live: bool) -> None:
    from dataclasses import replace

    memory = desk.memory("heron", status="active" if live else "deleted")
    with desk.store.write() as tx:
        tx.memories.add(memory, "k")
        tx.index.put("v", [replace(passage(memory, START), live=live)])
    assert desk.found(desk.sight(), "heron") == ([memory.id] if live else [])
    assert desk.found(desk.sight(statuses=("deleted",)), "heron") == ([] if live else [memory.id])
