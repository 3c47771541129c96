"""`contract.Scopes`: names, and projects that were renamed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from dolmen.domain.text import content_key
from dolmen.store.contract import Filter
from dolmen.store.ids import rising
from dolmen.store.opening import open_store
from tests.contract.given import START, Desk, add, unit


def test_a_scope_is_there_once_something_was_stored_in_it(desk: Desk) -> None:
    with desk.store.read() as tx:
        assert tx.scopes.names("v") == []
        assert tx.scopes.resolve("v", "project:new") == "project:new"
        assert tx.scopes.names("no such vault") == []
    desk.add("a", scope="project:b")
    desk.add("b")
    with desk.store.read() as tx:
        assert tx.scopes.names("v") == ["project:b", "user"]
        assert tx.scopes.names("w") == []


def test_of_two_that_lock_a_scope_the_second_sees_what_the_first_did(desk: Desk) -> None:
    """Both look first and write then: without the lock, both would find nothing."""

    def once(id: str) -> None:
        with desk.store.write() as tx:
            tx.scopes.lock("v", "project:new")
            if not tx.memories.select(Filter("v", ("project:new",), tx.now)):
                add(tx, desk.memory(id, scope="project:new"))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(once, "abcdef"))
    with desk.store.read() as tx:
        assert len(tx.memories.select(Filter("v", ("project:new",), tx.now))) == 1


def test_a_renamed_project_takes_its_memories_and_their_past_along(desk: Desk) -> None:
    memory, gone = desk.add("heron one", scope="project:old"), desk.add("heron two", scope="project:old")
    desk.clock.pass_()
    desk.change(gone, status="deleted")
    changed = desk.change(memory, text="heron three")
    model = desk.embed({memory.id: unit(1)})
    with desk.store.write() as tx:
        assert tx.scopes.alias("v", "project:old", "project:new") == 2
    with desk.store.read() as tx:
        assert tx.scopes.names("v") == ["project:new"]
        assert tx.scopes.aliases("v") == {"project:old": "project:new"}
        assert tx.scopes.resolve("v", "project:old") == "project:new"
        assert tx.memories.get("v", memory.id) == changed.with_(scope="project:new")
        assert [r.memory.scope for r in tx.memories.revisions("v", memory.id)] == ["project:new"]
        assert tx.memories.count(desk.sight(scopes=None), "scope") == {"project:new": 1}
    for name in ("project:old", "project:new"):
        assert desk.ids(desk.sight(name)) == [memory.id]
        assert desk.found(desk.sight(name), "heron") == [memory.id]
        assert desk.nearest(desk.sight(name), model, unit(2)) == [memory.id]
        assert sorted(desk.ids(desk.sight(name, as_of=START))) == sorted([memory.id, gone.id])


def test_what_is_stored_under_an_old_name_is_stored_under_the_new_one(desk: Desk) -> None:
    desk.add("one", scope="project:old")
    with desk.store.write() as tx:
        tx.scopes.alias("v", "project:old", "project:new")
    memory = desk.add("two", scope="project:old")
    with desk.store.write() as tx:
        stored = tx.memories.get("v", memory.id)
        assert stored is not None
        assert stored.scope == "project:new"
        assert not add(tx, desk.memory("Two", scope="project:new"))
        assert tx.memories.by_content("v", "project:old", "", "fact", content_key("two")) == stored


def test_names_of_names_lead_to_the_last_one(desk: Desk) -> None:
    memory = desk.add("one", scope="project:a")
    with desk.store.write() as tx:
        tx.scopes.alias("v", "project:a", "project:b")
        assert tx.scopes.alias("v", "project:b", "project:c") == 1
        assert tx.scopes.aliases("v") == {"project:a": "project:c", "project:b": "project:c"}
    assert desk.ids(desk.sight("project:a")) == [memory.id]


def test_a_project_can_be_renamed_back(desk: Desk) -> None:
    memory = desk.add("one", scope="project:a")
    with desk.store.write() as tx:
        tx.scopes.alias("v", "project:a", "project:b")
        assert tx.scopes.alias("v", "project:b", "project:a") == 1
    with desk.store.read() as tx:
        assert tx.scopes.aliases("v") == {"project:b": "project:a"}
    assert desk.ids(desk.sight("project:a")) == desk.ids(desk.sight("project:b")) == [memory.id]


def test_a_name_stays_what_it_is_when_it_is_renamed_to_itself(desk: Desk) -> None:
    memory = desk.add("one", scope="project:a")
    with desk.store.write() as tx:
        assert tx.scopes.alias("v", "project:a", "project:a") == 0
        assert tx.scopes.aliases("v") == {}
    assert desk.ids(desk.sight("project:a")) == [memory.id]


def test_an_old_name_can_become_a_project_of_its_own_again(desk: Desk) -> None:
    """The memories stay where the renaming took them."""
    memory = desk.add("one", scope="project:a")
    with desk.store.write() as tx:
        assert tx.scopes.unalias("v", "project:a") is False
        tx.scopes.alias("v", "project:a", "project:b")
    with desk.store.write() as tx:
        assert tx.scopes.unalias("v", "project:a") is True
        assert tx.scopes.unalias("v", "no such scope") is False
    with desk.store.read() as tx:
        assert tx.scopes.aliases("v") == {}
        assert tx.scopes.resolve("v", "project:a") == "project:a"
    assert desk.ids(desk.sight("project:b")) == [memory.id]
    assert desk.ids(desk.sight("project:a")) == []
    late = desk.add("two", scope="project:a")
    assert desk.ids(desk.sight("project:a")) == [late.id]


def test_an_old_name_can_come_to_stand_for_another_project(desk: Desk) -> None:
    memory = desk.add("one", scope="project:a")
    other = desk.add("two", scope="project:z")
    with desk.store.write() as tx:
        tx.scopes.alias("v", "project:a", "project:b")
        assert tx.scopes.alias("v", "project:a", "project:z") == 0
    assert desk.ids(desk.sight("project:a")) == [other.id]
    assert desk.ids(desk.sight("project:b")) == [memory.id]


def test_two_projects_that_say_the_same_say_it_once_when_joined(desk: Desk) -> None:
    """C-110: nothing is lost, the copy is superseded and its history says so."""
    old, new = desk.add("the heron", scope="project:old"), desk.add("the heron", scope="project:new")
    with desk.store.write() as tx:
        assert tx.scopes.alias("v", "project:old", "project:new") == 1
    assert desk.ids(desk.sight("project:new")) == [new.id]
    assert desk.found(desk.sight("project:new"), "heron") == [new.id]
    with desk.store.read() as tx:
        copy = tx.memories.get("v", old.id)
        assert copy is not None
        assert (copy.status, copy.superseded_by, copy.scope) == ("superseded", new.id, "project:new")
        assert [(r.op, r.memory.status) for r in tx.memories.revisions("v", old.id)] == [("alias", "active")]


def test_a_renaming_is_of_one_vault(desk: Desk) -> None:
    here, there = desk.add("one", scope="project:a"), desk.add("one", scope="project:a", vault="w")
    with desk.store.write() as tx:
        tx.scopes.alias("v", "project:a", "project:b")
        assert tx.scopes.aliases("w") == {}
        assert tx.memories.get("w", there.id) == there
    assert desk.ids(desk.sight("project:b")) == [here.id]


def test_another_process_sees_a_renaming_at_once(desk: Desk, engine_url: str) -> None:
    memory = desk.add("one", scope="project:a")
    other = open_store(engine_url, desk.clock, rising(desk.clock))
    with other.read() as tx:
        assert tx.memories.select(desk.sight("project:a")) == [memory]
    with desk.store.write() as tx:
        tx.scopes.alias("v", "project:a", "project:b")
    with other.read() as tx:
        assert tx.scopes.resolve("v", "project:a") == "project:b"
        assert [each.id for each in tx.memories.select(desk.sight("project:a"))] == [memory.id]
    other.close()


def test_a_renaming_that_is_rolled_back_has_never_been(desk: Desk) -> None:
    memory = desk.add("one", scope="project:a")
    with pytest.raises(RuntimeError, match="stop"), desk.store.write() as tx:  # noqa: PT012
        tx.scopes.alias("v", "project:a", "project:b")
        assert tx.scopes.names("v") == ["project:b"]
        raise RuntimeError("stop")
    desk.add("two", scope="project:c")
    with desk.store.read() as tx:
        assert tx.scopes.names("v") == ["project:a", "project:c"]
        assert tx.memories.get("v", memory.id) == memory
