"""A folder and a vault that are kept in step: what one side does, the other one does too."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from dolmen.client.mirror.files import mark_of
from dolmen.domain.errors import DolmenError
from dolmen.services.forget import forget
from dolmen.services.notes.answering import is_human
from dolmen.services.notes.moving import move_note, restore_note
from dolmen.services.requests import Forget
from dolmen.services.review import apply, one, reject
from tests.services.mirror.conftest import Pair

AWKWARD = (
    "\ufeff---\r\ntitle: 'Über: X'  # why\r\nodd:   yes\r\n---\r\n# T \r\n\r\n- [fact] Keys rotate\t\r\n\r\n\r\nno end "
)
PLAN = "# Plan\n\nFirst we measure.\n\nThen we build.\n\nLast we ship.\n"


# ------------------------------------------------------------------------------------------------------------ both ways
def test_what_a_person_writes_is_a_note_and_what_an_agent_writes_is_a_file(pair: Pair) -> None:
    pair.put("Back End/인증 결정.md", AWKWARD)
    made = pair.new("We deploy on Tuesday.", title="Deploys", folder="ops")
    report = pair.sync()
    assert sorted(report.done) == [("add", "ops/deploys.md"), ("create", "Back End/인증 결정.md")]
    note = pair.note("back-end/인증-결정")
    assert note.text == AWKWARD
    assert pair.text("ops/deploys.md") == pair.note(made.ref).text
    assert note.note.agent == "mirror"
    [memory] = [block.memory for block in note.blocks if block.memory and "Keys rotate" in block.memory.text]
    assert (memory.trust, is_human(memory)) == ("user", True)
    pair.agree()


def test_both_sides_go_on_and_no_byte_changes_that_nobody_touched(pair: Pair) -> None:
    file = pair.put("auth.md", AWKWARD)
    file.chmod(0o640)
    pair.sync()
    pair.edit("auth", "append", "- [fact] The agent adds this")
    assert pair.sync().done == [("write", "auth.md")]
    after = pair.text("auth.md")
    assert after.startswith(AWKWARD)
    assert after.endswith("\r\n\r\n- [fact] The agent adds this")
    assert file.stat().st_mode & 0o777 == 0o640
    pair.put("auth.md", after.replace("Keys rotate", "Keys rotate monthly"))
    assert pair.sync().done == [("change", "auth.md")]
    assert "monthly" in pair.note("auth").text
    [memory] = [
        block.memory for block in pair.note("auth").blocks if block.memory and "agent adds" in block.memory.text
    ]
    assert memory.trust == "agent", "what an agent wrote stays the agent's, though it went through a file"
    assert [entry.op for entry in pair.note("auth", "history").revisions] == ["append", "replace_note"]
    pair.agree()


def test_nothing_is_touched_where_nothing_changed(pair: Pair) -> None:
    for number in range(5):
        pair.put(f"n{number}.md", f"Statement {number}.\n")
    pair.later()
    before = {path: mark_of(os.stat(path)) for path in pair.root.rglob("*")}
    assert pair.later().counts == {}, "not even looked at"
    assert {path: mark_of(os.stat(path)) for path in pair.root.rglob("*")} == before
    assert pair.rehearse().done == []


def test_a_rehearsal_says_what_would_be_done_and_leaves_no_trace(pair: Pair) -> None:
    pair.put("a.md", "One.\n")
    pair.new("Two.", title="Two")
    assert sorted(pair.rehearse().done) == [("add", "two.md"), ("create", "a.md")]
    assert sorted(path.name for path in pair.root.iterdir()) == ["a.md"]
    assert len(pair.sources()) == 1


# ------------------------------------------------------------------------------------------------------- both at a time
def test_changes_of_different_blocks_are_merged(pair: Pair) -> None:
    pair.put("plan.md", PLAN)
    pair.sync()
    pair.put("plan.md", PLAN.replace("First we measure.", "First we measure twice."))
    pair.rewrite("plan", "Last we ship.", "Last we ship on Tuesday.")
    assert pair.sync().done == [("merge", "plan.md")]
    assert pair.text("plan.md") == "# Plan\n\nFirst we measure twice.\n\nThen we build.\n\nLast we ship on Tuesday.\n"
    assert pair.proposals() == []
    pair.agree()


def clashing(pair: Pair) -> str:
    """Both sides change the first block, the agent the last one too; the proposal of the file's version."""
    pair.put("plan.md", PLAN)
    pair.sync()
    pair.put("plan.md", PLAN.replace("First we measure.", "First we measure twice."))
    pair.rewrite("plan", "First we measure.", "First we guess.")
    pair.rewrite("plan", "Last we ship.", "Last we ship on Tuesday.")
    assert pair.sync().done == [("propose", "plan.md")]
    [proposal] = pair.proposals()
    return proposal


