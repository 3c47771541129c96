"""Folders as they are: names of any script, links, encodings, clones, and files that somebody is just writing."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from dolmen.client.mirror.names import path_for
from dolmen.domain.errors import DolmenError
from dolmen.services.notes.moving import move_note
from dolmen.services.transfer import export, import_
from tests.services.mirror.conftest import Pair

ID = "01900000-0000-7000-8000-0123456789ab"
KEY = "AKIA" + "Q7RT2LMNP4WXYZ6B"


# ---------------------------------------------------------------------------------------------------------------- names
@pytest.mark.parametrize(
    ("place", "path"),
    [
        ("팀/배포-절차.md", "팀/배포-절차.md"),
        ("aux.md", "_aux.md"),
        ("ops/CON.notes/com1.md", "ops/_CON.notes/_com1.md"),
        (".git/hooks/x.md", "_git/hooks/x.md"),
        ("a/.hidden.md", "a/_hidden.md"),
        ("what? why: \"x\".md", "what_ why_ _x_.md"),
        ("ends with a dot./x.md", "ends with a dot_/x.md"),
        ("../../etc/passwd.md", "passwd-0123456789ab.md"),
        ("/etc/cron.md", "etc/cron.md"),
        ("a/../b.md", "b-0123456789ab.md"),
        ("", "note-0123456789ab.md"),
        ("..", "note-0123456789ab.md"),
        ("no ending", "no ending.md"),
        ("UPPER.MD", "UPPER.MD"),
        ("x\x00y\n.md", "x_y_.md"),
    ],
)  # fmt: skip
def test_a_note_gets_a_name_that_every_system_takes(place: str, path: str) -> None:
    """B191: an address is no path; what would lead out of the folder, or into hidden ones, is none."""
    assert path_for(place, ID, anywhere=True) == path


def test_a_long_name_is_cut_and_stays_apart_from_others() -> None:
    one, other = (path_for(f"{'한' * 150}{end}.md", ID, anywhere=True) for end in "ab")
    assert one != other
    assert max(len(part.encode()) for part in (*one.split("/"), *other.split("/"))) <= 255


def test_a_name_that_this_system_takes_stays_as_it_is(pair: Pair) -> None:
    names = ["What? Why: a*b.md", "trailing .md", "_x.md", "con.d/ok.md", "日本語.MD"]
    for name in names if os.name == "posix" else []:
        pair.put(name, f"In {name}.\n")
    pair.sync()
    assert sorted(pair.files()) == sorted(name for name in names if name.endswith(".md"))
    assert len(pair.sources()) == len(names)


def test_titles_of_any_script_are_files_that_stay_apart_and_say_the_same(pair: Pair, elsewhere: Pair) -> None:
    """B044, B136: also a title that is no plain YAML."""
    titles = ["บันทึกการประชุม", "สรุป release งาน", "🤔", "정리 노트", "Billing: retry rules (part: 2)", "aux", "AUX"]
    for title in titles:
        pair.new(f"Words of {title}.", title=title)
    pair.sync()
    assert len({name.casefold() for name in pair.files()}) == len(titles)
    assert "_aux.md" in pair.files()
    shutil.copytree(pair.root, elsewhere.root, ignore=shutil.ignore_patterns("local"))
    elsewhere.sync()
    assert sorted(elsewhere.note(id).note.title for id in elsewhere.sources()) == sorted(titles)


def test_front_matter_is_kept_whole_also_where_it_is_no_yaml(pair: Pair) -> None:
    """B138, B140."""
    good = "---\ntags:\n  - release\n  - '#odd'\nmine: {a: 1}  # kept\n---\nWords.\n"
    broken = "---\ntitle: [never closed\n---\nWords.\n"
    pair.put("good.md", good)
    pair.put("broken.md", broken)
    pair.sync()
    for ref in ("good", "broken"):
        pair.edit(ref, "append", "The agent goes on.")
    pair.sync()
    assert pair.text("good.md").startswith(good)
    assert pair.text("broken.md").startswith(broken)
    pair.agree()


def test_names_in_composed_and_decomposed_characters_are_one(pair: Pair) -> None:
    composed, apart = "Übung.md", unicodedata.normalize("NFD", "Übung.md")
    pair.put(composed, "Words.\n")
    pair.sync()
    [id] = pair.sources()
    (pair.root / composed).rename(pair.root / apart)  # as a copy through another system does
    assert pair.sync().done == []
    assert list(pair.sources()) == [id]
    pair.edit(id, "append", "More.")
    assert pair.sync().done == [("write", apart)]
    pair.put(composed, "Another one.\n")
    assert "other characters" in " ".join(pair.sync().passed.values())
    assert pair.text(apart) != pair.text(composed)


def test_two_notes_never_share_a_file_where_case_makes_no_difference(pair: Pair) -> None:
    pair.put("Plan.md", "The person's plan.\n")
    pair.sync()
    pair.new("---\npermalink: plan-b\n---\nThe agent's plan.")
    move_note(pair.house.rt, pair.house.owner, "plan-b", "archive/x")
    for ref in ("archive/x",):
        move_note(pair.house.rt, pair.house.owner, ref, "other", path="PLAN.md")
    pair.sync()
    assert sorted(pair.files()) == ["PLAN-2.md", "Plan.md"]
    pair.agree()


def test_only_the_case_of_a_name_can_be_changed(pair: Pair) -> None:
    pair.put("plan.md", "Words.\n")
    pair.sync()
    [id] = pair.sources()
    (pair.root / "plan.md").rename(pair.root / "PLAN.md")
    assert pair.sync().done == [("rename", "PLAN.md")]
    assert list(pair.sources()) == [id]
    assert pair.files() == {"PLAN.md": "Words.\n"}


# ------------------------------------------------------------------------------------------------------ what is refused
@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"\xff\xfea\x00", "invalid-argument"),
        ("é".encode("latin-1"), "invalid-argument"),
        (b"a\0b", "invalid-argument"),
        (b"x" * 1_000_001, "too-large"),
        (b"\xed\x95\x9c" * 1_000_001, "too-large"),
        (f"key: {KEY}\n".encode(), "secret-detected"),
    ],
    ids=["utf-16", "latin-1", "NUL", "1,000,001 characters", "of three bytes each", "a secret"],
)
def test_what_can_be_no_note_is_said_and_leaves_the_others_alone(pair: Pair, content: bytes, code: str) -> None:
    """B181: a secret is refused by its kind, and nothing of it is kept."""
    pair.put("bad.md", content)
    pair.put("good.md", "Good.\n")
    for done in ([("create", "good.md")], []):
        report = pair.sync()
        assert report.done == done
        assert report.refused["bad.md"].code == code
        assert KEY not in report.refused["bad.md"].message
    assert (pair.root / "bad.md").read_bytes() == content
    assert list(pair.sources().values()) == ["Good.\n"]
    pair.put("bad.md", "Mended.\n")
    assert pair.sync().done == [("create", "bad.md")]


def test_a_million_characters_are_a_note(pair: Pair) -> None:
    text = "가" * 999_999 + "\n"
    pair.put("long.md", text)
    assert pair.sync().done == [("create", "long.md")]
    assert list(pair.sources().values()) == [text]


def test_a_known_note_stays_what_it_was_while_its_file_is_refused(pair: Pair) -> None:
    pair.put("a.md", "One.\n")
    pair.put("b.md", "Two.\n")
    pair.sync()
    pair.put("a.md", f"{KEY}\n")
    pair.put("b.md", b"\xff")
    pair.edit("b", "append", "The agent goes on.")
    report = pair.sync()
    assert {path: error.code for path, error in report.refused.items()} == {
        "a.md": "secret-detected",
        "b.md": "invalid-argument",
    }
    assert report.done == []
    assert (pair.root / "b.md").read_bytes() == b"\xff", "a file is never written over unread"
    assert pair.note("a").text == "One.\n"
    pair.put("a.md", "One.\n")
    pair.put("b.md", "Two.\n")
    pair.sync()
    pair.agree()


def test_what_belongs_to_git_and_to_editors_is_passed_over(pair: Pair) -> None:
    for path in (".git/x.md", ".obsidian/y.md", ".trash/z.md", "a/.hidden.md", "picture.png", "table.csv"):
        pair.put(path, "no note\n")
    pair.put("a/b.md", "A note.\n")
    assert pair.sync().done == [("create", "a/b.md")]
    assert pair.sync().passed == {}


# ---------------------------------------------------------------------------------------------------------------- links
def test_links_are_never_followed_out_of_the_folder(pair: Pair, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.md").write_text("Not for the vault.\n")
    (pair.root / "file.md").symlink_to(out / "mine.md")
    (pair.root / "folder").symlink_to(out)
    os.mkfifo(pair.root / "endless.md")
    pair.new("Into the link.", permalink="folder/agent")
    pair.new("At the link.", permalink="file")
    report = pair.sync()
    assert sorted(path.name for path in out.iterdir()) == ["mine.md"]
    assert (out / "mine.md").read_text() == "Not for the vault.\n"
    assert "folder/agent.md" in report.refused
    assert report.done == []
    assert report.passed["file.md"] == "it is a link"
    assert "Not for the vault.\n" not in pair.sources().values()
    (pair.root / "file.md").unlink()
    assert pair.sync().done == [("add", "file.md")]


def test_a_folder_that_became_a_link_deletes_nothing(pair: Pair, tmp_path: Path) -> None:
    pair.put("plans/a.md", "One.\n")
    pair.put("plans/b.md", "Two.\n")
    pair.put("c.md", "Three.\n")
    pair.sync()
    shutil.move(pair.root / "plans", tmp_path / "plans")
    (pair.root / "plans").symlink_to(tmp_path / "nowhere")
    pair.edit("plans/b", "append", "The agent goes on.")
    assert pair.sync().done == []
    assert len(pair.sources()) == 3
    (pair.root / "plans").unlink()
    shutil.move(tmp_path / "plans", pair.root / "plans")
    assert pair.sync().done == [("write", "plans/b.md")]
    pair.agree()


def test_the_mirrors_own_folder_may_be_no_link(pair: Pair, tmp_path: Path) -> None:
    (pair.root / ".dolmen").symlink_to(tmp_path)
    with pytest.raises(DolmenError, match="no folder of its own"):
        pair.sync()


def test_a_path_that_an_import_brings_cannot_lead_out(pair: Pair, elsewhere: Pair, tmp_path: Path) -> None:
    """B191."""
    elsewhere.root.mkdir()
    elsewhere.put("a.md", "Words.\n")
    elsewhere.sync()
    lines = [line.replace('"a.md"', '"../../out.md"') for line in export(elsewhere.house.rt, elsewhere.house.owner)]
    assert any("../../out.md" in line for line in lines)
    import_(pair.house.rt, pair.house.owner, lines)
    before = set(tmp_path.rglob("*"))
    assert [what for what, _ in pair.sync().done] == ["add"]
    assert all(path.is_relative_to(pair.root) for path in set(tmp_path.rglob("*")) - before)


# --------------------------------------------------------------------------------------------------------------- clones
def git(place: Path, *words: str) -> str:
    given = ["git", "-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "core.autocrlf=false", *words]
    return subprocess.run(given, cwd=place, check=True, capture_output=True, text=True).stdout


def test_a_fresh_clone_has_the_same_notes_elsewhere(pair: Pair, elsewhere: Pair, tmp_path: Path) -> None:
    pair.put("팀/배포.md", "- [fact] One\r\n")
    pair.put("b.md", "Two.\n")
    pair.new("By an agent.", title="Agent", folder="ops")
    pair.sync()
    git(pair.root, "init", "-q")
    git(pair.root, "add", "-A")
    git(pair.root, "commit", "-q", "-m", "x")
    tracked = git(pair.root, "-c", "core.quotepath=off", "ls-files").split()
    assert sorted(name for name in tracked if name.startswith(".dolmen")) == [
        ".dolmen/.gitattributes",
        ".dolmen/.gitignore",
        ".dolmen/notes.jsonl",
    ]
    git(tmp_path, "clone", "-q", str(pair.root), str(elsewhere.root))
    assert {what for what, _ in elsewhere.sync().done} == {"create"}
    assert elsewhere.sources() == pair.sources(), "ids and bytes"
    assert git(elsewhere.root, "status", "--short") == ""
    blocks = {id: pair.note(id).note.blocks for id in pair.sources()}
    assert {id: elsewhere.note(id).note.blocks for id in elsewhere.sources()} == blocks


def test_a_copy_of_the_files_alone_has_the_same_notes(pair: Pair) -> None:
    """Also where a file could not get the name that its note's address is: `con` is a device on Windows."""
    pair.put("팀/배포.md", "- [fact] One\r\n")
    pair.new("By an agent.", title="con", folder="ops")
    pair.sync()
    assert (pair.root / "ops" / "_con.md").exists()
    before = pair.sources()
    shutil.rmtree(pair.root / ".dolmen")
    assert "create" not in {what for what, _ in pair.sync().done}
    assert pair.sources() == before
    assert not (pair.root / "ops" / "_con-2.md").exists()


