"""Notes: their addresses, their past, and the memories that are their blocks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.note import Note
from dolmen.domain.text import content_key
from tests.contract.given import Desk, by, link, proposal


def note(desk: Desk, permalink: str = "backend/auth", **fields: Any) -> Note:
    with desk.store.read() as tx:
        id = tx.new_id()
    given = {"id": id, "vault": "v", "scope": "user", "permalink": permalink, "title": "Auth", "source": "# Auth\n"}
    return Note(**{**given, "created_at": desk.clock.now, "updated_at": desk.clock.now} | fields)


def added(desk: Desk, permalink: str = "backend/auth", **fields: Any) -> Note:
    made = note(desk, permalink, **fields)
    with desk.store.write() as tx:
        assert tx.notes.add(made)
    return made


def changed(desk: Desk, before: Note, **fields: Any) -> Note:
    desk.clock.pass_()
    with desk.store.write() as tx:
        after = before.with_(**{"version": before.version + 1, "updated_at": tx.now} | fields)
        tx.notes.update(before, after, by(tx.now, "edit"))
    return after


def test_a_note_comes_back_as_it_was_stored(desk: Desk) -> None:
    made = added(
        desk,
        "backend/인증-결정",
        source="---\r\na: b \r\n---\r\n# 인증\r\n\ttabs  \r\nno end",
        blocks=("blk_8bcbdac3", "blk_8bcbdac3-2"),
        kind="decision",
        label="결정",
        path="Back End/인증 결정.md",
        agent="codex",
        person="o",
        session="s",
    )
    with desk.store.read() as tx:
        assert tx.notes.get("v", made.id) == made
        assert tx.notes.at_address("v", "Backend/인증-결정") == made
        assert tx.notes.many("v", [made.id, "nobody"]) == {made.id: made}
        assert list(tx.notes.stream("v")) == [made]
        assert tx.notes.get("w", made.id) is None
        assert tx.notes.at_address("w", made.permalink) is None
        assert tx.notes.named("w", ["backend/인증-결정"]) == {}


def test_an_address_names_one_live_note_and_a_deleted_one_gives_it_free(desk: Desk) -> None:
    """C-97"""
    first = added(desk)
    with desk.store.write() as tx:
        assert not tx.notes.add(note(desk, "BACKEND/auth"))
        assert tx.notes.add(note(desk, vault="w"))
    gone = changed(desk, first, status="deleted", reason="twice")
    second = added(desk)
    with desk.store.read() as tx:
        assert tx.notes.at_address("v", "backend/auth") == second
        assert tx.notes.get("v", first.id) == gone
    with pytest.raises(DolmenError) as refused:
        changed(desk, gone, status="active")
    assert refused.value.code == "conflict"
    assert refused.value.data["current"] == second.id


def test_a_change_keeps_what_was_before_it_and_only_of_the_stored_version(desk: Desk) -> None:
    first = added(desk)
    second = changed(desk, first, source="# Two\n", blocks=("blk_00000002",))
    third = changed(desk, second, source="# Three\n")
    with desk.store.read() as tx:
        revisions = tx.notes.revisions("v", first.id)
        assert [revision.note for revision in revisions] == [first, second]
        assert (revisions[0].op, revisions[0].agent, revisions[0].reason) == ("edit", "claude-code", "as asked")
        assert tx.notes.at("v", first.id, first.created_at) == first
        assert tx.notes.at("v", first.id, second.updated_at) == second
        assert tx.notes.at("v", first.id, third.updated_at) == third
        assert tx.notes.at("v", first.id, first.created_at - 1) is None
    with pytest.raises(DolmenError) as refused:
        changed(desk, second, source="# Late\n")
    assert refused.value.code == "conflict"
    with pytest.raises(ValueError, match="next version"):
        changed(desk, third, version=7)


def test_a_moved_note_is_found_where_it_was_and_keeps_that_address(desk: Desk) -> None:
    first = added(desk)
    moved = changed(desk, first, permalink="web/login")
    with desk.store.write() as tx:
        assert tx.notes.at_address("v", "backend/auth") == moved
        assert not tx.notes.add(note(desk, "backend/auth"))
        assert tx.notes.aliases("v") == {"backend/auth": first.id}
        [line] = tx.notes.named("v", ["backend/auth"])["backend/auth"]
        assert line.permalink == "web/login"
    back = changed(desk, moved, permalink="backend/auth")
    with desk.store.read() as tx:
        assert tx.notes.aliases("v") == {"web/login": first.id}
        assert tx.notes.at_address("v", "web/login") == back


def test_notes_are_named_by_address_title_and_last_part(desk: Desk) -> None:
    """C-107"""
    near = added(desk, "store", title="Something")
    far = added(desk, "backend/store", title="Session Store")
    added(desk, "old/store", title="Gone", status="deleted")
    with desk.store.read() as tx:
        found = tx.notes.named("v", ["store", "session store", "nothing"])
    assert [line.id for line in found["store"]] == [near.id, far.id]
    assert [line.id for line in found["session store"]] == [far.id]
    assert set(found) == {"store", "session store"}


def test_notes_are_listed_in_order_and_in_pages_without_their_words(desk: Desk) -> None:
    """C-237"""
    made = []
    for name in ("b/two", "a", "b/c/three", "b/one"):
        made.append(added(desk, name))
        desk.clock.pass_()
    added(desk, "elsewhere", scope="project:shop")
    added(desk, "deleted", status="deleted")
    sight = desk.sight()
    with desk.store.read() as tx:
        first = tx.notes.select(sight, limit=3)
        assert [line.permalink for line in first] == ["a", "b/c/three", "b/one"]
        assert [line.version for line in first] == [1, 1, 1]
        assert [line.permalink for line in tx.notes.select(sight, limit=3, after=first[-1].id)] == ["b/two"]
        assert [line.permalink for line in tx.notes.select(sight, "changed", 2)] == ["b/one", "b/c/three"]
        below = tx.notes.select(replace(sight, folder="b"))
        assert [line.permalink for line in below] == ["b/c/three", "b/one", "b/two"]
        assert tx.notes.folders(sight) == {"": 1, "b": 2, "b/c": 1}
    changed(desk, made[1])
    with desk.store.read() as tx:
        assert [(line.permalink, line.version) for line in tx.notes.select(sight, "changed", 1)] == [("a", 2)]
        below = replace(sight, folder="b")
        for seen, deepest, wanted in ((sight, 0, 1), (sight, 1, 3), (sight, 2, 4), (below, 1, 2), (below, 2, 3)):
            lines = tx.notes.select(seen, deepest=deepest)
            assert [line.id for line in lines] == [
                line.id for line in tx.notes.select(seen) if len(line.folder.split("/")) - (not line.folder) <= deepest
            ]
            assert len(lines) == wanted
            assert tx.notes.select(seen, deepest=deepest, after=lines[0].id) == lines[1:]
        assert [line.scope for line in tx.notes.select(desk.sight("project:shop"))] == ["project:shop"]
        with pytest.raises(DolmenError) as refused:
            tx.notes.select(sight, after="nobody")
    assert refused.value.code == "gone"


def test_blocks_may_say_the_same_in_two_notes_and_beside_a_memory(desk: Desk) -> None:
    one, two = added(desk, "one"), added(desk, "two")
    alone = desk.add("The same words.")
    with desk.store.write() as tx:
        for home in (one, two):
            block = desk.memory("The same words.", note=home.id, block="blk_8bcbdac3")
            assert tx.memories.add(block, content_key(block.text))
        assert not tx.memories.add(desk.memory("The same words."), content_key("The same words."))
        found = tx.memories.by_content("v", "user", "", "fact", content_key("The same words."))
        assert found == alone
        [block] = tx.memories.blocks("v", two.id)
        assert (block.note, block.block) == (two.id, "blk_8bcbdac3")
        assert tx.memories.blocks("w", two.id) == []
    assert len(desk.ids(desk.sight())) == 3
    assert desk.ids(replace(desk.sight(), note="")) == [alone.id]
    assert desk.ids(replace(desk.sight(), note=two.id)) == [block.id]


def test_a_block_is_placed_without_a_revision(desk: Desk) -> None:
    home = added(desk)
    before = desk.add("Words.", note=home.id, block="blk_00000001", tags=("old",))
    after = replace(before, title="Auth", folder="web", tags=("new",), block="blk_00000002", kind="decision")
    with desk.store.write() as tx:
        tx.memories.place(before, after, content_key(after.text))
        assert tx.memories.get("v", before.id) == after
        assert tx.memories.revisions("v", before.id) == []
    assert desk.ids(replace(desk.sight(), tags=("new",))) == [before.id]
    with pytest.raises(DolmenError) as refused, desk.store.write() as tx:
        tx.memories.place(replace(before, version=3), after, "x")
    assert refused.value.code == "conflict"


def test_the_block_that_a_memory_was_is_kept_in_its_past(desk: Desk) -> None:
    home = added(desk)
    before = desk.add("One.", note=home.id, block="blk_00000001")
    desk.change(before, text="Two.", block="blk_00000002")
    with desk.store.read() as tx:
        [revision] = tx.memories.revisions("v", before.id)
    assert revision.memory == before


def test_notes_move_with_their_project(desk: Desk) -> None:
    made = added(desk, scope="project:old")
    made = changed(desk, made, source="# New\n")
    with desk.store.write() as tx:
        tx.scopes.alias("v", "project:old", "project:new")
    with desk.store.read() as tx:
        found = tx.notes.get("v", made.id)
        assert found is not None
        assert found.scope == "project:new"
        assert [revision.note.scope for revision in tx.notes.revisions("v", made.id)] == ["project:new"]


def test_an_import_writes_notes_with_their_past_and_former_addresses(desk: Desk) -> None:
    first = added(desk)
    moved = changed(desk, first, permalink="web/login")
    with desk.store.read() as tx:
        past = tx.notes.revisions("v", first.id)
    there = [replace(each, note=replace(each.note, vault="w")) for each in past]
    with desk.store.write() as tx:
        assert tx.notes.restore(replace(moved, vault="w"), there, ["backend/auth"])
        assert not tx.notes.restore(replace(moved, vault="w"), there)
        assert tx.notes.at_address("w", "backend/auth") == replace(moved, vault="w")
        assert tx.notes.revisions("w", first.id) == there


def test_words_leave_a_note_and_its_past(desk: Desk) -> None:
    first = added(desk, source="A secret\n", title="A secret")
    now = changed(desk, first, source="A secret\n\nMore\n")
    with desk.store.write() as tx:
        [past] = tx.notes.revisions("v", first.id)
        kept = replace(past, note=replace(past.note, source="", title="Cleared"), reason="")
        tx.notes.rewrite(replace(now, source="More\n", title="Cleared"), [kept])
    with desk.store.read() as tx:
        found = tx.notes.get("v", first.id)
        assert found is not None
        assert (found.source, found.title, found.version) == ("More\n", "Cleared", 2)
        assert tx.notes.revisions("v", first.id) == [kept]
        assert tx.notes.named("v", ["a secret"]) == {}


def test_a_purge_of_a_note_leaves_nothing_of_it(desk: Desk) -> None:
    first = added(desk)
    moved = changed(desk, first, permalink="web/login")
    other = added(desk, "other")
    with desk.store.write() as tx:
        tx.proposals.add(proposal("p", note=first.id, payload={"content": "words"}))
        tx.proposals.add(proposal("q", note=other.id))
        assert [p.id for p in tx.proposals.for_note("v", first.id)] == ["p"]
    with pytest.raises(DolmenError) as refused, desk.store.write() as tx:
        tx.proposals.add(proposal("r", note="nobody"))
    assert refused.value.code == "gone"
    with desk.store.write() as tx:
        tx.notes.purge("w", [moved.id])
        assert tx.notes.get("v", moved.id) is not None
        tx.notes.purge("v", [moved.id])
        assert tx.notes.get("v", moved.id) is None
        assert tx.notes.revisions("v", moved.id) == []
        assert tx.notes.aliases("v") == {}
        assert [p.id for p in tx.proposals.stream("v")] == ["q"]
        assert tx.notes.add(note(desk, "backend/auth"))


def test_a_link_may_lead_to_a_name_that_no_note_has_yet(desk: Desk) -> None:
    """C-107"""
    home = added(desk)
    block = desk.add("depends_on [[Store]]", note=home.id, block="blk_00000001")
    with desk.store.write() as tx:
        assert tx.links.add("v", link(block.id, "store", "depends_on"))
        assert [edge.source for edge in tx.links.around("v", ["store"])] == [block.id]
        for target in ("store#blk_00000002", "store-2", "stor", "store/deep", "store$"):
            assert tx.links.add("v", link(block.id, target))
        assert {edge.target for edge in tx.links.toward("v", ["store", "nobody"])} == {"store", "store#blk_00000002"}
        assert tx.links.toward("w", ["store"]) == []


def test_many_blocks_are_added_at_once_with_their_tags(desk: Desk) -> None:
    home = added(desk)
    made = [desk.memory("The same.", note=home.id, block=f"blk_{n:08x}", tags=(f"t{n % 2}",)) for n in range(600)]
    with desk.store.write() as tx:
        tx.memories.add_blocks([])
        tx.memories.add_blocks([(memory, content_key(memory.text)) for memory in made])
        assert sorted(tx.memories.blocks("v", home.id), key=lambda m: m.block) == made
    assert len(desk.ids(replace(desk.sight(), tags=("t1",)), limit=1000)) == 300
