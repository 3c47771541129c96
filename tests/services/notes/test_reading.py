"""Reading, browsing, marking, linking, moving and restoring notes."""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import DAY
from dolmen.services.notes.marking import link_notes, verify_claims
from dolmen.services.notes.moving import move_note, restore_note
from dolmen.services.notes.reading import browse_notes
from tests.services.notes.conftest import Desk

NOTE = "# Auth\n\nWe chose cookies.\n\n## Rules\n\n- [convention] Keys rotate monthly\n\n"
NOTE += "### Deep\n\nBelow.\n\n## Other\n\nElse.\n"


def test_a_note_is_read_with_its_words_once_and_a_list_of_its_blocks(desk: Desk) -> None:
    """C-233, C-236"""
    made = desk.new(NOTE, folder="backend")
    for spelling in ("backend/auth", "kmem://backend/auth", "sp://backend/auth", "dolmen://Backend/Auth", made.note.id):  # type: ignore[union-attr]
        view = desk.read(spelling)
        assert (view.text, view.ref, view.sha) == (NOTE, "dolmen://backend/auth", made.sha)
    assert [(block.type, block.kind, block.verification) for block in view.blocks] == [
        ("heading", "", ""),
        ("paragraph", "note", "accepted"),
        ("heading", "", ""),
        ("item", "convention", "accepted"),
        ("heading", "", ""),
        ("paragraph", "note", "accepted"),
        ("heading", "", ""),
        ("paragraph", "note", "accepted"),
    ]
    assert all(block.ref == f"{view.ref}#{block.id}" for block in view.blocks)


def test_a_section_and_a_block_are_read_alone(desk: Desk) -> None:
    """C-235"""
    ref = desk.new(NOTE).ref
    section = desk.read(ref, section=" RULES ")
    assert section.text == "## Rules\n\n- [convention] Keys rotate monthly\n\n### Deep\n\nBelow.\n\n"
    assert [block.type for block in section.blocks] == ["heading", "item", "heading", "paragraph"]
    block = desk.block(ref, "monthly")
    alone = desk.read(block.ref)
    assert alone.text == "- [convention] Keys rotate monthly"
    assert [each.id for each in alone.blocks] == [block.id]
    assert alone.blocks[0].memory is not None
    assert alone.blocks[0].memory.agent == "claude-code"
    assert block.memory is not None
    assert desk.read(block.memory.id).text == alone.text
    with pytest.raises(DolmenError) as refused:
        desk.read(ref, section="Nowhere")
    assert refused.value.code == "not-found"


def test_folders_and_titles_are_browsed_without_words(desk: Desk) -> None:
    """C-237"""
    for name in ("root", "backend/auth", "backend/db/pool", "backend/db/deep/er", "web/login"):
        desk.new("Words.", permalink=name, title=name.upper())
    top = browse_notes(desk.rt, desk.agent)
    assert [(line.path, line.notes) for line in top.folders] == [("backend", 3), ("web", 1)]
    assert [entry.permalink for entry in top.notes] == ["root"]
    two = browse_notes(desk.rt, desk.agent, "backend", 2)
    assert [(line.path, line.notes) for line in two.folders] == [("backend/db", 2), ("backend/db/deep", 1)]
    assert [entry.title for entry in two.notes] == ["BACKEND/AUTH", "BACKEND/DB/POOL"]
    first = browse_notes(desk.rt, desk.agent, depth=9, limit=3)
    rest = browse_notes(desk.rt, desk.agent, depth=9, limit=3, cursor=first.cursor)
    assert [e.permalink for e in (*first.notes, *rest.notes)] == [
        "backend/auth", "backend/db/deep/er", "backend/db/pool", "root", "web/login",
    ]  # fmt: skip
    assert (first.truncated, rest.truncated, rest.cursor) == (True, False, None)


def test_what_changed_since_a_time_comes_newest_first(desk: Desk) -> None:
    """C-237"""
    desk.new("Old.", title="Old")
    desk.house.clock.advance(DAY)
    since = desk.house.clock.now
    desk.new("New.", title="New")
    desk.edit("old", "append", "More.")
    desk.new("Last.", title="Last")
    listing = browse_notes(desk.rt, desk.agent, changed_since=since)
    assert [entry.permalink for entry in listing.notes] == ["last", "old", "new"]
    assert listing.folders == ()


