"""Notes leave and enter with everything that they were (B145, B147)."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from dolmen.services.forget import forget
from dolmen.services.notes.marking import verify_claims
from dolmen.services.notes.moving import move_note
from dolmen.services.requests import Forget
from dolmen.services.transfer import export, import_
from tests.conftest import Engine, NewStore
from tests.services.conftest import House, close_house, open_house
from tests.services.notes.conftest import Desk

NOTE = "---\r\ntitle: 'Über: X'  # why\r\n---\r\n# T \r\n\r\n- [fact] Keys rotate monthly\r\n"
NOTE += "- [fact] Twice\r\n- [fact] Twice\r\n"


@pytest.fixture
def elsewhere(new_store: NewStore, engine: Engine) -> Iterator[House]:
    """A second, empty house on the other engine."""
    house = open_house(new_store("postgres" if engine == "sqlite" else "sqlite"))
    yield house
    close_house(house)


def filled(desk: Desk) -> None:
    ref = desk.new(NOTE, folder="backend").ref
    verify_claims(desk.rt, desk.owner, [desk.block(ref, "monthly").ref], "verified")
    first, _ = [b for b in desk.read(ref).blocks if b.memory and b.memory.text == "Twice"]
    desk.edit(first.ref, "replace_block", "")
    desk.edit(ref, "append", "- depends_on [[Later]]")
    move_note(desk.rt, desk.owner, ref, "web/login")
    desk.new("word " * 3000, title="Long")
    gone = desk.new("Gone.", title="Gone").ref
    forget(desk.rt, desk.owner, Forget(ref=gone, reason="old"))
    desk.new("We say this.", title="Old")
    desk.new("We say that.", title="New", supersedes=("old",))
    desk.edit("new", "append", "Maybe.", desk.house.actor(mode="suggest", connection="key-2"))
    desk.new("Proposed.", desk.house.actor(mode="suggest", connection="key-2"))


def test_everything_about_notes_survives_a_move_to_another_engine(desk: Desk, elsewhere: House) -> None:
    filled(desk)
    lines = list(export(desk.rt, desk.owner))
    rehearsal = import_(elsewhere.rt, elsewhere.owner, lines, dry_run=True)
    report = import_(elsewhere.rt, elsewhere.owner, lines)
    assert rehearsal.imported == report.imported
    assert (report.refused, report.complete) == ([], True)
    again = list(export(elsewhere.rt, elsewhere.owner))
    header, twin = json.loads(lines[0]), json.loads(again[0])
    assert [header["memories"], *sorted(lines[1:-1])] == [twin["memories"], *sorted(again[1:-1])]
    assert import_(elsewhere.rt, elsewhere.owner, lines).imported == {}
    there = Desk(elsewhere)
    assert there.read("web/login").text.startswith(NOTE[:20])
    assert there.block("web/login", "monthly").verification == "verified"
    assert [b.id[-2:] for b in there.read("web/login").blocks if b.memory and b.memory.text == "Twice"] == ["-2"]
    assert len(elsewhere.refs("keys rotate monthly")) >= 1
    there.edit("web/login", "append", "Still works.")


def test_a_note_that_is_here_word_for_word_stands_for_the_imported_one(desk: Desk, elsewhere: House) -> None:
    filled(desk)
    there = Desk(elsewhere)
    there.new("We say that.\n\n- supersedes [[old]]", title="New")
    there.new("Another thing.", permalink="web/login")
    report = import_(elsewhere.rt, elsewhere.owner, export(desk.rt, desk.owner))
    assert report.refused == []
    assert there.read("web/login").text.endswith("Another thing.")
    assert there.read("web/login-2").text == desk.read("web/login").text
    assert report.present["note"] == 1
    assert there.read("new", "links").links[0].resolved


def test_a_block_without_its_note_is_refused(desk: Desk, elsewhere: House) -> None:
    filled(desk)
    lines = [line for line in export(desk.rt, desk.owner) if json.loads(line).get("type") != "note"]
    report = import_(elsewhere.rt, elsewhere.owner, lines)
    assert report.refusals > 5
    assert "Import the note first" in report.refused[0].message or report.refused[0].code == "not-found"
