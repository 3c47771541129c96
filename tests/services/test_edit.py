from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.services.edit import edit, link, verify
from dolmen.services.reading import read
from dolmen.services.requests import Edit
from tests.services.conftest import House


def test_an_amended_memory_keeps_its_ref_and_its_history(house: House) -> None:
    """C-92, B227."""
    ref = house.stored("The timeout is 30 s.")
    edited = edit(house.rt, house.agent, Edit(ref, "amend", "The timeout is 60 s.", reason="measured"))
    assert (edited.outcome, edited.ref, edited.version) == ("updated", ref, 2)
    assert house.refs("timeout 60") == [ref]
    history = read(house.rt, house.agent, ref, "history").history
    assert [(h.version, h.op, h.reason) for h in history] == [(1, "create", ""), (2, "amend", "measured")]
    assert history[1].diff.splitlines()[1:] == ["-The timeout is 30 s.", "+The timeout is 60 s."]


def test_the_old_words_of_an_amended_memory_no_longer_find_it(house: House) -> None:
    ref = house.stored("The queue is RabbitMQ.")
    edit(house.rt, house.agent, Edit(ref, "amend", "The queue is NATS."))
    assert house.refs("RabbitMQ") == []
    assert house.refs("NATS") == [ref]


def test_a_stale_edit_is_a_conflict_that_shows_the_current_text(house: House) -> None:
    """B061, C-119."""
    ref = house.stored("Owner of billing: Mina.")
    sha = read(house.rt, house.agent, ref).sha
    edit(house.rt, house.agent, Edit(ref, "amend", "Owner of billing: Jun."))
    with pytest.raises(DolmenError) as refused:
        edit(house.rt, house.agent, Edit(ref, "amend", "Owner of billing: Ada.", expected_sha=sha))
    assert refused.value.code == "conflict"
    assert refused.value.data["current"] == "Owner of billing: Jun."
    fresh = str(refused.value.data["sha"])
    assert edit(house.rt, house.agent, Edit(ref, "amend", "Owner of billing: Ada.", expected_sha=fresh)).version == 3


def test_fields_are_set_alone_and_unknown_ones_are_refused(house: House) -> None:
    """C-102."""
    ref = house.stored("Releases are tagged.")
    fields = {"kind": "convention", "tags": ["release", "#git"], "importance": 0.9, "folder": "guides/release"}
    edit(house.rt, house.agent, Edit(ref, "amend", fields=fields))
    memory = read(house.rt, house.agent, ref).memory
    assert (memory.kind, memory.tags, memory.importance, memory.folder) == (
        "convention",
        ("release", "git"),
        0.9,
        "guides/release",
    )
    with pytest.raises(DolmenError) as refused:
        edit(house.rt, house.agent, Edit(ref, "amend", fields={"colour": "red"}))
    assert "colour" in refused.value.message
    assert "importance" in refused.value.fix


def test_an_edit_that_changes_nothing_leaves_no_version(house: House) -> None:
    ref = house.stored("Same.")
    assert edit(house.rt, house.agent, Edit(ref, "amend", "Same.")).outcome == "unchanged"
    assert read(house.rt, house.agent, ref).memory.version == 1


def test_restore_undoes_the_last_change_and_can_be_undone(house: House) -> None:
    ref = house.stored("One.")
    edit(house.rt, house.agent, Edit(ref, "amend", "Two."))
    edit(house.rt, house.agent, Edit(ref, "restore"))
    assert read(house.rt, house.agent, ref).text == "One."
    edit(house.rt, house.agent, Edit(ref, "restore"))
    assert read(house.rt, house.agent, ref).text == "Two."
    edit(house.rt, house.agent, Edit(ref, "restore", version=1))
    assert read(house.rt, house.agent, ref).text == "One."
    assert house.refs("One") == [ref]


def test_restore_is_refused_when_another_memory_says_the_same_now(house: House) -> None:
    ref = house.stored("The host is a1.")
    edit(house.rt, house.agent, Edit(ref, "amend", "The host is b2."))
    twin = house.stored("The host is a1.")
    with pytest.raises(DolmenError) as refused:
        edit(house.rt, house.agent, Edit(ref, "restore"))
    assert refused.value.code == "conflict"
    assert twin in refused.value.message


def test_amending_into_another_memorys_words_is_a_conflict(house: House) -> None:
    house.stored("The host is a1.")
    ref = house.stored("The host is b2.")
    with pytest.raises(DolmenError) as refused:
        edit(house.rt, house.agent, Edit(ref, "amend", "the host is a1"))
    assert refused.value.code == "conflict"
    assert read(house.rt, house.agent, ref).text == "The host is b2."


def test_supersede_writes_the_successor_with_the_fields_of_the_old_one(house: House) -> None:
    old = house.stored("Use Python 3.11.", kind="convention", project="app", tags=("python",))
    edited = edit(house.rt, house.agent, Edit(old, "supersede", "Use Python 3.13."))
    assert edited.new_ref is not None
    new = read(house.rt, house.agent, edited.new_ref).memory
    assert (new.kind, new.scope, new.tags, new.supersedes) == ("convention", "project:app", ("python",), old)
    assert read(house.rt, house.agent, old).memory.status == "superseded"


def test_what_is_superseded_cannot_be_amended_but_says_how_to_go_on(house: House) -> None:
    old = house.stored("Use Python 3.11.")
    edit(house.rt, house.agent, Edit(old, "supersede", "Use Python 3.13."))
    with pytest.raises(DolmenError) as refused:
        edit(house.rt, house.agent, Edit(old, "amend", "Use Python 3.12."))
    assert refused.value.code == "gone"
    assert "restore" in refused.value.fix


def test_the_same_link_twice_is_unchanged(house: House) -> None:
    """C-120; the target may come later (C-246)."""
    ref = house.stored("Checkout depends on payments.")
    first = link(house.rt, house.agent, ref, "depends_on", "payments-design")
    assert (first.outcome, first.resolved) == ("stored", False)
    assert link(house.rt, house.agent, ref, "depends_on", "payments-design").outcome == "unchanged"
    with pytest.raises(DolmenError):
        link(house.rt, house.agent, ref, "Depends On", "payments-design")


def test_verification_marks_and_never_changes_the_text(house: House) -> None:
    """C-144."""
    ref = house.stored("The cron runs hourly.")
    marked = verify(house.rt, house.agent, [ref, "00000000-0000-7000-8000-000000000000"], "stale", "moved to daily")
    assert marked.marked == (ref,)
    assert len(marked.missing) == 1
    memory = read(house.rt, house.agent, ref).memory
    assert (memory.verification, memory.verified_by, memory.text) == ("stale", "claude-code", "The cron runs hourly.")
    verify(house.rt, house.owner, [ref], "verified")
    assert read(house.rt, house.agent, ref).memory.trust == "user"


def test_a_mark_does_not_outlive_the_words_that_it_was_for(house: House) -> None:
    ref = house.stored("The cron runs hourly.")
    verify(house.rt, house.owner, [ref], "verified")
    edit(house.rt, house.agent, Edit(ref, "amend", "The cron runs daily."))
    assert read(house.rt, house.agent, ref).memory.verification == "accepted"
