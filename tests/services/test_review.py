from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.services import review
from dolmen.services.context import context
from dolmen.services.edit import edit, link, verify
from dolmen.services.forget import forget
from dolmen.services.reading import browse, read
from dolmen.services.requests import Browse, ContextRequest, Edit, Forget, ForgetMode, Handoff
from dolmen.services.sessions import handoff, resume
from tests.services.conftest import House


def test_an_approved_preference_is_served_and_trusted(house: House) -> None:
    """C-136, B216: the duplicates are shown and the reviewer recorded."""
    result = house.remember("Answer in Korean.", kind="preference")
    [item] = review.pending(house.rt, house.owner)
    assert (item.op, item.agent, item.because) == ("remember", "claude-code", "kind")
    assert "+Answer in Korean." in item.diff
    review.apply(house.rt, house.owner, item.id)
    assert result.ref is not None
    memory = read(house.rt, house.agent, result.ref).memory
    assert (memory.status, memory.trust, memory.verified_by) == ("active", "user", "owner")
    assert [c.ref for c in context(house.rt, house.agent, ContextRequest()).preferences] == [result.ref]
    assert review.pending(house.rt, house.owner) == []


def test_a_rejected_memory_is_not_served(house: House) -> None:
    result = house.remember("Answer in Latin.", kind="preference")
    [item] = review.pending(house.rt, house.owner)
    review.reject(house.rt, house.owner, item.id, "no")
    assert house.recall("answer Latin").claims == ()
    assert result.ref is not None
    assert read(house.rt, house.owner, result.ref).memory.verification == "rejected"
    with pytest.raises(DolmenError) as refused:
        review.apply(house.rt, house.owner, item.id)
    assert refused.value.code == "conflict"


def test_a_proposed_successor_leaves_the_old_memory_until_it_is_approved(house: House) -> None:
    """C-122."""
    old = house.stored("The port is 8080.")
    suggester = house.actor(mode="suggest")
    new = house.remember("The port is 9090.", suggester, supersedes=(old,))
    assert house.refs("port") == [old]
    [item] = review.pending(house.rt, house.owner)
    review.apply(house.rt, house.owner, item.id)
    assert house.refs("port") == [new.ref]


@pytest.mark.parametrize("mode", ["soft", "invalidate"])
def test_nobody_is_asked_about_a_proposal_that_was_forgotten(house: House, mode: ForgetMode) -> None:
    """C-124, C-136: and who restores it asks again, for all that was asked."""
    old = house.stored("Answers are in English.")
    ref = house.remember("Answer in Korean.", kind="preference", supersedes=(old,)).ref
    assert ref is not None
    [asked] = review.pending(house.rt, house.owner)
    forget(house.rt, house.agent, Forget(ref=ref, mode=mode))
    assert review.pending(house.rt, house.owner) == []
    assert review.one(house.rt, house.owner, asked.id).status == "withdrawn"
    edit(house.rt, house.agent, Edit(ref, "restore", version=1))
    [again] = review.pending(house.rt, house.owner)
    assert (again.ref, again.stale) == (ref, False)
    review.apply(house.rt, house.owner, again.id)
    assert read(house.rt, house.owner, ref).memory.status == "active"
    assert read(house.rt, house.owner, old).memory.status == "superseded"


def test_every_write_of_a_suggesting_connection_waits_and_can_be_applied(house: House) -> None:
    a, b, c = (house.stored(f"Fact number {n}.") for n in ("one", "two", "three"))
    s = house.actor(mode="suggest", connection="key-s")
    assert edit(house.rt, s, Edit(a, "amend", "Fact number uno.", {"tags": ["it"]})).outcome == "queued"
    assert edit(house.rt, s, Edit(b, "supersede", "Fact number due.")).outcome == "queued"
    assert forget(house.rt, s, Forget(ref=c)).outcome == "queued"
    assert link(house.rt, s, a, "relates_to", b).outcome == "queued"
    assert verify(house.rt, s, [a], "verified").proposal
    assert handoff(house.rt, s, Handoff("Go on.", project="app")).outcome == "proposed"
    assert read(house.rt, house.agent, a).text == "Fact number one."
    assert resume(house.rt, house.agent, "app") is None
    assert len(browse(house.rt, s, Browse(queued=True)).entries) == 6
    for item in review.pending(house.rt, house.owner):
        review.apply(house.rt, house.owner, item.id, force=True)
    memory = read(house.rt, house.agent, a, "links")
    assert memory.memory.text == "Fact number uno."
    assert memory.memory.tags == ("it",)
    assert [e.target for e in memory.links] == [b]
    assert house.refs("Fact number due")[0] != b
    assert c not in house.refs("Fact number three")
    got = resume(house.rt, house.agent, "app")
    assert got is not None
    assert got.summary == "Go on."