def test_changes_of_the_same_block_wait_for_a_person_and_both_stay_as_they_are(pair: Pair) -> None:
    """B061: nobody writes over a version that they did not see."""
    proposal = clashing(pair)
    assert "twice" in pair.text("plan.md")
    assert "guess" in pair.note("plan").text
    diff = one(pair.house.rt, pair.house.owner, proposal).diff
    assert "-First we guess." in diff
    assert "+First we measure twice." in diff
    assert "-Last we ship on Tuesday." not in diff, "what only the agent changed is in both"
    for _ in range(2):
        report = pair.sync()
        assert (report.done, report.waiting) == ([], ["plan.md"])
    assert pair.proposals() == [proposal]


def test_an_accepted_version_comes_into_the_file_with_what_else_changed(pair: Pair) -> None:
    apply(pair.house.rt, pair.house.owner, clashing(pair))
    assert pair.sync().done == [("write", "plan.md")]
    assert pair.text("plan.md") == "# Plan\n\nFirst we measure twice.\n\nThen we build.\n\nLast we ship on Tuesday.\n"
    pair.agree()


def test_a_rejected_version_stays_in_its_proposal_and_the_file_gets_the_notes(pair: Pair) -> None:
    proposal = clashing(pair)
    reject(pair.house.rt, pair.house.owner, proposal)
    assert pair.sync().done == [("write", "plan.md")]
    assert "First we guess." in pair.text("plan.md")
    with pair.house.rt.store.read() as tx:
        kept = tx.proposals.get("main", proposal)
    assert kept is not None
    assert "First we measure twice." in kept.payload["content"]
    pair.agree()


def test_who_resolves_a_clash_in_the_editor_need_not_review_it(pair: Pair) -> None:
    clashing(pair)
    pair.put("plan.md", PLAN.replace("First we measure.", "First we guess."))
    assert pair.sync().done == [("merge", "plan.md")] or pair.text("plan.md") == pair.note("plan").text
    assert "on Tuesday" in pair.text("plan.md")
    assert pair.proposals() == []
    pair.agree()


def test_a_clash_that_goes_on_has_one_proposal_with_the_newest_words(pair: Pair) -> None:
    first = clashing(pair)
    pair.put("plan.md", PLAN.replace("First we measure.", "First we measure three times."))
    assert pair.sync().done == [("propose", "plan.md")]
    [second] = pair.proposals()
    assert second != first
    pair.rewrite("plan", "Then we build.", "Then we build it well.")
    pair.sync()
    [third] = pair.proposals()
    apply(pair.house.rt, pair.house.owner, third)
    pair.sync()
    assert "three times" in pair.text("plan.md")
    assert "build it well" in pair.text("plan.md")
    pair.agree()


# -------------------------------------------------------------------------------------------------------------- renames
def test_a_renamed_file_stays_the_note_that_it_was(pair: Pair) -> None:
    pair.put("plans/tuesday.md", PLAN)
    pair.put("links.md", "- relates_to [[plans/tuesday]]\n")
    pair.sync()
    before = pair.note("plans/tuesday").note
    (pair.root / "archive").mkdir()
    (pair.root / "plans/tuesday.md").rename(pair.root / "archive/wednesday.md")
    assert pair.sync().done == [("rename", "archive/wednesday.md")]
    after = pair.note("archive/wednesday").note
    assert (after.id, after.source, after.blocks) == (before.id, before.source, before.blocks)
    assert pair.note("plans/tuesday").note.id == before.id, "the old address leads to it"
    assert pair.note("links", "links").links[0].resolved
    pair.agree()