def test_a_rename_and_a_new_note_that_are_pulled_keep_their_identity(
    pair: Pair, elsewhere: Pair, tmp_path: Path
) -> None:
    pair.put("a.md", "One.\n")
    pair.sync()
    git(pair.root, "init", "-q")
    git(pair.root, "add", "-A")
    git(pair.root, "commit", "-q", "-m", "x")
    git(tmp_path, "clone", "-q", str(pair.root), str(elsewhere.root))
    elsewhere.sync()
    (elsewhere.root / "a.md").rename(elsewhere.root / "z.md")
    elsewhere.sync()
    elsewhere.put("z.md", "Entirely other words by now.\n")
    elsewhere.put("n.md", "New.\n")
    elsewhere.sync()
    git(elsewhere.root, "add", "-A")
    git(elsewhere.root, "commit", "-q", "-m", "y")
    pair.edit("a", "append", "An agent goes on here.")
    git(pair.root, "pull", "-q", str(elsewhere.root))
    pair.sync()
    assert set(pair.sources()) == set(elsewhere.sources())
    assert pair.note("z").note.id == elsewhere.note("z").note.id


def test_a_second_folder_of_the_same_vault_doubles_nothing(pair: Pair, tmp_path: Path) -> None:
    pair.put("a.md", "One.\n")
    pair.put("b.md", "Two.\n")
    pair.put("c.md", "Three.\n")
    pair.sync()
    second = Pair(pair.house, tmp_path / "second")
    shutil.copytree(pair.root, second.root, ignore=shutil.ignore_patterns("local"))
    pair.edit("a", "append", "The agent goes on.")
    pair.edit("b", "delete_note", reason="old")
    second.put("c.md", "Three, changed there.\n")
    report = second.sync()
    assert sorted(report.done) == [("propose", "c.md"), ("remove", "b.md"), ("write", "a.md")]
    assert len(pair.sources()) == 2
    empty = Pair(pair.house, tmp_path / "third")
    empty.root.mkdir()
    assert {what for what, _ in empty.sync().done} == {"add"}
    empty.agree()