def test_a_proposal_about_a_memory_that_changed_meanwhile_needs_a_second_look(house: House) -> None:
    ref = house.stored("The port is 8080.")
    edit(house.rt, house.actor(mode="suggest"), Edit(ref, "amend", "The port is 9090."))
    edit(house.rt, house.agent, Edit(ref, "amend", "The port is 7070."))
    [item] = review.pending(house.rt, house.owner)
    assert item.stale
    with pytest.raises(DolmenError) as refused:
        review.apply(house.rt, house.owner, item.id)
    assert refused.value.code == "conflict"
    review.apply(house.rt, house.owner, item.id, force=True)
    assert read(house.rt, house.agent, ref).text == "The port is 9090."


def test_an_agent_sees_and_withdraws_only_its_own_proposals(house: House) -> None:
    mine, theirs = (house.actor(mode="suggest", connection=f"key-{n}") for n in "ab")
    house.remember("From a.", mine)
    house.remember("From b.", theirs)
    [item] = review.pending(house.rt, mine)
    assert review.reject(house.rt, mine, item.id).status == "withdrawn"
    [other] = review.pending(house.rt, theirs)
    with pytest.raises(DolmenError):
        review.reject(house.rt, mine, other.id)
    with pytest.raises(DolmenError):
        review.apply(house.rt, theirs, other.id)


def test_a_purge_takes_the_proposals_along(house: House) -> None:
    """B183."""
    ref = house.stored("Nakamura lives in Osaka.")
    edit(house.rt, house.actor(mode="suggest"), Edit(ref, "amend", "Nakamura lives in Kyoto."))
    forget(house.rt, house.owner, Forget(ref=ref, mode="purge"))
    assert review.pending(house.rt, house.owner, status=None) == []


def test_the_history_names_who_proposed_a_change_and_who_agreed(house: House) -> None:
    ref = house.stored("The port is 8080.")
    codex = house.actor(mode="suggest", agent="codex")
    edit(house.rt, codex, Edit(ref, "amend", "The port is 9090.", reason="it moved"))
    new = house.remember("The database is Postgres.", codex)
    for item in review.pending(house.rt, house.owner):
        review.apply(house.rt, house.owner, item.id, "checked")
    assert new.ref is not None
    last = {r: read(house.rt, house.owner, r, "history").history[-1] for r in (ref, new.ref)}
    assert (last[ref].op, last[ref].agent) == ("amend", "codex")
    assert last[ref].reason.startswith("it moved; applied by ")
    assert last[ref].reason.endswith(": checked")
    assert (last[new.ref].op, last[new.ref].agent) == ("approve", "codex")
    assert [item.note for item in review.pending(house.rt, house.owner, None)] == ["checked", "checked"]


def test_a_change_is_shown_with_the_whole_text_and_title(house: House) -> None:
    """What is approved is what is seen, also when only the kind changes."""
    text = "\n".join(f"Line {n}." for n in range(9))
    ref = house.stored(text, title="Nine lines")
    suggester = house.actor(mode="suggest")
    edit(house.rt, house.agent, Edit(ref, "amend", fields={"kind": "preference"}))
    edit(house.rt, suggester, Edit(ref, "amend", text.replace("Line 8.", "Line eight.")))
    kind, words = (item.diff.splitlines() for item in review.pending(house.rt, house.owner))
    assert kind == [" title: Nine lines", *(f" Line {n}." for n in range(9)), "-kind: fact", "+kind: preference"]
    assert [line for line in words if not line.startswith("@@")] == [
        " title: Nine lines", *(f" Line {n}." for n in range(8)), "-Line 8.", "+Line eight.",
    ]  # fmt: skip


def test_a_restore_shows_the_version_that_it_goes_back_to(house: House) -> None:
    ref = house.stored("The port is 8080.")
    edit(house.rt, house.agent, Edit(ref, "amend", "The port is 9090.", {"title": "Port"}))
    edit(house.rt, house.actor(mode="suggest"), Edit(ref, "restore"))
    [item] = review.pending(house.rt, house.owner)
    lines = item.diff.splitlines()
    assert {"-The port is 9090.", "+The port is 8080.", "-title: Port", "+title: "} <= set(lines)


def test_every_target_of_a_proposal_is_shown_and_watched(house: House) -> None:
    a, b = house.stored("The port is 8080."), house.stored("The host is a1.", title="Host")
    suggester = house.actor(mode="suggest")
    forget(house.rt, suggester, Forget(refs=(a, b)))
    verify(house.rt, suggester, [a, b], "stale")
    forget(house.rt, house.agent, Forget(refs=(a, b), mode="purge"))
    shown = review.pending(house.rt, house.owner)
    assert not any(item.stale for item in shown)
    for item in shown:
        assert all(piece in item.diff for piece in (a, "The port is 8080.", b, "title: Host", "The host is a1."))
    edit(house.rt, house.agent, Edit(b, "amend", "The host is b2."))
    for item in review.pending(house.rt, house.owner):
        assert item.stale
        with pytest.raises(DolmenError) as refused:
            review.apply(house.rt, house.owner, item.id)
        assert refused.value.code == "conflict"
        assert b in refused.value.message
        assert a not in refused.value.message


