"""A folder that came from elsewhere, with files of a mirror in it that this one did not write."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from dolmen.client.mirror.names import is_inside, path_for
from dolmen.domain.errors import DolmenError
from tests.services.mirror.conftest import Pair

ID = "01890000-0000-7000-8000-0123456789ab"


@pytest.mark.parametrize(
    "path", ["../evil.sh", "../evil.md", ".git/hooks/x.md", "/tmp/evil.md", "a/../../evil.md", "a//b.md", ".md", ""]
)
@pytest.mark.parametrize("where", ["state.json", "journal.jsonl"])
def test_no_path_that_such_a_folder_names_leads_out_of_it(pair: Pair, path: str, where: str, tmp_path: Path) -> None:
    """Whoever knows the id of a note could have it written where the next shell, or git, reads it."""
    id = pair.new("Words of an agent.\n", permalink="plan", actor=pair.house.owner).ref and pair.note("plan").note.id
    pair.sync()
    (pair.root / "plan.md").unlink()
    entry = [id, path, "", "", 0, 0, "", None, "", "", "", ""]
    local = pair.root / ".dolmen/local"
    (local / "journal.jsonl").unlink(missing_ok=True)
    entries = [entry] if where == "state.json" else []
    known = {"format": 1, "vault": "main", "scope": "user", "entries": entries}
    (local / "state.json").write_text(json.dumps(known))
    if where == "journal.jsonl":
        (local / where).write_text(json.dumps(entry) + "\n")
        pair.sync()
        assert pair.files() == {"plan.md": "Words of an agent.\n"}
    else:
        with pytest.raises(DolmenError, match="not of this version"):
            pair.sync()
        assert pair.files() == {}
    assert sorted(each.name for each in tmp_path.rglob("*evil*")) == []
    assert not (pair.root / ".git").exists()


@pytest.mark.parametrize(
    "text",
    [
        b"\xff", b"[]", b"{", b'{"format":1}', b'{"format":1,"vault":"main","scope":"user","entries":[[1]]}',
        b'{"format":1,"vault":"main","scope":"user","entries":7}',
    ],
)  # fmt: skip
def test_a_snapshot_that_says_nothing_is_named_and_nothing_is_done(pair: Pair, text: bytes) -> None:
    pair.put("a.md", "One.\n")
    pair.sync()
    (pair.root / ".dolmen/local/state.json").write_bytes(text)
    with pytest.raises(DolmenError, match=r"state\.json is not of this version") as error:
        pair.sync()
    assert error.value.code == "configuration"
    assert len(pair.sources()) == 1


@pytest.mark.parametrize("name", ["journal.jsonl", "state.json", "lock", "server"])
def test_a_link_among_the_mirrors_own_files_is_not_written_through(pair: Pair, name: str, tmp_path: Path) -> None:
    """The journal names files, whose names others choose: appended to a shell's start file they would be commands."""
    other = tmp_path / "startup"
    other.write_text("echo\n")
    local = pair.root / ".dolmen/local"
    local.mkdir(parents=True)
    (local / name).symlink_to(other)
    pair.put("$(touch owned).md", "One.\n")
    with pytest.raises(DolmenError, match="is a link"):
        pair.sync()
    assert other.read_text() == "echo\n"
    assert pair.sources() == {}


@pytest.mark.parametrize("place", ["a/b.md", ".hidden/x.md", "../x.md", "/etc/x", "a//.md", "…/é.MD", "x" * 500])
def test_every_name_that_a_note_gets_is_inside(place: str) -> None:
    assert is_inside(path_for(place, ID))
    assert is_inside(path_for(place, ID, anywhere=False))


def test_a_file_that_is_rewritten_keeps_its_owner_and_its_mode(pair: Pair) -> None:
    """Run by root, such as from cron, it does not lock a person out of her own notes."""
    file = pair.put("a.md", "One.\n")
    if os.geteuid() == 0:  # only root gives files away
        os.chown(file, 1234, 1235)
    file.chmod(0o640)
    before = file.stat()
    pair.sync()
    pair.edit("a", "append", "The agent goes on.")
    pair.sync()
    state = file.stat()
    assert (state.st_uid, state.st_gid, state.st_mode) == (before.st_uid, before.st_gid, before.st_mode)
    assert "goes on" in pair.text("a.md")


def test_what_lies_in_a_folder_that_became_a_link_is_left_alone_for_that_reason(pair: Pair, tmp_path: Path) -> None:
    pair.put("plans/a.md", "One.\n")
    pair.put("b.md", "Two.\n")
    pair.sync()
    (pair.root / "plans").rename(tmp_path / "elsewhere")
    (pair.root / "plans").symlink_to(tmp_path / "elsewhere")
    report = pair.sync()
    assert report.done == []
    assert report.passed == {"plans/a.md": "its folder is a link, or cannot be looked into"}


def test_a_list_that_gives_a_file_the_id_of_a_memory_is_not_believed(pair: Pair) -> None:
    memory = pair.house.stored("The sky is blue.")
    pair.put(".dolmen/notes.jsonl", f'{{"path": "a.md", "id": "{memory}"}}\n')
    pair.put("a.md", "One.\n")
    report = pair.sync()
    assert (report.done, report.later) == ([("create", "a.md")], [])
    [id] = pair.sources()
    assert id != memory
    assert f'"id": "{id}"' in pair.text(".dolmen/notes.jsonl")
    pair.agree()
