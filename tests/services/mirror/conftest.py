"""A house and a folder that mirrors its notes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from dolmen.client.mirror import Report, open_mirror, rehearsal
from dolmen.domain.values import Actor
from dolmen.services.notes.creating import create_note
from dolmen.services.notes.editing import edit_note
from dolmen.services.notes.mirroring import Mirroring
from dolmen.services.notes.reading import read_note
from dolmen.services.requests.notes import NewNote, NoteEdit, NoteView, NoteWritten
from dolmen.services.review import pending
from tests.conftest import Engine, NewStore
from tests.services.conftest import House, close_house, open_house


@dataclass
class Pair:
    """A vault and a folder that are kept in step."""

    house: House
    root: Path

    @property
    def notes(self) -> Mirroring:
        return Mirroring(self.house.rt, replace(self.house.owner, agent="mirror"), "user")

    def open(self) -> Any:
        return open_mirror(self.root, self.notes, vault_id="main", scope="user")

    def sync(self, **how: Any) -> Report:
        with self.open() as mirror:
            done: Report = mirror.sync(**how)
            return done

    def later(self, **how: Any) -> Report:
        """As `sync`, long after the files were written, so that how they look is believed."""
        with self.open() as mirror:
            mirror.clock = lambda: time.time_ns() + 10_000_000_000
            done: Report = mirror.sync(**how)
            return done

    def rehearse(self) -> Report:
        return rehearsal(self.root, self.notes, vault_id="main", scope="user")

    # ------------------------------------------------------------------------------------------------------ the folder
    def put(self, path: str, text: str | bytes) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def files(self) -> dict[str, str]:
        """Every Markdown file, by path, without the mirror's own."""
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes().decode()
            for path in sorted(self.root.rglob("*.md"))
            if ".dolmen" not in path.parts and not path.is_symlink()
        }

    # ------------------------------------------------------------------------------------------------------- the vault
    def new(self, content: str, actor: Actor | None = None, **fields: Any) -> NoteWritten:
        return create_note(self.house.rt, actor or self.house.agent, NewNote(content, **fields))

    def edit(self, ref: str, op: Any, content: str | None = None, **more: Any) -> NoteWritten:
        return edit_note(self.house.rt, more.pop("actor", self.house.agent), NoteEdit(ref, op, content, **more))

    def rewrite(self, ref: str, old: str, new: str) -> NoteWritten:
        """An agent changes some words of a note."""
        note = self.note(ref)
        assert old in note.text
        return self.edit(ref, "replace_note", note.text.replace(old, new), expected_sha=note.sha)

    def note(self, ref: str, *args: Any, **more: Any) -> NoteView:
        return read_note(self.house.rt, self.house.owner, ref, *args, **more)

    def sources(self) -> dict[str, str]:
        """Every live note's Markdown, by its id."""
        found = {each.id: self.notes.read(each.id) for each in self.notes.standing()}
        return {id: state.source for id, state in found.items() if state is not None}

    def proposals(self) -> list[str]:
        return [each.id for each in pending(self.house.rt, self.house.owner)]

    def agree(self) -> None:
        """Both sides say the same, and a further run finds nothing to do."""
        assert sorted(self.files().values()) == sorted(self.sources().values())
        assert self.sync().done == []


@pytest.fixture
def pair(house: House, tmp_path: Path) -> Pair:
    root = tmp_path / "vault"
    root.mkdir()
    return Pair(house, root)


@pytest.fixture
def elsewhere(new_store: NewStore, engine: Engine, tmp_path: Path) -> Iterator[Pair]:
    """Another machine: an empty vault on the other engine, and no folder yet."""
    house = open_house(new_store("postgres" if engine == "sqlite" else "sqlite"))
    yield Pair(house, tmp_path / "elsewhere")
    close_house(house)