def test_a_proposed_successor_shows_what_it_replaces_and_watches_it(house: House) -> None:
    old = house.stored("The port is 8080.")
    house.remember("The port is 9090.", house.actor(mode="suggest"), supersedes=(old,))
    [item] = review.pending(house.rt, house.owner)
    assert "-The port is 8080." in item.diff
    edit(house.rt, house.agent, Edit(old, "amend", "The port is 7070."))
    assert review.pending(house.rt, house.owner)[0].stale


def test_an_approved_successor_is_what_was_asked_for(house: House) -> None:
    old = house.stored("The port is 8080.", importance=0.9, pinned=True)
    suggester = house.actor(mode="suggest")
    edit(house.rt, suggester, Edit(old, "supersede", "The port is 9090.", {"ttl_seconds": 60}))
    [item] = review.pending(house.rt, house.owner)
    review.apply(house.rt, house.owner, item.id)
    ref = read(house.rt, house.owner, old).memory.superseded_by or ""
    new = read(house.rt, house.owner, ref).memory
    assert (new.importance, new.pinned) == (0.9, True)
    assert new.expires_at == new.created_at + 60_000_000


def test_only_a_person_agrees_to_a_preference(house: House) -> None:
    """C-136."""
    admin = house.actor(mode="admin", connection="key-a")
    ref = house.remember("Answer in Latin.", kind="preference").ref or ""
    fact = house.stored("Answers are short.")
    edit(house.rt, house.agent, Edit(fact, "amend", fields={"kind": "preference"}))
    for item in review.pending(house.rt, house.owner):
        with pytest.raises(DolmenError) as refused:
            review.apply(house.rt, admin, item.id)
        assert refused.value.code == "forbidden"
    assert read(house.rt, house.owner, ref).memory.status == "proposed"
    house.remember("The port is 8080.", house.actor(mode="suggest"))
    port = review.pending(house.rt, house.owner)[-1]
    review.apply(house.rt, admin, port.id)
    memory = read(house.rt, house.owner, port.ref or "").memory
    assert (memory.status, memory.trust, memory.verification) == ("active", "agent", "accepted")


def test_a_proposal_is_stored_with_the_text_that_the_person_gave_it(house: House) -> None:
    """C-137: edit and approve."""
    made = house.remember("Answer in Latin.", kind="preference")
    ref = house.stored("The port is 8080.")
    s = house.actor(mode="suggest", connection="key-s")
    edit(house.rt, s, Edit(ref, "amend", "The port is 9090."))
    forget(house.rt, s, Forget(ref=ref))
    new, amended, gone = review.pending(house.rt, house.owner)
    assert (new.text, amended.text, gone.text) == ("Answer in Latin.", "The port is 9090.", "")
    review.apply(house.rt, house.owner, new.id, "as I say", text="Answer in Korean.")
    assert made.ref is not None
    memory = read(house.rt, house.agent, made.ref).memory
    assert (memory.text, memory.status, memory.trust) == ("Answer in Korean.", "active", "user")
    history = read(house.rt, house.owner, made.ref, "history").history
    assert [each.op for each in history][-2:] == ["amend", "approve"]
    assert house.refs("Korean") == [made.ref]
    review.apply(house.rt, house.owner, amended.id, text="The ports are 8080 and 9090.")
    assert read(house.rt, house.agent, ref).text == "The ports are 8080 and 9090."
    with pytest.raises(DolmenError) as refused:
        review.apply(house.rt, house.owner, gone.id, force=True, text="no")
    assert refused.value.code == "invalid-argument"


def test_an_edited_text_passes_the_same_checks_as_any(house: House) -> None:
    house.remember("Answer in Latin.", kind="preference")
    house.stored("Answer in Korean.", house.owner, kind="preference")
    [item] = review.pending(house.rt, house.owner)
    for text, code in (
        ("", "invalid-argument"),
        ("x" * 8001, "too-large"),
        ("The key is ghp_16C7e42F292c6912E7710c838347Ae178B4a.", "secret-detected"),
        ("answer in Korean", "conflict"),
    ):
        with pytest.raises(DolmenError) as refused:
            review.apply(house.rt, house.owner, item.id, text=text)
        assert refused.value.code == code
    assert [each.status for each in review.pending(house.rt, house.owner)] == ["pending"]


def test_proposals_are_found_by_group_and_by_a_part_of_their_id_and_agents_see_their_own(house: House) -> None:
    house.remember("Answer in Latin.", kind="preference")
    s = house.actor(mode="suggest", connection="key-s")
    house.remember("The port is 8080.", s)
    preference, suggestion = review.pending(house.rt, house.owner)
    assert (preference.group, suggestion.group) == ("preference", "suggestion")
    assert review.pending(house.rt, house.owner, group="suggestion") == [suggestion]
    assert review.pending(house.rt, house.owner, group="digest") == []
    assert review.named(house.rt, house.owner, preference.id[-8:]) == [preference.id]
    assert review.named(house.rt, s, preference.id[-8:]) == []
    assert review.one(house.rt, s, suggestion.id) == suggestion
    with pytest.raises(DolmenError) as refused:
        review.one(house.rt, s, preference.id)
    assert refused.value.code == "not-found"