def test_a_file_that_a_branch_brings_back_brings_its_note_back(pair: Pair) -> None:
    for name in "abcdef":
        pair.put(f"{name}.md", f"Words of {name}.\n")
    pair.sync()
    git(pair.root, "init", "-q")
    git(pair.root, "add", "-A")
    git(pair.root, "commit", "-q", "-m", "x")
    git(pair.root, "branch", "main-too")
    git(pair.root, "rm", "-q", "a.md")
    git(pair.root, "commit", "-q", "-m", "y")
    id = pair.note("a").note.id
    assert pair.sync().done == [("retract", "a.md")]
    git(pair.root, "checkout", "-q", "-f", "main-too")
    assert pair.sync().done == [("restore", "a.md")]
    assert pair.note("a").note.id == id
    pair.agree()


def test_a_folder_whose_notes_were_imported_before_is_taken_over(pair: Pair) -> None:
    from dolmen.services.notes.files import NoteFile, take_file

    for name in ("a", "b"):
        pair.put(f"{name}.md", f"Words of {name}.\n")
        take_file(pair.house.rt, pair.house.owner, NoteFile(f"{name}.md", f"Words of {name}.\n"), {}, "user")
    pair.edit("b", "append", "The agent goes on.")
    before = set(pair.sources())
    assert pair.sync().done == [("write", "b.md")]
    assert set(pair.sources()) == before
    pair.agree()


