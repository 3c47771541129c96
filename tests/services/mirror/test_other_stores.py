"""A folder whose vault is another one than it was: an older copy of its store, restored from a backup."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Actor
from dolmen.services import people
from dolmen.services.forget import forget
from dolmen.services.notes.mirroring import Mirroring
from dolmen.services.notes.sharing import share_note
from dolmen.services.requests import Forget
from tests.services.mirror.conftest import Pair


@pytest.fixture
def older(pair: Pair, elsewhere: Pair) -> Pair:
    """The folder with the store as it was before its last notes were written, changed and brought back."""
    for name in ("a", "b", "d", "e"):
        pair.put(f"{name}.md", f"The first of {name}.\n")
    pair.sync()
    shutil.copytree(pair.root, elsewhere.root, ignore=shutil.ignore_patterns("local"))
    elsewhere.sync()
    elsewhere.edit("d", "delete_note", reason="old")
    pair.edit("a", "append", "The agent goes on.")
    pair.put("b.md", "The first of b.\n\nThe person goes on.\n")
    pair.edit("d", "append", "Once more.")
    pair.edit("d", "append", "Twice more.")
    pair.put("c.md", "Written after the backup.\n")
    pair.sync()
    pair.agree()
    return Pair(elsewhere.house, pair.root)


def test_a_store_that_went_back_takes_no_words_from_the_folder(older: Pair) -> None:
    """What was written since the backup stands in the files alone: they are neither removed nor overwritten."""
    files = older.files()
    with pytest.raises(DolmenError, match="4 of 5 notes are older in the vault") as error:
        older.sync()
    assert "--force" in error.value.fix
    with older.open() as mirror:
        mirror.clock = lambda: time.time_ns() + 10_000_000_000
        with pytest.raises(DolmenError, match="older in the vault"):
            mirror.step()
    assert older.files() == files
    assert len(older.sources()) == 3
    report = older.sync(force=True)
    assert sorted(report.done) == [("change", "a.md"), ("change", "b.md"), ("create", "c.md"), ("restore", "d.md")]
    assert older.files() == files
    older.agree()


def test_without_what_the_folder_knows_each_older_note_waits_for_a_person(older: Pair) -> None:
    files = older.files()
    shutil.rmtree(older.root / ".dolmen" / "local")
    older.sync()
    assert {path: text for path, text in older.files().items() if files[path] != text} == {}
    assert len(older.proposals()) == 2
    assert "Written after the backup.\n" in older.sources().values()


def test_a_note_that_was_purged_is_told_from_one_that_was_lost(pair: Pair) -> None:
    pair.put("a.md", "One.\n")
    pair.put("b.md", "Two.\n")
    pair.sync()
    gone = pair.note("a").note.id
    forget(pair.house.rt, pair.house.owner, Forget(ref="dolmen://a", mode="purge"))
    lost = "01890000-0000-7000-8000-000000000000"
    assert pair.notes.purged([gone, lost]) == {gone}
    assert pair.sync().done == [("remove", "a.md")]


def test_two_stores_with_a_vault_of_the_same_name_are_two_vaults(pair: Pair, elsewhere: Pair) -> None:
    def named(notes: Mirroring) -> str:
        return notes.vault()

    assert named(pair.notes) != named(elsewhere.notes)
    assert named(pair.notes) == named(Mirroring(pair.house.rt, replace(pair.house.owner, agent="other"), "user"))


def test_a_note_that_became_another_persons_alone_leaves_the_folder_and_is_not_taken_for_lost(pair: Pair) -> None:
    member, _ = people.invite(pair.house.rt, pair.house.owner, "Bob")
    bob = Actor("main", member.id, "web", "write", "web", human=True)
    note = pair.new("The salary review.\n", permalink="review", actor=bob)
    pair.put("a.md", "One.\n")
    pair.sync()
    assert sorted(pair.files()) == ["a.md", "review.md"]
    share_note(pair.house.rt, bob, note.ref, "private")
    assert pair.sync().done == [("remove", "review.md")]
    pair.agree()
    share_note(pair.house.rt, bob, note.ref, "open")
    assert pair.sync().done == [("add", "review.md")]