def test_a_note_of_a_project_is_seen_with_it_and_not_without(desk: Desk) -> None:
    desk.new("Shop words.", title="Shop", project="shop")
    assert browse_notes(desk.rt, desk.agent).notes == ()
    assert [e.permalink for e in browse_notes(desk.rt, desk.agent, project="shop").notes] == ["shop"]
    assert desk.house.refs("shop words") == []
    assert len(desk.house.refs("shop words", project="shop")) == 1


# --------------------------------------------------------------------------------------------------------------- verify
def test_a_block_a_note_or_many_notes_are_marked_and_no_byte_changes(desk: Desk) -> None:
    """C-144"""
    ref = desk.new(NOTE).ref
    other = desk.new("Something else.", title="Other").ref
    before = desk.read(ref)
    block = desk.block(ref, "monthly")
    assert len(verify_claims(desk.rt, desk.agent, [block.ref], "verified", "in staging").marked) == 1
    assert desk.block(ref, "monthly").verification == "verified"
    assert desk.block(ref, "cookies").verification == "accepted"
    assert len(verify_claims(desk.rt, desk.agent, [ref, other, "nobody/here"], "stale").marked) == 5
    after = desk.read(ref)
    assert {b.verification for b in after.blocks if b.memory} == {"stale"}
    assert (after.text, after.sha, after.note.version) == (before.text, before.sha, before.note.version)
    assert verify_claims(desk.rt, desk.agent, [before.blocks[0].ref], "verified").marked == ()
    with pytest.raises(DolmenError) as refused:
        verify_claims(desk.rt, desk.agent, ["nobody/here"], "stale")
    assert refused.value.code == "not-found"
    with pytest.raises(DolmenError):
        verify_claims(desk.rt, desk.agent, [ref], "maybe")


def test_a_superseded_claim_leaves_answers_until_it_is_marked_otherwise(desk: Desk) -> None:
    """C-144, C-145"""
    ref = desk.new(NOTE).ref
    block = desk.block(ref, "monthly")
    verify_claims(desk.rt, desk.agent, [block.ref], "superseded")
    assert desk.house.refs("keys rotate monthly") == []
    desk.edit(ref, "append", "More.")
    assert desk.block(ref, "monthly").status == "superseded"
    verify_claims(desk.rt, desk.agent, [block.ref], "verified")
    assert len(desk.house.refs("keys rotate monthly")) == 1


# ----------------------------------------------------------------------------------------------------------------- link
def test_a_link_is_a_line_in_the_note_and_stays_one(desk: Desk) -> None:
    """C-245, C-246"""
    ref = desk.new("Cookies.", title="Auth").ref
    first = link_notes(desk.rt, desk.agent, ref, "depends_on", "backend/session-store")
    again = link_notes(desk.rt, desk.agent, ref, "depends_on", "kmem://backend/session-store")
    assert (first.outcome, first.resolved, again.outcome) == ("stored", False, "unchanged")
    assert desk.read(ref).text.endswith("Cookies.\n\n- depends_on [[backend/session-store]]")
    desk.new("Redis.", title="Session store", folder="backend")
    third = link_notes(desk.rt, desk.agent, ref, "part_of", "Session Store")
    assert (third.to, third.resolved) == ("dolmen://backend/session-store", True)
    assert desk.read(ref).text.endswith("- part_of [[backend/session-store]]")
    with pytest.raises(DolmenError) as refused:
        link_notes(desk.rt, desk.agent, "nobody", "part_of", "auth")
    assert "remember" in refused.value.fix
    with pytest.raises(DolmenError):
        link_notes(desk.rt, desk.agent, ref, "Part Of", "auth")
    with pytest.raises(DolmenError):
        link_notes(desk.rt, desk.agent, ref, "part_of", "auth")