def test_a_merge_conflict_in_the_list_of_notes_is_read_as_both_sides(pair: Pair) -> None:
    pair.put("a.md", "One.\n")
    pair.sync()
    shared = pair.root / ".dolmen/notes.jsonl"
    lines = shared.read_text().splitlines()
    noise = ["<<<<<<< HEAD", lines[1], "=======", '{"path": "b.md", "id": "' + ID + '"}', '{"path": 7, "id": []}', "["]
    shared.write_text("\n".join([lines[0], *noise, ">>>>>>> other"]) + "\n")
    pair.put("b.md", "Two.\n")
    assert pair.sync().done == [("create", "b.md")]
    assert pair.note("b").note.id == ID
    assert len(shared.read_text().splitlines()) == 3


# ------------------------------------------------------------------------------------------------------------- watching
def test_while_watching_a_file_that_is_being_written_is_left_for_later(pair: Pair) -> None:
    pair.put("a.md", "One.\n")
    with pair.open() as mirror:
        mirror.clock = lambda: time.time_ns() - 100_000_000
        os.utime(pair.root / "a.md", ns=(mirror.clock(), mirror.clock() - 1))
        report = mirror.step()
        assert (report.done, report.later) == ([], ["a.md"])
        mirror.clock = lambda: time.time_ns() + 5_000_000_000
        assert mirror.step().done == [("create", "a.md")]
        (pair.root / "a.md").rename(pair.root / ".a.md~")  # how some editors save
        assert mirror.step().done == []
        (pair.root / ".a.md~").rename(pair.root / "a.md")
        assert mirror.step().done == []
        (pair.root / "a.md").unlink()
        pair.put("b.md", "Two.\n")
        assert mirror.step().done == [("create", "b.md")]
        assert mirror.step().done == [("retract", "a.md")]
        (pair.root / "b.md").rename(pair.root / "c.md")
        mirror.clock = lambda: (pair.root / "c.md").stat().st_mtime_ns + 100_000_000
        for number in range(3):  # somebody goes on typing under the new name
            pair.put("c.md", f"Two.\n\nThree.\n\nWord {number}.\n")
            assert mirror.step().done == []
        mirror.clock = lambda: time.time_ns() + 5_000_000_000
        assert {what for what, _ in mirror.step().done} == {"rename", "change"}


def test_a_file_that_changes_between_look_and_write_is_not_written_over(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair.put("a.md", "One.\n")
    pair.sync()
    pair.edit("a", "append", "The agent goes on.")
    read: Callable[..., object] = pair.notes.read

    def slowly(notes: object, id: str) -> object:
        if "Two" not in pair.text("a.md"):
            pair.put("a.md", "One.\n\nTwo, typed just now.\n")
        return read(id)

    monkeypatch.setattr(type(pair.notes), "read", slowly)
    pair.sync()
    monkeypatch.undo()
    pair.sync()
    assert "typed just now" in pair.text("a.md") or pair.proposals()
    assert "The agent goes on." in pair.note("a").text
