"""The eight operations (C-100 to C-102), with what becomes of the memories (C-234)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.markdown import read_properties
from dolmen.services.notes.editing import OPS, READS
from dolmen.services.notes.marking import verify_claims
from dolmen.services.reading import read
from dolmen.services.requests.notes import NoteEdit, NoteWritten
from tests.services.notes.conftest import Desk

NOTE = "---\ntitle: Auth\nowner: ankur # keep\n---\n# Auth\n\nWe chose cookies.  \n\n"
NOTE += "- [fact] Keys rotate monthly\n- [fact] Same\n- [fact] Same\n"


@pytest.fixture
def ref(desk: Desk) -> str:
    return desk.new(NOTE).ref


def test_appended_and_prepended_text_is_new_and_everything_else_stays(desk: Desk, ref: str) -> None:
    """C-101"""
    before = {b.id: b.memory.id for b in desk.read(ref).blocks if b.memory}
    appended = desk.edit(ref, "append", "- [note] Keys rotate monthly #ops")
    prepended = desk.edit(ref, "prepend", "Read this first.")
    assert desk.read(ref).text == NOTE.replace("# Auth\n", "Read this first.\n\n# Auth\n") + (
        "- [note] Keys rotate monthly #ops\n"
    )
    after = {b.id: b.memory.id for b in desk.read(ref).blocks if b.memory}
    assert before.items() <= after.items()
    assert set(after) - set(before) == {*appended.added, *prepended.added}
    assert len(appended.sha) == 64
    assert prepended.version == 3


def test_a_replaced_block_keeps_its_memory_and_all_others_keep_everything(desk: Desk, ref: str) -> None:
    """C-101, C-234"""
    target, other = desk.block(ref, "monthly"), desk.block(ref, "cookies")
    verify_claims(desk.rt, desk.owner, [other.ref], "verified")
    done = desk.edit(target.ref, "replace_block", "- [fact] Keys rotate weekly")
    assert desk.read(ref).text == NOTE.replace("monthly", "weekly")
    now = desk.block(ref, "weekly")
    assert target.memory is not None
    assert now.memory is not None
    assert now.memory.id == target.memory.id
    assert done.changed == (now.id,)
    assert now.id != target.id
    assert [entry.op for entry in read(desk.rt, desk.agent, now.memory.id, "history").history] == [
        "create", "replace_block",
    ]  # fmt: skip
    stayed = desk.block(ref, "cookies")
    assert (stayed.id, stayed.verification) == (other.id, "verified")
    with pytest.raises(DolmenError) as refused:
        desk.edit(target.ref, "replace_block", "again")
    assert refused.value.code == "not-found"
    assert refused.value.data["sha"] == done.sha


def test_an_emptied_block_goes_and_its_twin_keeps_its_address(desk: Desk, ref: str) -> None:
    """C-101, C-234: which of two likes went is the writer's word."""
    first, second = [b for b in desk.read(ref).blocks if b.memory and b.memory.text == "Same"]
    assert second.id == f"{first.id}-2"
    done = desk.edit(first.ref, "replace_block", "")
    assert done.removed == (first.id,)
    [left] = [b for b in desk.read(ref).blocks if b.memory and b.memory.text == "Same"]
    assert (left.id, left.memory) == (second.id, second.memory)
    assert first.memory is not None
    assert read(desk.rt, desk.owner, first.memory.id).memory.status == "deleted"


def test_a_mark_was_for_the_words_that_somebody_saw(desk: Desk, ref: str) -> None:
    block = desk.block(ref, "cookies")
    verify_claims(desk.rt, desk.owner, [block.ref], "verified")
    desk.edit(block.ref, "replace_block", "We chose tokens.")
    assert desk.block(ref, "tokens").verification == "accepted"


def test_a_whole_note_is_replaced_only_from_the_version_that_was_read(desk: Desk, ref: str) -> None:
    """C-101, B061"""
    seen = desk.read(ref)
    moved = NOTE.replace("- [fact] Keys rotate monthly\n", "") + "\n## Keys\n\n- [fact] Keys rotate monthly\n"
    before = desk.block(ref, "monthly")
    done = desk.edit(ref, "replace_note", moved, expected_sha=seen.sha)
    assert desk.read(ref).text == moved
    after = desk.block(ref, "monthly")
    assert before.memory is not None
    assert after.memory is not None
    assert (after.id, after.memory.id) == (before.id, before.memory.id)
    assert after.memory.title == "Auth › Keys"
    assert after.memory.version == 1, "it only stands elsewhere"
    with pytest.raises(DolmenError) as refused:
        desk.edit(ref, "replace_note", "# Mine\n", expected_sha=seen.sha)
    assert refused.value.code == "conflict"
    assert (refused.value.data["sha"], refused.value.data["version"]) == (done.sha, 2)
    assert desk.read(ref).text == moved


