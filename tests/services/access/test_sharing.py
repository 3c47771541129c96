"""Open and private: who sees what somebody wrote, and who may change that (C-43, C-46)."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from dolmen.domain.audience import of_persons
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import HOUR, Actor
from dolmen.services import people, sessions, stats
from dolmen.services.consolidation.running import consolidate
from dolmen.services.context import context
from dolmen.services.edit import edit, link
from dolmen.services.extraction import scheduling
from dolmen.services.forget import forget
from dolmen.services.listing import full_ref
from dolmen.services.notes.creating import create_note
from dolmen.services.notes.editing import edit_note
from dolmen.services.notes.reading import browse_notes, read_note
from dolmen.services.notes.sharing import share_note
from dolmen.services.reading import read
from dolmen.services.requests import ContextRequest, Edit, Forget, Handoff
from dolmen.services.requests.notes import NewNote, NoteEdit
from dolmen.services.review import apply, pending
from dolmen.services.scopes import alias, projects
from dolmen.services.scoping import visible
from dolmen.services.sharing import share
from dolmen.services.transfer import export, import_
from dolmen.services.upkeep import reindex
from tests.services.conftest import House


@pytest.fixture
def bob(house: House) -> Actor:
    """A member, at a browser."""
    member, _ = people.invite(house.rt, house.owner, "Bob")
    return Actor("main", member.id, "web", "write", "web", human=True)


def agent_of(person: Actor, **changes: object) -> Actor:
    given = {"agent": "codex", "mode": "write", "connection": f"key-{person.person}"} | changes
    return Actor(person.vault, person.person, **given)  # type: ignore[arg-type]  # fields of Actor, by name


def code(error: pytest.ExceptionInfo[DolmenError]) -> str:
    return error.value.code


def test_what_is_private_is_seen_by_its_person_on_every_path_and_by_nobody_else(house: House, bob: Actor) -> None:
    mine = house.stored("The salary review is in Marzipan week", bob, visibility="private", project="layoffs")
    open_one = house.stored("Lunch is at noon")
    link(house.rt, bob, open_one, "relates_to", mine)
    agent = agent_of(bob)
    for seer in (bob, agent):
        assert house.refs("salary review", seer, project="layoffs") == [mine]
        assert read(house.rt, seer, mine).memory.text.startswith("The salary")
    for other in (house.owner, house.agent):
        assert house.refs("salary review marzipan", other, project="layoffs") == []
        pack = house.recall("salary review marzipan", other, project="layoffs")
        assert mine not in json.dumps(repr(pack))
        with pytest.raises(DolmenError) as error:
            read(house.rt, other, mine)
        with pytest.raises(DolmenError) as unknown:
            read(house.rt, other, "01890000-0000-7000-8000-000000000000")
        assert error.value.message.replace(mine, "X") == unknown.value.message.replace(
            "01890000-0000-7000-8000-000000000000", "X"
        )
        assert "Marzipan" not in repr(context(house.rt, other, ContextRequest(project="layoffs")))
        assert "layoffs" not in repr(projects(house.rt, other))
        assert mine not in repr(read(house.rt, other, open_one, view="links"))
        assert stats.stats(house.rt, other)["memories"]["total"] == 1
        assert stats.stats(house.rt, other)["index"]["passages"] == 1
        with pytest.raises(DolmenError, match="No memory has an id"):
            full_ref(house.rt, other, mine[-8:])


def test_nobody_else_changes_what_they_cannot_see(house: House, bob: Actor) -> None:
    mine = house.stored("Private to Bob", bob, visibility="private")
    for other in (house.owner, house.agent):
        for attempt in (
            lambda other=other: edit(house.rt, other, Edit(mine, "amend", "changed")),
            lambda other=other: forget(house.rt, other, Forget(ref=mine)),
            lambda other=other: forget(house.rt, other, Forget(ref=mine, mode="purge")),
            lambda other=other: link(house.rt, other, mine, "relates_to", mine),
            lambda other=other: share(house.rt, other, mine, "open"),
        ):
            with pytest.raises(DolmenError) as error:
                attempt()
            assert code(error) == "not-found"
        refused = house.remember("Instead of Bob's", other, supersedes=(mine,))
        assert (refused.error or {}).get("code") == "not-found"
    assert read(house.rt, bob, mine).memory.version == 1


def test_the_same_statement_of_somebody_else_tells_nothing(house: House, bob: Actor) -> None:
    house.stored("The code is 4711", bob, visibility="private")
    again = house.remember("The code is 4711")
    assert (again.outcome, again.similar) == ("stored", ())


def test_people_share_what_is_private_with_those_whom_they_name(house: House, bob: Actor) -> None:
    cid, _ = people.invite(house.rt, house.owner, "Cid")
    other = Actor("main", cid.id, "web", "write", "web", human=True)
    mine = house.stored("Only for Cid and me", bob, visibility="private", shared_with=("cid",))
    assert house.refs("only for cid", other) == [mine]
    with pytest.raises(DolmenError) as error:  # who it is shared with does not decide about it
        share(house.rt, other, mine, "open")
    assert code(error) == "forbidden"
    share(house.rt, bob, mine, "private")
    assert house.refs("only for cid", other) == []
    share(house.rt, bob, mine, "open")
    assert house.refs("only for cid", house.agent) == [mine]


def test_an_agent_may_keep_to_itself_and_its_person_but_shows_nothing_to_more_people(house: House, bob: Actor) -> None:
    agent = agent_of(bob)
    mine = house.stored("Said to Bob's agent", agent)
    assert share(house.rt, agent, mine, "private").outcome == "updated"
    assert house.refs("said to bob", house.agent) == []
    with pytest.raises(DolmenError) as error:
        share(house.rt, agent, mine, "open")
    assert code(error) == "forbidden"
    with pytest.raises(DolmenError) as error:
        share(house.rt, agent, mine, "private", ["owner"])
    assert code(error) in ("forbidden", "not-found")


def test_nobody_hides_what_somebody_else_wrote_from_everybody_but_the_owner(house: House, bob: Actor) -> None:
    shared = house.stored("The build needs Rust 1.80")
    with pytest.raises(DolmenError) as error:
        share(house.rt, bob, shared, "private")
    assert code(error) == "forbidden"
    house.stored("Bob wrote this", bob)
    [ref] = house.refs("bob wrote", house.agent)
    share(house.rt, house.owner, ref, "private")
    assert house.refs("bob wrote", bob) == [ref]  # its author keeps seeing it


def test_a_connection_can_keep_all_that_it_writes_private(house: House, bob: Actor) -> None:
    agent = agent_of(bob, private=True)
    ref = house.stored("Kept without saying so", agent)
    sessions.handoff(house.rt, agent, Handoff(summary="Go on with the private part"))
    assert house.refs("kept without saying", bob) == [ref]
    assert house.refs("kept without saying", house.agent) == []
    made = create_note(house.rt, agent, NewNote("# Diary\n\nMarzipan.\n"))
    assert read_note(house.rt, bob, made.ref).note.source.startswith("---\nvisibility: private\n---\n")
    assert sessions.resume(house.rt, house.agent) is None
    assert sessions.resume(house.rt, agent) is not None


def test_a_private_proposal_waits_for_its_own_person(house: House, bob: Actor) -> None:
    suggesting = agent_of(bob, mode="suggest", private=True)
    house.remember("Proposed in private", suggesting)
    create_note(house.rt, suggesting, NewNote("# Proposed note in private\n\nMarzipan."))
    assert pending(house.rt, house.owner) == []
    assert stats.stats(house.rt, house.owner)["proposals"]["pending"] == 0
    waiting = pending(house.rt, bob)
    assert len(waiting) == 2
    for item in waiting:
        apply(house.rt, bob, item.id)
    assert len(house.refs("proposed private marzipan", bob)) == 2
    assert house.refs("proposed private marzipan", house.owner) == []


def test_a_note_says_in_its_properties_who_sees_it(house: House, bob: Actor) -> None:
    made = create_note(house.rt, agent_of(bob), NewNote("---\nvisibility: private\n---\n# Plan\n\nMarzipan first.\n"))
    assert house.refs("marzipan", house.agent) == []
    with pytest.raises(DolmenError) as error:
        read_note(house.rt, house.agent, made.ref)
    assert code(error) == "not-found"
    assert "plan" not in repr(browse_notes(house.rt, house.agent))
    theirs = create_note(house.rt, house.agent, NewNote("# Plan\n\nMilk first.\n"))
    assert (theirs.permalink, theirs.address_in_use) == (made.permalink, None)  # nothing tells of the other one
    with pytest.raises(DolmenError) as error:  # an agent shows it to nobody else, however it asks
        edit_note(house.rt, agent_of(bob), NoteEdit(made.ref, "set_property", key="visibility", value="open"))
    assert code(error) == "forbidden"
    source = read_note(house.rt, bob, made.ref).note.source.replace("visibility: private\n", "note: x\n")
    sha = read_note(house.rt, bob, made.ref).sha
    edit_note(house.rt, agent_of(bob), NoteEdit(made.ref, "replace_note", source, expected_sha=sha))
    assert house.refs("marzipan", house.agent) == []  # a line that is gone opens nothing


def test_a_person_opens_a_note_and_keeps_it_again(house: House, bob: Actor) -> None:
    made = create_note(house.rt, bob, NewNote("---\nvisibility: private\n---\n# Recipe\n\nMarzipan first.\n"))
    share_note(house.rt, bob, made.ref, "open")
    assert len(house.refs("marzipan", house.agent)) == 1
    assert "visibility: open" in read_note(house.rt, house.agent, made.ref).note.source
    share_note(house.rt, bob, made.ref, "private")
    assert house.refs("marzipan", house.agent) == []
    with pytest.raises(DolmenError, match="unknown"):
        create_note(house.rt, bob, NewNote("---\nvisibility: privat\n---\n# Typo\n\nOops.\n"))


def test_a_backup_keeps_who_sees_what_and_opens_nothing_elsewhere(house: House, bob: Actor) -> None:
    house.stored("Private in the backup", bob, visibility="private")
    create_note(house.rt, bob, NewNote("---\nvisibility: private\n---\n# Diary\n\nMarzipan.\n"))
    lines = list(export(house.rt, house.owner))
    assert any(of_persons([bob.person]) in line for line in lines)
    there = Actor("other", "stranger", "cli", "admin", "local", human=True)
    import_(house.rt, there, lines)
    assert len(house.refs("private backup marzipan", there)) == 2
    reader = Actor("other", "somebody", "codex", "write", "k")
    assert house.refs("private backup marzipan", reader) == []
    forged = [line.replace(of_persons([bob.person]), "z:whoever") for line in lines]
    strange = Actor("third", "stranger", "cli", "admin", "local", human=True)
    with house.rt.store.write() as tx:
        tx.accounts.add_vault("third", "Third", "stranger", "Eve")
    import_(house.rt, strange, forged)
    assert house.refs("private backup marzipan", replace(reader, vault="third")) == []
    assert len(house.refs("private backup marzipan", strange)) == 2


def test_making_the_index_again_and_renaming_a_project_open_nothing(house: House, bob: Actor) -> None:
    mine = house.stored("The offer is Marzipan", bob, visibility="private", project="old")
    house.stored("The offer is tea", project="old")
    then = house.clock.now
    edit(house.rt, bob, Edit(mine, "amend", "The offer is Marzipan and milk"))
    reindex(house.rt, house.owner)
    alias(house.rt, house.owner, "old", "new")
    for project in ("old", "new"):
        assert len(house.refs("offer marzipan", bob, project=project)) == 2
        assert "Marzipan" not in repr(house.recall("offer marzipan", project=project))
        assert "Marzipan" not in repr(house.recall("offer marzipan", project=project, as_of=then))
    with house.rt.read(house.agent) as tx:
        assert tx.index.frequencies(visible(tx, house.agent, "*"), ["marzipan"], 10)[1] == {"marzipan": 0}


def test_no_model_reads_what_is_not_open(house: House, bob: Actor) -> None:
    summary = house.remember(
        "We decided on Marzipan", bob, kind="episode", label="session-summary", session="s1", visibility="private"
    )
    assert summary.outcome == "stored"
    house.clock.advance(HOUR)
    assert scheduling.schedule(house.rt) == 0
    house.stored("We decided on Marzipan twice", bob, visibility="private")
    house.stored("We decided on Marzipan twice!", bob)
    report = consolidate(house.rt, house.owner, everything=True, settled=0, dry_run=True)
    assert report.compared == 1
