"""Writes to notes that wait for a person: shown as they would be, applied, rejected, and never in an answer."""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Actor
from dolmen.services.notes.marking import link_notes, verify_claims
from dolmen.services.notes.moving import move_note, restore_note
from dolmen.services.requests import NewLink
from dolmen.services.review import apply, named, one, pending, reject
from tests.services.notes.conftest import Desk

NOTE = "# Auth\n\nWe chose cookies.\n\n- [fact] Keys rotate monthly\n"


@pytest.fixture
def timid(desk: Desk) -> Actor:
    return desk.house.actor(mode="suggest", connection="key-2", agent="codex")


def test_a_proposed_note_is_nowhere_until_a_person_agrees(desk: Desk, timid: Actor) -> None:
    """C-143"""
    made = desk.new(NOTE, timid, folder="backend", links=(NewLink("", "web"),))
    assert (made.outcome, made.because) == ("proposed", "mode")
    assert desk.house.refs("cookies monthly") == []
    with pytest.raises(DolmenError):
        desk.read("backend/auth")
    [item] = pending(desk.rt, desk.owner)
    assert (item.op, item.ref, item.agent, item.stale) == ("note_create", "Auth", "codex", False)
    assert "+We chose cookies." in item.diff
    assert "+- relates_to [[web]]" in item.diff
    apply(desk.rt, desk.owner, item.id)
    view = desk.read("backend/auth")
    assert view.note.agent == "codex"
    assert {(b.memory.trust, b.verification) for b in view.blocks if b.memory} == {("user", "verified")}
    assert pending(desk.rt, desk.owner) == []


def test_a_proposed_note_gets_the_next_address_when_its_own_was_taken_meanwhile(desk: Desk, timid: Actor) -> None:
    made = desk.new(NOTE, timid)
    desk.new("# Auth\n\nFirst.\n")
    assert made.proposal is not None
    apply(desk.rt, desk.owner, made.proposal)
    assert desk.read("auth-2").text == NOTE


def test_additions_by_several_agents_all_fit(desk: Desk, timid: Actor) -> None:
    ref = desk.new(NOTE).ref
    first = desk.edit(ref, "append", "- [fact] One", timid)
    second = desk.edit(ref, "append", "- [fact] Two", timid)
    block = desk.block(ref, "monthly")
    third = desk.edit(block.ref, "replace_block", "- [fact] Keys rotate weekly", timid)
    for done in (first, second, third):
        assert done.outcome == "queued"
        assert done.proposal is not None
        apply(desk.rt, desk.owner, done.proposal)
    assert desk.read(ref).text == NOTE.replace("monthly", "weekly") + "- [fact] One\n- [fact] Two\n"
    after = desk.block(ref, "weekly")
    assert block.memory is not None
    assert after.memory is not None
    assert after.memory.id == block.memory.id
    assert (after.memory.trust, after.verification) == ("user", "verified")
    assert desk.block(ref, "cookies").verification == "accepted", "nobody looked at that one"


def test_a_proposal_for_a_version_that_is_gone_is_stale_and_not_applied(desk: Desk, timid: Actor) -> None:
    ref = desk.new(NOTE).ref
    whole = desk.edit(ref, "replace_note", "# Auth\n\nAll new.\n", timid, expected_sha=desk.read(ref).sha)
    block = desk.edit(desk.block(ref, "monthly").ref, "replace_block", "", timid)
    desk.edit(desk.block(ref, "monthly").ref, "replace_block", "- [fact] Keys rotate daily")
    stale = {item.id: item.stale for item in pending(desk.rt, desk.owner)}
    assert stale == {whole.proposal: True, block.proposal: True}
    for done in (whole, block):
        assert done.proposal is not None
        with pytest.raises(DolmenError) as refused:
            apply(desk.rt, desk.owner, done.proposal)
        assert refused.value.code == "conflict"
    assert "daily" in desk.read(ref).text
    assert whole.proposal is not None
    apply(desk.rt, desk.owner, whole.proposal, force=True)
    assert desk.read(ref).text == "# Auth\n\nAll new.\n"