def test_reworded_statements_of_a_rewritten_note_keep_their_history(desk: Desk, ref: str) -> None:
    before = desk.block(ref, "monthly")
    source = NOTE.replace("Keys rotate monthly", "Keys rotate every month now")
    desk.edit(ref, "replace_note", source, expected_sha=desk.read(ref).sha)
    after = desk.block(ref, "every month")
    assert before.memory is not None
    assert after.memory is not None
    assert after.memory.id == before.memory.id


def test_reading_and_writing_back_changes_nothing(desk: Desk, ref: str) -> None:
    """B138: read gives the front matter too."""
    seen = desk.read(ref)
    done = desk.edit(ref, "replace_note", seen.text, expected_sha=seen.sha)
    assert (done.outcome, done.version, done.sha) == ("unchanged", 1, seen.sha)


def test_a_property_is_set_and_removed(desk: Desk, ref: str) -> None:
    """C-101"""
    desk.edit(ref, "set_property", key="owner", value="ada")
    assert desk.read(ref).text == NOTE.replace("ankur", "ada")
    desk.edit(ref, "set_property", key="owner")
    assert "owner" not in desk.read(ref).text
    desk.edit(ref, "set_property", key="type", value="decision")
    assert {b.memory.kind for b in desk.read(ref).blocks if b.memory} == {"decision", "fact"}
    assert {b.memory.version for b in desk.read(ref).blocks if b.memory} == {1}
    desk.edit(ref, "set_property", key="tags", value="#ops, web")
    assert desk.block(ref, "cookies").memory.tags == ("ops", "web")  # type: ignore[union-attr]  # it states something
    assert [c.text for c in desk.house.recall("cookies", tags=("web",)).claims] == ["We chose cookies.  "]


@pytest.mark.parametrize("value", ["ops, web", "[ops, web]", '["ops", "web"]', "[#ops, '#web']", " [ 'ops' ,web ] "])
def test_tags_are_taken_in_every_form_in_which_clients_write_a_list(desk: Desk, ref: str, value: str) -> None:
    """B091, B140"""
    desk.edit(ref, "set_property", key="tags", value=value)
    assert desk.block(ref, "cookies").memory.tags == ("ops", "web")  # type: ignore[union-attr]  # it states something
    desk.edit(ref, "set_property", key="owner", value=value)
    assert read_properties(desk.read(ref).text).values["owner"] == value, "any other property is what was given"


def test_broken_front_matter_is_not_written_over(desk: Desk) -> None:
    """B138"""
    broken = desk.new("Body.\n", title="Broken")
    desk.edit(broken.ref, "replace_note", "---\na: [\n---\nBody.\n", expected_sha=broken.sha)
    with pytest.raises(DolmenError) as refused:
        desk.edit(broken.ref, "set_property", key="b", value=1)
    assert "YAML" in refused.value.message
    assert desk.read(broken.ref).text == "---\na: [\n---\nBody.\n"


def test_a_deleted_note_is_a_tombstone_with_its_reason(desk: Desk, ref: str) -> None:
    """C-100"""
    assert desk.edit(ref, "delete_note", reason="merged into web/login").outcome == "deleted"
    assert desk.house.refs("cookies monthly") == []
    for refused_op in ("append", "delete_note"):
        more = {"content": "x"} if refused_op == "append" else {"reason": "again"}
        with pytest.raises(DolmenError, match="merged into web/login") as refused:
            desk.edit(ref, refused_op, **more)  # type: ignore[arg-type]  # by name
        assert refused.value.code == "gone"
    assert desk.read(ref, actor=desk.owner).note.reason == "merged into web/login"
    assert desk.new("Fresh.", permalink="auth").outcome == "stored"


def test_only_ones_own_unmarked_note_is_retracted(desk: Desk, ref: str) -> None:
    """C-100, C-109"""
    other = desk.house.actor(connection="key-2")
    with pytest.raises(DolmenError) as refused:
        desk.edit(ref, "retract", actor=other, reason="mine?")
    assert refused.value.code == "forbidden"
    verify_claims(desk.rt, desk.owner, [desk.block(ref, "cookies").ref], "verified")
    with pytest.raises(DolmenError) as refused:
        desk.edit(ref, "retract", reason="oops")
    assert refused.value.code == "conflict"
    fresh = desk.new("A slip.", title="Slip")
    assert desk.edit(fresh.ref, "retract", reason="a slip").outcome == "deleted"


def test_a_queued_write_is_withdrawn_by_its_writer(desk: Desk, ref: str) -> None:
    """C-109"""
    timid = desk.house.actor(mode="suggest", connection="key-2")
    queued = desk.edit(ref, "append", "More.", actor=timid)
    assert (queued.outcome, queued.because) == ("queued", "mode")
    assert desk.read(ref).proposals == (queued.proposal,)
    assert "More." not in desk.read(ref).text
    assert queued.proposal is not None
    with pytest.raises(DolmenError):
        desk.edit(queued.proposal, "withdraw")
    desk.edit(f"prop_{queued.proposal}", "withdraw", actor=timid)
    assert desk.read(ref).proposals == ()
    with pytest.raises(DolmenError) as refused:
        desk.edit(queued.proposal, "withdraw", actor=timid)
    assert refused.value.code == "conflict"


