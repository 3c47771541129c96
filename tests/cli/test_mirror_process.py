"""`dolmen mirror` as a process of its own: killed at any moment, alone with its folder, and watching."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dolmen.app import open_app
from dolmen.services.accounts import local_actor
from dolmen.services.notes.creating import create_note
from dolmen.services.notes.editing import edit_note
from dolmen.services.notes.mirroring import Mirroring
from dolmen.services.notes.reading import read_note
from dolmen.services.requests.notes import NewNote, NoteEdit
from dolmen.services.review import pending, reject
from dolmen.services.runtime import Runtime
from dolmen.settings import Settings

KILLS = 12
RESTLESS = """
import sys
from pathlib import Path
from dolmen.app import open_app
from dolmen.client.mirror import open_mirror
from dolmen.services.accounts import local_actor
from dolmen.services.notes.mirroring import Mirroring
from dolmen.settings import Settings

with open_app(Settings(database=sys.argv[1], embedder="none"), models=False) as app:
    actor = local_actor(app.runtime, agent="mirror", human=True)
    notes = Mirroring(app.runtime, actor, "user")
    with open_mirror(Path(sys.argv[2]), notes, vault_id=notes.vault(), scope="user") as mirror:
        print("ready", flush=True)
        while True:
            mirror.sync(force=True)
"""
"""What the command does, over and over, so that whenever it is killed it is at work."""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "vault"
    place.mkdir()
    return place


def start(url: str, root: Path, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "dolmen", "mirror", str(root), "--user", "--database", url, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "DOLMEN_EMBEDDER": "none", "PYTHONUNBUFFERED": "1"},
    )


def finished(url: str, root: Path, *more: str) -> str:
    process = start(url, root, *more)
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0, said
    return said


@contextmanager
def opened(url: str) -> Iterator[Runtime]:
    with open_app(Settings(database=url, embedder="none"), models=False) as app:
        yield app.runtime


def notes_of(rt: Runtime) -> dict[str, str]:
    notes = Mirroring(rt, local_actor(rt, agent="cli", human=True), "user")
    states = [notes.read(each.id) for each in notes.standing()]
    return {state.standing.id: state.source for state in states if state is not None}


def files_of(root: Path) -> list[str]:
    return sorted(path.read_bytes().decode() for path in root.rglob("*.md"))


@pytest.mark.slow
def test_a_mirror_that_is_killed_again_and_again_loses_and_doubles_nothing(engine_url: str, root: Path) -> None:
    """A person and an agent write all the time; the process dies at moments that nobody chose."""
    chance = random.Random(20261130)
    names = [f"name{number:03d}" for number in range(40)]
    said: set[str] = set()
    made: set[str] = set()
    with opened(engine_url) as rt:
        agent = local_actor(rt, agent="codex", mode="write")

        def write(round: int) -> None:
            for name in chance.sample(names, 12):
                file, word = root / f"{name}.md", f"p{round}{name}"
                if file.exists() or name < "name020":
                    text = file.read_bytes().decode() if file.exists() else f"# {name}\n\nThe first of {name}.\n"
                    file.write_bytes(f"{text}\nA person says {word}.\n".encode())
                    said.add(word)
                elif name not in made:
                    made.add(name)
                    create_note(rt, agent, NewNote(f"# {name}\n\nThe first of {name}.\n", permalink=name))
            for id in chance.sample(sorted(notes_of(rt)), min(6, len(notes_of(rt)))):
                edit_note(rt, agent, NoteEdit(id, "prepend", f"An agent says a{round}{id}."))
                said.add(f"a{round}{id}")

        write(0)
        for round in range(1, KILLS + 1):
            process = subprocess.Popen([sys.executable, "-c", RESTLESS, engine_url, str(root)], stdout=subprocess.PIPE)
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            pen = threading.Thread(target=write, args=(round,))
            pen.start()
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(timeout=chance.uniform(0, 0.6))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            pen.join()
        for _ in range(6):
            finished(engine_url, root)
            owner = local_actor(rt, agent="cli", human=True)
            for item in pending(rt, owner):
                reject(rt, owner, item.id)
        assert "nothing to do" in finished(engine_url, root)
        assert files_of(root) == sorted(notes_of(rt).values())
        everything = "\n".join([*files_of(root), *past(rt)])
        assert {word for word in said if word not in everything} == set()
        first = [name for name in names for text in files_of(root) if f"The first of {name}." in text]
        assert len(first) == len(set(first)) == len(files_of(root)), "no note is there twice"


def past(rt: Runtime) -> Iterator[str]:
    with rt.store.read() as tx:
        [(vault, _)] = tx.accounts.vaults()
        for note in tx.notes.stream(vault):
            yield from (revision.note.source for revision in tx.notes.revisions(vault, note.id))
        for proposal in tx.proposals.select(vault, None, None, 100_000):
            yield str(proposal.payload.get("content"))


@pytest.mark.slow
def test_a_folder_is_mirrored_while_it_is_watched_and_by_one_process_alone(engine_url: str, root: Path) -> None:
    """B056: the second one is told, at once."""
    (root / "a.md").write_text("One.\n")
    os.utime(root / "a.md", (1_700_000_000, 1_700_000_000))
    watching = start(engine_url, root, "--watch", "--json")
    assert watching.stdout is not None
    assert json.loads(watching.stdout.readline()) == {"what": "create", "path": "a.md"}
    second = start(engine_url, root)
    said, _ = second.communicate(timeout=60)
    assert second.returncode == 4
    assert "Another `dolmen mirror` works on" in said
    with opened(engine_url) as rt:
        agent = local_actor(rt, agent="codex", mode="write")
        edit_note(rt, agent, NoteEdit("a", "append", "The agent goes on."))
        assert json.loads(watching.stdout.readline()) == {"what": "write", "path": "a.md"}
        assert (root / "a.md").read_text() == "One.\n\nThe agent goes on.\n"
        (root / "a.md").rename(root / "b.md")
        assert json.loads(watching.stdout.readline()) == {"what": "rename", "path": "b.md"}
        assert read_note(rt, agent, "b").text == "One.\n\nThe agent goes on.\n"
    watching.send_signal(signal.SIGTERM)
    assert watching.wait(timeout=30) == 0
    watching.stdout.close()
    assert "nothing to do" in finished(engine_url, root)