def test_an_edge_goes_with_its_line_and_a_block_can_be_its_end(desk: Desk) -> None:
    store = desk.new("Redis holds sessions.", title="Store").ref
    block = desk.block(store, "Redis")
    ref = desk.new("Cookies.", title="Auth").ref
    link_notes(desk.rt, desk.agent, ref, "depends_on", block.ref)
    [edge] = desk.read(store, "links").links
    assert (edge.rel, edge.resolved) == ("depends_on", True)
    desk.edit(edge.source, "replace_block", "")
    assert desk.read(store, "links").links == ()


def test_a_link_to_a_block_is_still_seen_after_the_block_was_reworded(desk: Desk) -> None:
    """C-103, C-107: also after a move; the link says the block that makes the statement now."""
    store = desk.new("Redis holds sessions for a day.\n\nNothing else does.", title="Store").ref
    block = desk.block(store, "Redis")
    ref = desk.new(f"Cookies.\n\n- depends_on [[store#{block.id}]]\n- part_of [[Store]]", title="Auth").ref
    desk.edit(block.ref, "replace_block", "Redis holds sessions for two days.")
    now = desk.block(store, "Redis")
    assert now.id != block.id
    assert {(e.rel, e.to) for e in desk.read(store, "links").links} == {("depends_on", now.ref), ("part_of", store)}
    assert [e.source for e in desk.read(now.ref, "links").links if e.rel == "depends_on"] == [
        desk.block(ref, "depends_on").ref
    ]
    other = desk.block(store, "Nothing")
    assert [e.rel for e in desk.read(other.ref, "links").links] == ["part_of"]
    move_note(desk.rt, desk.agent, store, "web/sessions")
    moved = {(e.rel, e.to) for e in desk.read("web/sessions", "links").links}
    assert moved == {("depends_on", f"dolmen://web/sessions#{now.id}"), ("part_of", "dolmen://web/sessions")}
    desk.edit(f"web/sessions#{now.id}", "replace_block", "")
    assert [e.rel for e in desk.read("web/sessions", "links").links] == ["part_of"]


# ----------------------------------------------------------------------------------------------------- move and restore
def test_a_moved_note_keeps_its_blocks_and_what_links_to_it(desk: Desk) -> None:
    made = desk.new(NOTE, folder="backend")
    from_ = desk.new("See [[backend/auth]].", title="From").ref
    block = desk.block(made.ref, "monthly")
    verify_claims(desk.rt, desk.owner, [block.ref], "verified")
    moved = move_note(desk.rt, desk.agent, made.ref, "web/login", title="Login")
    assert (moved.permalink, moved.title) == ("web/login", "Login")
    assert desk.read("backend/auth").moved
    after = desk.block("web/login", "monthly")
    assert block.memory is not None
    assert after.memory is not None
    assert (after.id, after.memory.id, after.verification) == (block.id, block.memory.id, "verified")
    assert (after.memory.folder, after.memory.title) == ("web", "Login › Auth › Rules")
    [edge] = desk.read(from_, "links").links
    assert (edge.to, edge.resolved) == ("dolmen://web/login", True)
    assert len(desk.read("web/login", "links").links) == 1
    assert desk.new("New.", folder="backend", title="Auth").permalink == "backend/auth-2"
    with pytest.raises(DolmenError) as refused:
        move_note(desk.rt, desk.agent, "from", "backend/auth")
    assert refused.value.code == "conflict"


def test_a_note_is_read_as_it_was(desk: Desk) -> None:
    ref = desk.new(NOTE).ref
    block = desk.block(ref, "monthly")
    then = desk.house.clock.now
    desk.house.clock.advance(DAY)
    verify_claims(desk.rt, desk.owner, [block.ref], "verified")
    desk.edit(block.ref, "replace_block", "- [convention] Keys rotate weekly")
    desk.edit(ref, "delete_note", reason="gone")
    old = desk.read(ref, as_of=then)
    assert old.text == NOTE
    assert [b.verification for b in old.blocks if b.memory and "monthly" in b.memory.text] == ["accepted"]
    with pytest.raises(DolmenError):
        desk.read(ref, as_of=then - DAY)