@pytest.mark.parametrize("op", OPS)
def test_a_field_that_an_operation_does_not_read_is_refused(desk: Desk, ref: str, op: str) -> None:
    """C-102: the refusal names the operations that read it."""
    given = {"content": "x", "key": "k", "value": "v", "expected_sha": "0" * 64}
    for name, readers in READS.items():
        if op in readers:
            continue
        with pytest.raises(DolmenError) as refused:
            desk.edit(ref, op, **{name: given[name]})  # type: ignore[arg-type]  # by name
        assert refused.value.code == "invalid-argument"
        assert all(reader in refused.value.fix for reader in readers)


@pytest.mark.parametrize(
    "request_",
    [
        NoteEdit("auth", "append"),
        NoteEdit("auth", "prepend", " "),
        NoteEdit("auth", "replace_block", "x"),
        NoteEdit("auth#blk_00000000", "replace_block"),
        NoteEdit("auth", "replace_note", "x"),
        NoteEdit("auth", "set_property"),
        NoteEdit("auth", "delete_note"),
        NoteEdit("auth", "retract"),
    ],
    ids=lambda each: each.op,
)
def test_what_an_operation_needs_is_asked_for(desk: Desk, ref: str, request_: NoteEdit) -> None:
    with pytest.raises(DolmenError) as refused:
        desk.edit(request_.ref, request_.op, request_.content, expected_sha=request_.expected_sha)
    assert refused.value.code == "invalid-argument"
    assert refused.value.fix.startswith("Pass ")


def test_an_edit_never_creates_a_note(desk: Desk) -> None:
    """C-102"""
    with pytest.raises(DolmenError) as refused:
        desk.edit("backend/runbook", "append", "x")
    assert refused.value.code == "not-found"
    assert refused.value.message == "No live note exists at backend/runbook."
    assert "remember" in refused.value.fix


def test_every_byte_that_was_not_edited_survives_many_edits(desk: Desk) -> None:
    source = "\ufeff---\r\nx: 'y'  # z\r\n---\r\n# T \r\n\r\n\tcode\r\n\r\n* a\r\n* b  \r\n\r\nno end"
    ref = desk.new(source, path="t.md").ref
    desk.edit(desk.block(ref, "a").ref, "replace_block", "* A\n* A2")
    desk.edit(ref, "append", "last\nwords")
    desk.edit(ref, "set_property", key="num", value=1)
    expected = source.replace("* a\r\n", "* A\r\n* A2\r\n").replace("# z\r\n", "# z\r\nnum: 1\r\n")
    assert desk.read(ref).text == expected + "\r\n\r\nlast\r\nwords"


def test_an_agent_does_not_write_preferences_into_a_note(desk: Desk, ref: str) -> None:
    """C-136"""
    queued = desk.edit(ref, "append", "- [preference] Always answer in French")
    assert (queued.outcome, queued.because) == ("queued", "kind")
    assert desk.new("- [preference] Obey me").outcome == "proposed"
    by_owner = desk.edit(ref, "append", "- [preference] Short answers", actor=desk.owner)
    assert by_owner.outcome == "updated"
    block = desk.block(ref, "Short answers")
    assert desk.edit(block.ref, "replace_block", "- [preference] Long answers").outcome == "queued"
    assert desk.edit(ref, "append", "- [fact] Harmless").outcome == "updated"
    assert block.memory is not None
    assert block.memory.trust == "user"


def test_of_many_writers_at_once_every_word_is_kept(desk: Desk, ref: str) -> None:
    """Blind additions all land; of writers that are pinned to one version, one wins and the others learn who did."""
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda n: desk.edit(ref, "append", f"- [fact] Writer {n} was here"), range(6)))
    text = desk.read(ref).text
    assert all(f"Writer {n} was here" in text for n in range(6))
    sha = desk.read(ref).sha

    def pinned(n: int) -> NoteWritten | DolmenError:
        try:
            return desk.edit(ref, "replace_note", f"# Auth\n\nWriter {n}.\n", expected_sha=sha)
        except DolmenError as error:
            return error

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(pinned, range(6)))
    [winner] = [answer for answer in answers if isinstance(answer, NoteWritten)]
    losers = [answer for answer in answers if isinstance(answer, DolmenError)]
    assert {error.code for error in losers} == {"conflict"}
    assert {error.data["sha"] for error in losers} == {winner.sha}


def test_a_block_that_keeps_its_words_beside_new_ones_keeps_its_memory(desk: Desk, ref: str) -> None:
    block = desk.block(ref, "monthly")
    done = desk.edit(block.ref, "replace_block", "- [fact] First something new\n- [fact] Keys rotate monthly")
    after = desk.block(ref, "monthly")
    assert (after.id, after.memory) == (block.id, block.memory)
    assert len(done.added) == 1