def test_a_file_that_was_renamed_and_edited_at_once_stays_the_note_that_it_was(pair: Pair) -> None:
    pair.put("plan.md", PLAN)
    pair.put("other.md", "Something else entirely, with words of its own.\n")
    pair.sync()
    before = pair.note("plan").note.id
    other = pair.note("other").note.id
    (pair.root / "plan.md").unlink()
    (pair.root / "other.md").rename(pair.root / "another.md")
    pair.put("the plan.md", PLAN.replace("Then we build.", "Then we build, at last."))
    assert {what for what, _ in pair.sync().done} == {"rename", "change"}
    assert pair.note("the-plan").note.id == before
    assert pair.note("another").note.id == other
    pair.agree()


def test_a_renamed_folder_keeps_its_notes_and_equal_files_stay_apart(pair: Pair) -> None:
    for number in range(12):
        pair.put(f"old/n{number}.md", "The same words.\n")
    pair.sync()
    before = {each.place: each.id for each in pair.notes.standing()}
    (pair.root / "old").rename(pair.root / "new")
    report = pair.sync()
    assert {what for what, _ in report.done} == {"rename"}
    after = {each.place: each.id for each in pair.notes.standing()}
    assert after == {place.replace("old/", "new/"): id for place, id in before.items()}
    pair.agree()


def test_a_note_that_is_moved_takes_its_file_along(pair: Pair) -> None:
    pair.put("plans/tuesday.md", PLAN)
    pair.sync()
    move_note(pair.house.rt, pair.house.owner, "plans/tuesday", "archive/2026/plan")
    pair.edit("archive/2026/plan", "append", "Done.")
    assert sorted(pair.sync().done) == [("move", "archive/2026/plan.md"), ("write", "archive/2026/plan.md")]
    assert list(pair.files()) == ["archive/2026/plan.md"]
    pair.agree()


def test_a_note_that_is_moved_while_its_words_are_written_takes_its_file_along_as_well(pair: Pair) -> None:
    """The plan does not know of the move yet; two machines that both rename have the same names in the end."""
    for name in "ab":
        pair.put(f"{name}.md", f"# {name}\n")
    pair.sync()
    for name in "ab":
        pair.edit(name, "append", "The agent goes on.")

    def meanwhile(done: int, total: int | None) -> None:
        if done == 1:
            move_note(pair.house.rt, pair.house.owner, "b", "moved/b")

    assert pair.sync(progress=meanwhile).done == [("write", "a.md"), ("write", "b.md")]
    assert pair.sync().done == [("move", "moved/b.md")]
    pair.agree()


def test_a_copy_of_a_file_is_another_note(pair: Pair) -> None:
    pair.put("a.md", "---\npermalink: fixed\n---\nWords.\n")
    pair.sync()
    pair.put("b.md", pair.text("a.md"))
    assert pair.sync().done == [("create", "b.md")]
    assert len(pair.sources()) == 2
    pair.agree()


# ------------------------------------------------------------------------------------------------------------ deletions
def test_a_deleted_file_leaves_a_tombstone_and_comes_back_with_its_note(pair: Pair) -> None:
    pair.put("plan.md", PLAN)
    pair.put("keep.md", "Kept.\n")
    pair.sync()
    id = pair.note("plan").note.id
    (pair.root / "plan.md").unlink()
    assert pair.sync().done == [("retract", "plan.md")]
    assert pair.note(id).note.status == "deleted"
    restore_note(pair.house.rt, pair.house.owner, id)
    assert pair.sync().done == [("add", "plan.md")]
    assert pair.text("plan.md") == PLAN
    pair.agree()


def test_a_deleted_note_takes_its_file_away(pair: Pair) -> None:
    pair.put("plan.md", PLAN)
    pair.put("keep.md", "Kept.\n")
    pair.sync()
    pair.edit("plan", "delete_note", reason="old")
    assert pair.sync().done == [("remove", "plan.md")]
    pair.agree()


