"""Forgetting notes and blocks: with undo, and so that no word is left (C-124, C-130, B151)."""

from __future__ import annotations

from typing import Literal

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.services.edit import edit
from dolmen.services.forget import forget
from dolmen.services.notes.moving import move_note, restore_note
from dolmen.services.requests import Edit, Forget
from dolmen.services.review import apply
from tests.services.notes.conftest import Desk

NOTE = "# Auth\n\nWe chose cookies.\n\n- [fact] The zanzibar key lies in the safe\n- [fact] Keys rotate monthly\n"


def everything(desk: Desk) -> str:
    """All that the vault's rows hold, as text."""
    with desk.rt.store.read() as tx:
        rows: list[object] = []
        for note in tx.notes.stream("main"):
            rows += [note, tx.notes.revisions("main", note.id)]
        rows.append(tx.notes.aliases("main"))
        for memory in tx.memories.stream("main"):
            rows += [memory, tx.memories.revisions("main", memory.id)]
        rows += [*tx.links.stream("main"), *tx.proposals.stream("main"), *tx.journal.audited("main", 1_000)]
    return repr(rows).casefold()


def test_a_forgotten_block_leaves_its_note_and_comes_back_with_it(desk: Desk) -> None:
    ref = desk.new(NOTE).ref
    block = desk.block(ref, "zanzibar")
    assert block.memory is not None
    done = forget(desk.rt, desk.agent, Forget(ref=block.memory.id, reason="wrong"))
    assert done.outcome == "deleted"
    assert "zanzibar" not in desk.read(ref).text
    restore_note(desk.rt, desk.agent, ref)
    assert desk.block(ref, "zanzibar").memory.id == block.memory.id  # type: ignore[union-attr]  # it states something


def test_the_words_of_a_block_are_changed_in_its_note_alone(desk: Desk) -> None:
    ref = desk.new(NOTE).ref
    block = desk.block(ref, "zanzibar")
    assert block.memory is not None
    for request in (Edit(block.memory.id, "amend", "Other words."), Edit(block.ref, "restore")):
        with pytest.raises(DolmenError) as refused:
            edit(desk.rt, desk.agent, request)
        assert refused.value.code == "conflict"
        assert block.ref in refused.value.fix
    assert edit(desk.rt, desk.agent, Edit(block.ref, "amend", fields={"pinned": True})).outcome == "updated"
    desk.edit(ref, "append", "More.")
    assert desk.block(ref, "zanzibar").memory.pinned  # type: ignore[union-attr]  # it states something


@pytest.mark.parametrize("part", ["#blk_0000", "#blk_8bcbdac3x", "#Auth"])
@pytest.mark.parametrize("mode", ["soft", "purge"])
def test_a_mistyped_block_never_takes_its_note_along(desk: Desk, mode: Literal["soft", "purge"], part: str) -> None:
    ref = desk.new(NOTE).ref
    with pytest.raises(DolmenError) as refused:
        forget(desk.rt, desk.owner, Forget(ref=ref + part, mode=mode, reason="Out."))
    assert refused.value.code == "not-found"
    assert "zanzibar" in desk.read(ref).text


def test_a_purged_block_leaves_its_note_and_all_its_versions(desk: Desk) -> None:
    ref = desk.new(NOTE).ref
    kept = desk.block(ref, "monthly")
    block = desk.block(ref, "zanzibar")
    desk.edit(block.ref, "replace_block", "- [fact] The ZANZIBAR key is lost")
    desk.edit(ref, "append", "Later.")
    now = desk.block(ref, "ZANZIBAR")
    assert now.memory is not None
    assert forget(desk.rt, desk.owner, Forget(ref=now.memory.id, mode="purge")).outcome == "purged"
    assert "zanzibar" not in everything(desk)
    assert desk.read(ref).text == NOTE.replace("- [fact] The zanzibar key lies in the safe\n", "") + "\nLater.\n"
    assert desk.block(ref, "monthly").memory == kept.memory
    assert len(desk.read(ref, "history").history) == 3
    restore_note(desk.rt, desk.agent, ref, 1)
    assert "zanzibar" not in everything(desk)


def test_a_title_that_was_made_of_purged_words_goes_with_them(desk: Desk) -> None:
    made = desk.new("The zanzibar key lies in the safe.\n\nAnother statement.\n")
    assert "zanzibar" in made.permalink
    block = desk.block(made.ref, "zanzibar")
    assert block.memory is not None
    forget(desk.rt, desk.owner, Forget(ref=block.memory.id, mode="purge"))
    assert "zanzibar" not in everything(desk)
    [found] = desk.house.recall("another statement").claims
    assert found.title == "Another statement."
    assert desk.house.refs("zanzibar") == []


def test_a_purge_by_words_reaches_headings_properties_names_and_the_past(desk: Desk) -> None:
    """B151"""
    source = (
        "---\nowner: Zanzibar\nkeep: me\n---\n# Plans\n\n## About zanzibar\n\nHarmless.\n\n- [fact] zanzibar is far\n"
    )
    ref = desk.new(source, folder="zanzibar", title="Plans").ref
    desk.new("See [[zanzibar/plans]] one day.", title="Other")
    desk.edit(ref, "append", "Later.")
    move_note(desk.rt, desk.owner, ref, "plans", reason="not in zanzibar")
    shown = forget(desk.rt, desk.owner, Forget(query="zanzibar", mode="purge", dry_run=True))
    assert "note: plans" in shown.traces
    forget(desk.rt, desk.owner, Forget(query="zanzibar", mode="purge"))
    assert "zanzibar" not in everything(desk)
    [note] = [entry for entry in (desk.read(i) for i in _ids(desk)) if "Harmless" in entry.text]
    assert note.properties == {"keep": "me"}
    assert "Harmless." in [claim.text for claim in desk.house.recall("harmless").claims]


def _ids(desk: Desk) -> list[str]:
    with desk.rt.store.read() as tx:
        return [note.id for note in tx.notes.stream("main")]


def test_a_whole_note_is_forgotten_softly_or_for_good(desk: Desk) -> None:
    ref = desk.new(NOTE, permalink="zanzibar/auth").ref
    desk.edit(ref, "append", "Later.")
    assert forget(desk.rt, desk.agent, Forget(ref=ref, reason="old")).outcome == "deleted"
    assert desk.read(ref, actor=desk.owner).note.reason == "old"
    queued = forget(desk.rt, desk.agent, Forget(ref=ref, mode="purge"))
    assert (queued.outcome, queued.because) == ("queued", "purge")
    assert queued.proposal is not None
    apply(desk.rt, desk.owner, queued.proposal)
    assert "zanzibar" not in everything(desk)
    assert everything(desk).count("cookies") == 0
    other = desk.new(NOTE).ref
    assert forget(desk.rt, desk.owner, Forget(ref=other, mode="purge")).outcome == "purged"
    with pytest.raises(DolmenError):
        desk.read(other, actor=desk.owner)
