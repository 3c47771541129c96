"""Short ways to write notes in a house."""

from __future__ import annotations

from typing import Any

import pytest

from dolmen.domain.values import Actor
from dolmen.services.notes.creating import create_note
from dolmen.services.notes.editing import edit_note
from dolmen.services.notes.reading import read_note
from dolmen.services.requests.notes import BlockView, NewNote, NoteEdit, NoteView, NoteWritten
from tests.services.conftest import House

__all__ = ["House"]


class Desk:
    """Where notes are written in a house."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.rt = house.rt
        self.agent = house.agent
        self.owner = house.owner

    def new(self, content: str, actor: Actor | None = None, **fields: Any) -> NoteWritten:
        return create_note(self.rt, actor or self.agent, NewNote(content, **fields))

    def edit(
        self, ref: str, op: str, content: str | None = None, actor: Actor | None = None, **more: Any
    ) -> NoteWritten:
        return edit_note(self.rt, actor or self.agent, NoteEdit(ref, op, content, **more))  # type: ignore[arg-type]

    def read(self, ref: str, *args: Any, actor: Actor | None = None, **more: Any) -> NoteView:
        return read_note(self.rt, actor or self.agent, ref, *args, **more)

    def block(self, ref: str, words: str) -> BlockView:
        """The one block whose statement has these words."""
        [found] = [b for b in self.read(ref).blocks if b.memory and words in b.memory.text]
        return found


@pytest.fixture
def desk(house: House) -> Desk:
    return Desk(house)
