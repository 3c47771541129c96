"""A folder on another machine is kept in step with the notes of a server, over REST."""

from __future__ import annotations

import pytest

from dolmen.services.notes.mirroring import Mirroring
from dolmen.services.review import pending
from tests.interfaces.conftest import Served
from tests.interfaces.mirror.conftest import Machine, edit, new, note, sources

pytestmark = pytest.mark.slow


def test_both_sides_follow_each_other_and_a_rename_keeps_the_note(server: Served, machine: Machine) -> None:
    new(server, "# Deploys\n\nWe deploy on Tuesdays.\n", permalink="ops/deploys")
    far = machine(server)
    far.put("plans/first.md", "# Plan\r\n\r\nWe measure.  \r\n")
    far.put("한국어 노트.md", "# 한국어 노트\n\n우리는 측정한다.\n")
    done = far.sync()
    assert (done.counts["create"], done.counts["add"]) == (2, 1)
    assert far.text("ops/deploys.md") == "# Deploys\n\nWe deploy on Tuesdays.\n"
    assert sorted(sources(server).values()) == sorted(far.files().values())
    assert far.sync().done == []
    [id] = [id for id, source in sources(server).items() if "measure" in source]
    (far.root / "plans/first.md").rename(far.root / "plan.md")
    far.put("plan.md", "# Plan\r\n\r\nWe measure twice.  \r\n")
    edit(server, "ops/deploys", "append", "Never on Fridays.")
    done = far.sync()
    assert sorted(kind for kind, _ in done.done) == ["change", "rename", "write"]
    assert note(server, "plan").text == "# Plan\r\n\r\nWe measure twice.  \r\n"
    assert sources(server)[id] == far.text("plan.md")
    assert far.text("ops/deploys.md").endswith("Never on Fridays.\n")
    assert far.sync().done == []


def test_what_is_deleted_on_one_side_goes_on_the_other_and_can_come_back(server: Served, machine: Machine) -> None:
    far = machine(server)
    for name in ("a", "b", "c"):
        far.put(f"{name}.md", f"The note {name}.\n")
    far.sync()
    ids = {source: id for id, source in sources(server).items()}
    (far.root / "a.md").unlink()
    edit(server, "b", "delete_note", reason="It is over.")
    done = far.sync()
    assert sorted(kind for kind, _ in done.done) == ["remove", "retract"]
    assert list(far.files()) == ["c.md"]
    far.put("a.md", "The note a.\n")
    state = Mirroring(server.rt, server.owner(), "user").read(ids["The note a.\n"])
    assert state is not None
    assert not state.live
    far.sync()
    assert far.sync().done == []
    assert sorted(sources(server).values()) == sorted(far.files().values())


def test_changes_of_different_blocks_meet_and_those_of_the_same_block_wait(server: Served, machine: Machine) -> None:
    far = machine(server)
    far.put("a.md", "# A\n\nOne.\n\nTwo.\n\nThree.\n")
    far.sync()
    far.put("a.md", "# A\n\nOne from here.\n\nTwo.\n\nThree.\n")
    edit(server, "a", "append", "Four from there.")
    assert far.sync().counts["merge"] == 1
    assert far.text("a.md") == note(server, "a").text
    assert "One from here.\n\nTwo.\n\nThree.\n\nFour from there." in far.text("a.md")
    before = note(server, "a").text
    far.put("a.md", before.replace("Two.", "Two, says the file."))
    edit(
        server, "a", "replace_note", before.replace("Two.", "Two, says the agent."), expected_sha=note(server, "a").sha
    )
    done = far.sync()
    assert done.counts["propose"] == 1
    assert "Two, says the file." in far.text("a.md")
    assert "Two, says the agent." in note(server, "a").text
    assert len(pending(server.rt, server.owner())) == 1
    assert far.sync().waiting == ["a.md"]
    assert len(pending(server.rt, server.owner())) == 1


def test_two_machines_come_to_the_same_notes_through_one_server(server: Served, machine: Machine) -> None:
    one, other = machine(server), machine(server)
    for number in range(30):
        one.put(f"one {number}.md", f"# One {number}\n\nThe first machine says {number}.\n\nEnd.\n")
        other.put(f"other {number}.md", f"# Other {number}\n\nThe second machine says {number}.\n\nEnd.\n")
    for far in (one, other, one):
        far.sync()
    assert one.files() == other.files()
    assert len(sources(server)) == 60
    one.put("one 1.md", one.text("one 1.md").replace("says 1", "writes 1"))
    other.put("one 1.md", other.text("one 1.md").replace("End.", "The end."))
    (one.root / "other 2.md").rename(one.root / "moved.md")
    (other.root / "one 3.md").unlink()
    for far in (one, other, one, other):
        far.sync()
    assert one.files() == other.files()
    assert "writes 1.\n\nThe end." in one.text("one 1.md")
    assert "moved.md" in other.files()
    assert "one 3.md" not in one.files()
    assert sorted(sources(server).values()) == sorted(one.files().values())
    assert one.sync().done == other.sync().done == []
