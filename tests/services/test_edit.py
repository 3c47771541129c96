from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory
from dolmen.services import review
from dolmen.services.edit import edit, link, verify
from dolmen.services.feedback import feedback
from dolmen.services.forget import forget
from dolmen.services.reading import read
from dolmen.services.requests import Edit, FeedbackRequest, Forget
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


def preference(house: House) -> str:
    return house.stored("Answer in Korean.", house.owner, kind="preference", title="Language")


def state(house: House, ref: str) -> Memory:
    return read(house.rt, house.owner, ref).memory


@pytest.mark.parametrize("mode", ["write", "admin"])
@pytest.mark.parametrize(
    "change",
    [
        {"op": "amend", "content": "Answer in Latin."},
        {"op": "amend", "fields": {"title": "Do as Latin says"}},
        {"op": "amend", "fields": {"kind": "fact"}},
        {"op": "amend", "fields": {"pinned": True}},
        {"op": "amend", "fields": {"ttl_seconds": 1}},
        {"op": "supersede", "content": "Answer in Latin."},
        {"op": "supersede", "content": "Answer in Latin.", "fields": {"kind": "fact"}},
    ],
)
def test_an_agents_change_of_a_preference_waits_for_a_person(
    house: House, mode: str, change: dict[str, object]
) -> None:
    """C-136: whatever the connection's mode, and whatever it changes."""
    ref = preference(house)
    before = state(house, ref)
    done = edit(house.rt, house.actor(mode=mode), Edit(ref, **change))  # type: ignore[arg-type]
    assert (done.outcome, done.because) == ("queued", "kind")
    assert state(house, ref) == before
    [waiting] = review.pending(house.rt, house.owner)
    review.apply(house.rt, house.owner, waiting.id)
    assert state(house, ref) != before


def test_an_agent_makes_no_preference_of_a_fact_by_any_way(house: House) -> None:
    """C-136."""
    fact = house.stored("Answers are in Latin.")
    assert edit(house.rt, house.agent, Edit(fact, "amend", fields={"kind": "preference"})).outcome == "queued"
    edit(house.rt, house.owner, Edit(fact, "amend", fields={"kind": "preference"}))
    edit(house.rt, house.owner, Edit(fact, "amend", fields={"kind": "fact"}))
    assert edit(house.rt, house.agent, Edit(fact, "restore", version=2)).outcome == "queued"
    assert state(house, fact).kind == "fact"


def test_an_agent_neither_restores_nor_replaces_nor_marks_a_preference(house: House) -> None:
    """C-136: what only takes it away needs no consent, what brings it back does."""
    ref = preference(house)
    edit(house.rt, house.owner, Edit(ref, "amend", "Answer in English."))
    assert edit(house.rt, house.agent, Edit(ref, "restore")).outcome == "queued"
    assert house.remember("Answers are in Latin.", kind="fact", supersedes=(ref,)).outcome == "proposed"
    fact = house.stored("The port is 8080.")
    marked = verify(house.rt, house.agent, [ref, fact], "stale")
    assert marked.marked == (fact,)
    assert marked.proposal is not None
    assert state(house, ref).text == "Answer in English."
    assert forget(house.rt, house.agent, Forget(ref=ref)).outcome == "deleted"
    assert edit(house.rt, house.agent, Edit(ref, "restore")).outcome == "queued"
    assert state(house, ref).status == "deleted"


@pytest.mark.parametrize("fields", [{"content": "The port is 9090."}, {"fields": {"title": "Another port"}}])
def test_an_agents_words_are_not_the_users_nor_verified(house: House, fields: dict[str, object]) -> None:
    ref = house.stored("The port is 8080.", house.owner)
    verify(house.rt, house.owner, [ref], "verified")
    edit(house.rt, house.agent, Edit(ref, "amend", **fields))  # type: ignore[arg-type]
    now = state(house, ref)
    assert (now.trust, now.verification, now.verified_by) == ("agent", "accepted", "")
    edit(house.rt, house.agent, Edit(ref, "restore"))
    assert (state(house, ref).trust, state(house, ref).verification) == ("agent", "accepted")
    edit(house.rt, house.owner, Edit(ref, "restore", version=2))
    assert (state(house, ref).trust, state(house, ref).verification) == ("user", "verified")


def test_what_leaves_the_words_alone_leaves_their_trust(house: House) -> None:
    ref = house.stored("The port is 8080.", house.owner)
    verify(house.rt, house.owner, [ref], "verified")
    edit(house.rt, house.agent, Edit(ref, "amend", fields={"tags": ["net"]}))
    forget(house.rt, house.agent, Forget(ref=ref))
    edit(house.rt, house.agent, Edit(ref, "restore"))
    assert (state(house, ref).trust, state(house, ref).verification) == ("user", "verified")


