"""A server or a store that is another one than the folder's, or an older copy of it."""

from __future__ import annotations

import shutil
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from dolmen.client.mirror import Report, open_mirror
from dolmen.domain.errors import DolmenError
from dolmen.services.forget import forget
from dolmen.services.remember import remember
from dolmen.services.requests import Forget, NewMemory
from tests.interfaces.conftest import Serve, Served
from tests.interfaces.mirror.conftest import Far, Machine, edit, listening, sources
from tests.interfaces.mirror.test_command import run
from tests.interfaces.mirror.test_troubles import STANDING, STATE, claiming


def sync(far: Far, **how: Any) -> Report:
    """As `Far.sync`, with whichever server has taken the first one's place."""
    with far.vault() as vault:
        vault.about()
        with open_mirror(far.root, vault, vault_id="main@1", scope="user") as mirror:
            done: Report = mirror.sync(**how)
            return done


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_server_that_went_back_takes_no_words_from_the_folder(engine: str, serve: Serve, machine: Machine) -> None:
    now, before = machine(serve(engine)), machine(serve(engine))
    for name in ("a", "b"):
        now.put(f"{name}.md", f"The first of {name}.\n")
    sync(now)
    shutil.copytree(now.root, before.root, ignore=shutil.ignore_patterns("local"), dirs_exist_ok=True)
    sync(before)
    edit(now.served, "a", "append", "The agent goes on.")
    now.put("c.md", "Written after the backup.\n")
    sync(now)
    files = now.files()
    now.served, now.key = before.served, before.key
    with pytest.raises(DolmenError, match="2 of 3 notes are older in the vault"):
        sync(now)
    assert now.files() == files
    assert sorted(sync(now, force=True).done) == [("change", "a.md"), ("create", "c.md")]
    assert now.files() == files
    assert sorted(sources(before.served).values()) == sorted(files.values())


def test_a_note_that_was_purged_at_the_server_goes_from_the_folder(server: Served, machine: Machine) -> None:
    far = machine(server)
    far.put("a.md", "One.\n")
    far.put("b.md", "Two.\n")
    far.sync()
    forget(server.rt, server.owner(), Forget(ref="dolmen://a", mode="purge"))
    assert far.sync().done == [("remove", "a.md")]


@pytest.mark.slow
def test_a_folder_of_one_store_is_not_mirrored_with_another_one(tmp_path: Path) -> None:
    """The first vault of every store is called the same: its time tells them apart."""
    root = tmp_path / "vault"
    root.mkdir()
    (root / "a.md").write_text("One.\n")
    assert "1 new note" in run(root, "--user")
    other = f"sqlite:///{tmp_path}/other.db"
    said = run(root, "--database", other, code=4)
    assert "This folder mirrors another vault." in said
    assert (root / "a.md").read_text() == "One.\n"
    assert "nothing to do" in run(root)
    shutil.rmtree(root / ".dolmen" / "local")
    assert "1 new note" in run(root, "--database", other)


@pytest.mark.parametrize("field", ["version", "changed_at"])
def test_a_server_whose_numbers_are_none_is_not_believed(serve: Serve, machine: Machine, field: str) -> None:
    far = machine(serve())
    with claiming({**STANDING, field: "1"}, STATE) as far.url, pytest.raises(DolmenError) as error:
        far.sync()
    assert error.value.code == "configuration"
    assert far.files() == {}


@pytest.mark.parametrize(
    ("status", "text", "after"), [(200, b"[" * 200_000, "0"), (502, b"[" * 200_000, "9" * 30), (429, b"{}", "9" * 30)]
)
def test_an_answer_that_nests_or_waits_without_end_is_a_failure_that_is_said(
    serve: Serve, machine: Machine, status: int, text: bytes, after: str
) -> None:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.send_header("Retry-After", after)
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *_: Any) -> None:
            pass

    far = machine(serve())
    with listening(Handler) as base:
        far.url = f"{base}/mcp"
        with pytest.raises(DolmenError):
            far.sync()
    assert max(far.waited, default=0) <= 4 * 3600


@pytest.mark.slow
def test_a_folder_from_elsewhere_says_which_notes_it_wants(tmp_path: Path) -> None:
    """Its list of notes names the project; notes come into the folder, which may be somebody else's repository."""
    root = tmp_path / "vault"
    (root / ".dolmen").mkdir(parents=True)
    (root / ".dolmen" / "notes.jsonl").write_text('{"dolmen": "mirror", "format": 1, "scope": "user"}\n')
    (root / "a.md").write_text("One.\n")
    assert "new here: this folder mirrors your own notes; as its list of notes says" in run(root)
    assert "new here" not in run(root)


def test_a_list_that_gives_a_file_the_id_of_a_memory_is_not_believed(server: Served, machine: Machine) -> None:
    [memory] = remember(server.rt, server.owner(), [NewMemory("The sky is blue.")])
    far = machine(server)
    far.put(".dolmen/notes.jsonl", f'{{"path": "a.md", "id": "{memory.ref}"}}\n')
    far.put("a.md", "One.\n")
    report = sync(far)
    assert (report.done, report.later) == ([("create", "a.md")], [])
    assert list(sources(server)) != [memory.ref]
    assert sync(far).done == []