def test_a_change_outlives_a_deletion_on_the_other_side(pair: Pair) -> None:
    pair.put("a.md", "One.\n")
    pair.put("b.md", "Two.\n")
    pair.put("c.md", "Three.\n")
    pair.sync()
    (pair.root / "a.md").unlink()
    pair.edit("a", "append", "The agent goes on.")
    pair.put("b.md", "Two, and the person goes on.\n")
    id = pair.note("b").note.id
    pair.edit("b", "delete_note", reason="old")
    assert sorted(pair.sync().done) == [("add", "a.md"), ("restore", "b.md")]
    assert "goes on" in pair.text("a.md")
    assert pair.note("b").note.id == id
    assert pair.note("b").text == "Two, and the person goes on.\n"
    pair.agree()


def test_words_that_were_purged_go_out_of_the_file_too(pair: Pair) -> None:
    """B151: what should never have been there can be removed everywhere."""
    pair.put("a.md", "One.\n\nThe hidden word.\n")
    pair.put("b.md", "Gone for good.\n")
    pair.put("c.md", "Gone for good, but changed since.\n")
    pair.put("d.md", "Stays.\n")
    pair.sync()
    forget(pair.house.rt, pair.house.owner, Forget(query="hidden word", mode="purge"))
    for ref in ("b", "c"):
        forget(pair.house.rt, pair.house.owner, Forget(ref=f"dolmen://{ref}", mode="purge"))
    pair.put("c.md", "Other words.\n")
    report = pair.sync()
    assert sorted(report.done) == [("remove", "b.md"), ("write", "a.md")]
    assert pair.text("a.md") == "One.\n\n"
    assert "purged" in report.passed["c.md"]
    kept = b"".join(path.read_bytes() for path in pair.root.rglob("*") if path.is_file() and path.suffix != ".md")
    assert b"hidden word" not in kept


def test_a_purged_word_that_names_a_file_is_in_no_file_of_the_mirror_either(pair: Pair) -> None:
    pair.put("plans/hiddenword.md", "# hiddenword\n\nOther words.\n")
    pair.put("a.md", "Stays.\n")
    pair.sync()
    forget(pair.house.rt, pair.house.owner, Forget(query="hiddenword", mode="purge"))
    pair.sync()
    names = " ".join(str(path.relative_to(pair.root)) for path in pair.root.rglob("*"))
    kept = b"".join(path.read_bytes() for path in pair.root.rglob("*") if path.is_file())
    assert "hiddenword" not in names
    assert b"hiddenword" not in kept
    pair.agree()


@pytest.mark.parametrize("side", ["folder", "vault"])
def test_a_mass_deletion_stops_and_asks(pair: Pair, side: str) -> None:
    for number in range(8):
        pair.put(f"n{number}.md", f"Statement {number}.\n")
    pair.sync()
    for number in range(8):
        if side == "folder":
            (pair.root / f"n{number}.md").unlink()
        else:
            pair.edit(f"n{number}", "delete_note", reason="all")
    pair.put("new.md", "Something new.\n")
    with pytest.raises(DolmenError) as refused:
        pair.sync()
    assert "8 of 8" in refused.value.message
    assert "--force" in refused.value.fix
    assert len(pair.sources()) == (8 if side == "folder" else 0), "nothing was changed, not even what is new"
    assert len(pair.files()) == (1 if side == "folder" else 9)
    pair.sync(force=True)
    assert list(pair.files()) == ["new.md"]
    assert len(pair.sources()) == 1
    if side == "folder":
        restore_note(pair.house.rt, pair.house.owner, "n3")
        pair.sync()
        assert pair.text("n3.md") == "Statement 3.\n"


def test_a_folder_that_is_gone_is_said_and_deletes_nothing(pair: Pair, tmp_path: Path) -> None:
    pair.put("a.md", "One.\n")
    with pair.open() as mirror:
        mirror.sync()
        pair.root.rename(tmp_path / "away")
        with pytest.raises(DolmenError, match="cannot be read"):
            mirror.sync()
    assert len(pair.sources()) == 1