def test_a_rejected_proposal_that_is_restored_waits_again(house: House) -> None:
    ref = house.remember("The port is 8080.", house.actor(mode="suggest")).ref or ""
    [first] = review.pending(house.rt, house.owner)
    review.reject(house.rt, house.owner, first.id)
    done = edit(house.rt, house.agent, Edit(ref, "restore"))
    [again] = review.pending(house.rt, house.owner)
    assert (done.proposal, state(house, ref).status) == (again.id, "proposed")
    review.apply(house.rt, house.owner, again.id)
    assert house.refs("port") == [ref]


def test_a_rejected_proposal_that_a_person_restores_holds(house: House) -> None:
    ref = house.remember("Answer in Korean.", kind="preference").ref or ""
    [first] = review.pending(house.rt, house.owner)
    review.reject(house.rt, house.owner, first.id)
    edit(house.rt, house.owner, Edit(ref, "restore"))
    now = state(house, ref)
    assert (now.status, now.trust, now.verification) == ("active", "user", "verified")


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    "fields",
    [{"tags": [SECRET]}, {"folder": SECRET}, {"case": {"id": "c", "phase": SECRET}}, {"title": SECRET}],
    ids=lambda fields: "-".join(fields),
)
def test_no_field_of_an_edit_takes_a_secret(house: House, fields: dict[str, object]) -> None:
    """C-300."""
    ref = house.stored("The port is 8080.")
    with pytest.raises(DolmenError) as refused:
        edit(house.rt, house.agent, Edit(ref, "amend", fields=fields))
    assert refused.value.code == "secret-detected"


def test_neither_a_link_nor_feedback_takes_a_secret_and_a_note_is_redacted(house: House) -> None:
    """C-300."""
    ref = house.stored("The port is 8080.")
    for call in (
        lambda: link(house.rt, house.agent, ref, "relates_to", SECRET),
        lambda: feedback(house.rt, house.agent, FeedbackRequest(refs=(SECRET,), relevant=True)),
    ):
        with pytest.raises(DolmenError) as refused:
            call()
        assert refused.value.code == "secret-detected"
    verify(house.rt, house.agent, [ref], "stale", f"was {SECRET}")
    note = read(house.rt, house.owner, ref, "history").history[-1].reason
    assert note
    assert SECRET not in note


def test_long_reasons_and_long_lists_of_refs_are_refused(house: House) -> None:
    """C-335."""
    ref = house.stored("The port is 8080.")
    long = "x" * 4001
    for call in (
        lambda: edit(house.rt, house.agent, Edit(ref, "amend", "The port is 9090.", reason=long)),
        lambda: forget(house.rt, house.agent, Forget(ref=ref, reason=long)),
        lambda: forget(house.rt, house.agent, Forget(refs=(ref,) * 201)),
        lambda: verify(house.rt, house.agent, [ref], "stale", long),
        lambda: verify(house.rt, house.agent, [ref] * 201, "stale"),
        lambda: feedback(house.rt, house.agent, FeedbackRequest(refs=(ref,), reason=long)),
        lambda: feedback(house.rt, house.agent, FeedbackRequest(refs=(ref,) * 201, relevant=True)),
        lambda: feedback(house.rt, house.agent, FeedbackRequest(refs=("x" * 301,), relevant=True)),
        lambda: link(house.rt, house.agent, ref, "relates_to", "x" * 301),
    ):
        with pytest.raises(DolmenError) as refused:
            call()
        assert refused.value.code == "too-large"
    assert state(house, ref).version == 1


@pytest.mark.parametrize(
    "fields",
    [{"pinned": "nope"}, {"ttl_seconds": float("inf")}, {"ttl_seconds": float("nan")}, {"ttl_seconds": "1e999"}],
)
def test_a_field_that_does_not_fit_is_refused(house: House, fields: dict[str, object]) -> None:
    ref = house.stored("The port is 8080.")
    with pytest.raises(DolmenError) as refused:
        edit(house.rt, house.agent, Edit(ref, "amend", fields=fields))
    assert refused.value.code == "invalid-argument"


def test_an_edit_says_what_it_could_not_keep_as_given(house: House) -> None:
    """B040."""
    ref = house.stored("The port is 8080.")
    assert "U+FFFD" in edit(house.rt, house.agent, Edit(ref, "amend", "The port\x00 is 9090.")).notes[0]
    assert edit(house.rt, house.agent, Edit(ref, "amend", "The port is 9090.")).notes == ()