def test_a_deleted_note_comes_back_with_everything(desk: Desk) -> None:
    ref = desk.new(NOTE).ref
    block = desk.block(ref, "monthly")
    verify_claims(desk.rt, desk.owner, [block.ref], "verified")
    before = {b.id: b.memory.id for b in desk.read(ref).blocks if b.memory}
    desk.edit(ref, "delete_note", reason="by mistake")
    done = restore_note(desk.rt, desk.owner, ref)
    assert done.outcome == "updated"
    assert {b.id: b.memory.id for b in desk.read(ref).blocks if b.memory} == before
    assert desk.block(ref, "monthly").verification == "verified"
    assert len(desk.house.refs("keys rotate monthly")) == 1
    assert [entry.op for entry in desk.read(ref, "history").history] == ["create", "delete_note", "restore"]


def test_an_earlier_version_comes_back_and_can_be_undone_itself(desk: Desk) -> None:
    ref = desk.new(NOTE).ref
    first, second = [desk.block(ref, words) for words in ("cookies", "monthly")]
    desk.edit(second.ref, "replace_block", "")
    desk.edit(ref, "append", "Later.")
    restore_note(desk.rt, desk.agent, ref, 1)
    assert desk.read(ref).text == NOTE
    assert first.memory is not None
    assert second.memory is not None
    assert desk.block(ref, "monthly").memory.id == second.memory.id  # type: ignore[union-attr]  # it states something
    assert desk.block(ref, "cookies").memory == first.memory
    restore_note(desk.rt, desk.agent, ref)
    assert desk.read(ref).text.endswith("Later.\n")
    assert desk.house.refs("keys rotate monthly") == []
    with pytest.raises(DolmenError, match="no version 99"):
        restore_note(desk.rt, desk.agent, ref, 99)


def test_a_deleted_note_comes_back_beside_the_one_that_has_its_address_now(desk: Desk) -> None:
    """C-97, C-124: nothing is overwritten, and nothing is lost because an address was used again."""
    old = desk.new("We use Postgres.", path="backend/store.md").ref
    old = desk.read(old).note.id
    desk.edit(old, "delete_note", reason="by mistake")
    desk.new("We use D1.", title="Store", folder="backend")
    done = restore_note(desk.rt, desk.owner, old)
    assert done.permalink == "backend/store-2"
    assert desk.read("backend/store-2").note.id == old
    assert desk.read("backend/store-2").note.path == "backend/store.md", "a person's file keeps its name"
    assert desk.read("backend/store-2").text.endswith("We use Postgres.")
    assert desk.read("backend/store").text.endswith("We use D1.")
    assert [c.text for c in desk.house.recall("Postgres").claims] == ["We use Postgres."]
    desk.edit(old, "delete_note", reason="again")
    assert restore_note(desk.rt, desk.owner, old).permalink == "backend/store-2"


def test_a_superseded_note_holds_again_when_it_is_restored(desk: Desk) -> None:
    old = desk.new("We use Postgres.", title="Old").ref
    desk.new("We use D1.", title="New", supersedes=(old,))
    restore_note(desk.rt, desk.agent, old)
    assert desk.read(old).note.status == "active"
    assert [c.text for c in desk.house.recall("Postgres").claims] == ["We use Postgres."]


def test_the_history_of_a_note_says_who_changed_what(desk: Desk) -> None:
    ref = desk.new(NOTE).ref
    desk.edit(ref, "append", "Added.", reason="forgot it", actor=desk.house.actor(agent="codex"))
    [_, second] = desk.read(ref, "history").history
    assert (second.version, second.op, second.agent, second.reason) == (2, "append", "codex", "forgot it")
    assert "+Added." in second.diff


def test_a_ref_to_a_reworded_block_says_where_its_statement_is_now(desk: Desk) -> None:
    """C-234"""
    ref = desk.new(NOTE).ref
    old = desk.block(ref, "monthly")
    desk.edit(old.ref, "replace_block", "- [convention] Keys rotate weekly")
    desk.edit(desk.block(ref, "weekly").ref, "replace_block", "- [convention] Keys rotate daily")
    with pytest.raises(DolmenError) as refused:
        desk.read(old.ref)
    now = desk.block(ref, "daily")
    assert refused.value.code == "not-found"
    assert (refused.value.data["ref"], now.ref in refused.value.fix) == (now.ref, True)