def test_every_operation_waits_for_a_suggesting_connection(desk: Desk, timid: Actor) -> None:
    """C-139"""
    ref = desk.new(NOTE).ref
    before = desk.read(ref)
    answers = [
        desk.edit(ref, "set_property", actor=timid, key="owner", value="ada"),
        desk.edit(ref, "delete_note", actor=timid, reason="not needed"),
        move_note(desk.rt, timid, ref, "web/login"),
        link_notes(desk.rt, timid, ref, "part_of", "web"),
        verify_claims(desk.rt, timid, [ref], "superseded"),
    ]
    assert desk.read(ref) == before.__class__(
        **{name: getattr(before, name) for name in before.__slots__ if name != "proposals"},
        proposals=desk.read(ref).proposals,
    )
    shown = {item.op: item for item in pending(desk.rt, desk.owner)}
    assert set(shown) == {"note_edit", "note_move", "verify"}
    assert "+permalink: web/login" in shown["note_move"].diff
    for answer in (answers[0], answers[3], answers[2], answers[4]):
        assert answer.proposal is not None
        apply(desk.rt, desk.owner, answer.proposal)
    after = desk.read("web/login")
    assert after.text == "---\nowner: ada\n---\n" + NOTE + "- part_of [[web]]\n"
    assert [b.status for b in after.blocks if b.memory] == ["superseded", "superseded", "active"]
    assert answers[1].proposal is not None
    reject(desk.rt, desk.owner, answers[1].proposal, "still needed")
    assert desk.read("web/login").note.status == "active"


def test_a_restore_may_wait_too(desk: Desk, timid: Actor) -> None:
    ref = desk.new(NOTE).ref
    desk.edit(ref, "delete_note", reason="by mistake")
    queued = restore_note(desk.rt, timid, ref)
    assert queued.outcome == "queued"
    assert queued.proposal is not None
    [item] = pending(desk.rt, desk.owner)
    assert "+status: active" in item.diff
    apply(desk.rt, desk.owner, queued.proposal)
    assert desk.read(ref).text == NOTE


def test_an_admin_that_is_no_person_does_not_agree_to_a_preference(desk: Desk) -> None:
    """C-136"""
    queued = desk.new("- [preference] Obey me\n", title="Rules")
    admin = desk.house.actor(mode="admin", connection="key-9")
    assert queued.proposal is not None
    with pytest.raises(DolmenError) as refused:
        apply(desk.rt, admin, queued.proposal)
    assert refused.value.code == "forbidden"
    assert len(pending(desk.rt, desk.owner)) == 1
    apply(desk.rt, desk.owner, queued.proposal)
    assert desk.block("rules", "Obey me").memory.trust == "user"  # type: ignore[union-attr]  # it states something


def test_a_change_to_a_note_that_was_deleted_since_is_shown_as_what_it_was_and_not_applied(
    desk: Desk, timid: Actor
) -> None:
    ref = desk.new(NOTE).ref
    desk.edit(ref, "append", "- [fact] One more", timid)
    desk.edit(ref, "delete_note", None, timid, reason="Old.")
    desk.edit(ref, "delete_note", None, desk.owner, reason="Over.")
    added, deleted = pending(desk.rt, desk.owner)
    for item in (added, deleted):
        assert item.stale
        assert item.diff.startswith("(The note at auth was deleted: Over.)")
        for force in (False, True):
            with pytest.raises(DolmenError) as error:
                apply(desk.rt, desk.owner, item.id, force=force)
            assert error.value.code == "gone"
            assert "`dolmen note undo auth`" in error.value.fix
    changes = [line for line in added.diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]
    assert changes == ["+- [fact] One more"]
    restore_note(desk.rt, desk.owner, ref)
    apply(desk.rt, desk.owner, added.id)
    assert "One more" in desk.read(ref).text


def test_a_change_to_a_deleted_note_names_it_by_its_id_when_another_has_its_address(desk: Desk, timid: Actor) -> None:
    """What would be brought back, or what was deleted, is not the note that a person finds at that address."""
    ref = desk.new(NOTE).ref
    old = desk.read(ref).note.id
    desk.edit(ref, "append", "- [fact] One more", timid)
    desk.edit(ref, "delete_note", None, desk.owner, reason="Over.")
    desk.new(NOTE)
    [item] = pending(desk.rt, desk.owner)
    assert item.ref == f"dolmen://{old}"
    with pytest.raises(DolmenError) as error:
        apply(desk.rt, desk.owner, item.id)
    assert f"`dolmen note undo {old}`" in error.value.fix


def test_a_proposal_is_found_by_the_id_that_agents_are_told(desk: Desk, timid: Actor) -> None:
    """C-109: `prop_…`, which the agent says to the person."""
    first, second = (desk.new(f"# {name}\n\nWords.\n", timid).proposal for name in ("One", "Two"))
    assert first is not None
    assert named(desk.rt, desk.owner, f"prop_{first}") == [first]
    assert one(desk.rt, desk.owner, f"prop_{first}").id == first
    assert apply(desk.rt, desk.owner, f"prop_{first}").status == "applied"
    assert reject(desk.rt, desk.owner, f"prop_{second}").status == "rejected"
