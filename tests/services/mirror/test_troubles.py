"""What a file system, a stranger's folder or a second spelling can do to a mirror."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from dolmen.client.mirror.scanning import scan
from dolmen.domain.errors import DolmenError
from dolmen.domain.mirroring import NoteState
from dolmen.services.notes.mirroring import Mirroring
from tests.services.mirror.conftest import Pair

COMPOSED, APART = "\u00e9.md", unicodedata.normalize("NFD", "\u00e9.md")


@pytest.mark.parametrize("first", [COMPOSED, APART])
def test_a_second_spelling_of_a_name_never_takes_a_note_over(pair: Pair, first: str) -> None:
    """Whichever the file system lists first: some list the newest first, others by a hash."""
    second = APART if first == COMPOSED else COMPOSED
    pair.put(first, "On tea.\n")
    pair.sync()
    pair.put(second, "On cars.\n")
    report = pair.sync()
    assert (report.done, set(report.passed)) == ([], {second})
    (pair.root / first).unlink()
    pair.put(first, "On tea and milk.\n")
    assert pair.sync().done == [("change", first)]
    assert list(pair.sources().values()) == ["On tea and milk.\n"]
    assert pair.text(second) == "On cars.\n"


def test_without_a_note_the_choice_between_two_spellings_is_always_the_same(tmp_path: Path) -> None:
    chosen = []
    for name, order in (("a", (COMPOSED, APART)), ("b", (APART, COMPOSED))):
        root = tmp_path / name
        root.mkdir()
        for path in order:
            (root / path).write_text(path)
        chosen.append([found.path for found in scan(root).files.values()])
    assert chosen[0] == chosen[1]


def test_a_folder_from_elsewhere_cannot_bring_back_a_note_of_another_project(pair: Pair) -> None:
    """B191."""
    written = pair.new("Not for this folder.", title="Other", project="github.com/acme/other").note
    assert written is not None
    deleted = written.id
    pair.edit(deleted, "delete_note", reason="Over.", actor=pair.house.owner)
    pair.put(".dolmen/notes.jsonl", f'{{"path": "a.md", "id": "{deleted}"}}\n')
    pair.put("a.md", "Words of a stranger.\n")
    report = pair.sync()
    assert (report.done, report.passed) == ([], {"a.md": "its note belongs to another project"})
    state = pair.notes.read(deleted)
    assert state is not None
    assert (state.live, "Not for this folder." in state.source) == (False, True)
    assert pair.rehearse().done == []


def test_a_mirror_inside_of_another_one_is_left_to_itself(pair: Pair) -> None:
    """Else each would take the other one's copies for new notes, deeper with every run."""
    pair.put("a.md", "One.\n")
    pair.put("sub/b.md", "Two.\n")
    pair.sync()
    inner = Pair(pair.house, pair.root / "sub")
    for _ in range(3):
        inner.sync()
        report = pair.sync()
    assert (report.done, report.passed["sub"]) == ([], "it is a mirror of its own")
    assert inner.sync().done == []
    assert sorted(set(pair.sources().values())) == ["One.\n", "Two.\n"]
    assert len(pair.sources()) == 3, "its own look once took b.md for a new note"


class _Killed(BaseException):
    """The process is gone: nothing after this line happens."""


@pytest.mark.parametrize("new", [True, False], ids=["a new file", "a changed file"])
@pytest.mark.parametrize("after", ["renamed", "deleted"])
def test_a_file_that_goes_after_a_killed_run_is_neither_doubled_nor_brought_back(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, after: str, new: bool
) -> None:
    if not new:
        pair.put("a.md", "One.\n")
        pair.sync()
    pair.put("a.md", "Quite other words.\n")
    name = "create" if new else "change"
    real = getattr(Mirroring, name)

    def killed(*args: str) -> NoteState:
        real(*args)
        raise _Killed

    with monkeypatch.context() as dying:
        dying.setattr(Mirroring, name, killed)
        with pytest.raises(_Killed):
            pair.sync()
    [id] = pair.sources()
    if after == "deleted":
        (pair.root / "a.md").unlink()
        assert pair.sync().done == [("retract", "a.md")]
        assert (pair.files(), pair.sources()) == ({}, {})
    else:
        (pair.root / "a.md").rename(pair.root / "z.md")
        assert pair.sync().done == [("rename", "z.md")]
        assert (list(pair.files()), list(pair.sources())) == (["z.md"], [id])
    assert pair.sync().done == []


def test_a_full_disk_is_said_and_nothing_is_lost(pair: Pair) -> None:
    pair.put("a.md", "One.\n")
    pair.sync()
    pair.put("a.md", "One and more.\n")
    pair.put("b.md", "Two.\n")
    with pair.open() as mirror:
        journal = mirror.folder.local / "journal.jsonl"
        journal.unlink(missing_ok=True)
        journal.symlink_to("/dev/full")
        with pytest.raises(DolmenError) as refused:
            mirror.sync()
        assert (refused.value.code, "No space left" in refused.value.message) == ("unavailable", True)
        assert list(pair.sources().values()) == ["One.\n"], "nothing is done that was not written down"
        journal.unlink(missing_ok=True)
        assert {what for what, _ in mirror.sync().done} == {"change", "create"}
    pair.agree()
    assert len(pair.sources()) == 2


def test_a_mirror_whose_own_files_cannot_be_read_says_so(pair: Pair) -> None:
    pair.put("a.md", "One.\n")
    pair.sync()
    journal = pair.root / ".dolmen/local/journal.jsonl"
    journal.unlink(missing_ok=True)
    journal.mkdir()
    for run in (pair.sync, pair.rehearse):
        with pytest.raises(DolmenError, match="does not work") as refused:
            run()
        assert refused.value.code == "unavailable"


def test_drafts_of_a_killed_run_go_and_those_of_a_running_one_stay(pair: Pair) -> None:
    pair.put("a.md", "One.\n")
    pair.sync()
    drafts = [pair.put(f".dolmen/{name}", "half") for name in ("notes.jsonl.0a.part", "local/0b.part")]
    pair.sync()
    assert not any(draft.exists() for draft in drafts), "else git would commit one"
    with pair.open():
        draft = pair.put(".dolmen/local/0c.part", "half")
        with pytest.raises(DolmenError, match="Another"):
            pair.sync()
        assert draft.exists()
