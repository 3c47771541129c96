from __future__ import annotations

from pathlib import Path

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Case
from dolmen.services import review
from dolmen.services.edit import edit, link
from dolmen.services.feedback import feedback
from dolmen.services.forget import forget
from dolmen.services.reading import read
from dolmen.services.requests import Edit, FeedbackRequest, Forget, Handoff
from dolmen.services.sessions import handoff
from tests.services.conftest import House, close_house, open_house


def test_a_forgotten_memory_is_not_served_and_comes_back_by_restore(house: House) -> None:
    """C-124."""
    ref = house.stored("The VPN needs a token.")
    done = forget(house.rt, house.agent, Forget(ref=ref, reason="wrong"))
    assert (done.outcome, done.refs) == ("deleted", (ref,))
    assert house.refs("VPN token") == []
    assert forget(house.rt, house.agent, Forget(ref=ref, reason="again")).outcome == "unchanged"
    memory = read(house.rt, house.owner, ref).memory
    assert (memory.attrs["forgotten_by"], memory.attrs["forget_reason"]) == ("claude-code", "wrong")
    edit(house.rt, house.agent, Edit(ref, "restore"))
    assert house.refs("VPN token") == [ref]


def test_forgetting_frees_the_place_for_the_next_match(house: House) -> None:
    """B026: a deleted memory takes no slot in the answer."""
    a = house.stored("Deploy with make deploy on the bastion host.")
    b = house.stored("Deploy by pushing to the release branch.")
    top = house.refs("how do we deploy", limit=1)[0]
    forget(house.rt, house.agent, Forget(ref=top))
    assert house.refs("how do we deploy", limit=1) == [b if top == a else a]


def test_an_invalidated_memory_is_history(house: House) -> None:
    ref = house.stored("Support is by phone.")
    forget(house.rt, house.agent, Forget(ref=ref, mode="invalidate"))
    assert house.refs("support phone") == []
    assert house.refs("support phone", include=("superseded",)) == [ref]


def test_a_purge_leaves_nothing_anywhere(house: House) -> None:
    """B183: rows, revisions, links, index."""
    ref = house.stored("The customer Nakamura complained about xylophone noise.")
    edit(house.rt, house.agent, Edit(ref, "amend", "The customer Tanaka complained about xylophone noise."))
    other = house.stored("Complaints go to support.")
    link(house.rt, house.agent, other, "relates_to", ref)
    assert forget(house.rt, house.owner, Forget(ref=ref, mode="purge")).outcome == "purged"
    with pytest.raises(DolmenError) as refused:
        read(house.rt, house.owner, ref, "history")
    assert refused.value.code == "not-found"
    for include in ((), ("superseded",)):
        assert house.refs("xylophone Nakamura Tanaka", include=include) == []
    assert read(house.rt, house.agent, other, "links").links == ()


def test_an_agents_purge_waits_for_a_person(house: House) -> None:
    ref = house.stored("Everything about Nakamura.")
    asked = forget(house.rt, house.agent, Forget(ref=ref, mode="purge"))
    assert (asked.outcome, asked.because) == ("queued", "purge")
    assert house.refs("Nakamura") == [ref]


def test_forgetting_by_words_takes_what_contains_them_and_shows_it_first(house: House) -> None:
    """C-130."""
    a = house.stored("Old server HAL-9 hosts mail.")
    b = house.stored("hal-9 is in rack 4.")
    house.stored("HAL is a film computer.")
    seen = forget(house.rt, house.agent, Forget(query="hal-9", dry_run=True))
    assert seen.outcome == "would"
    assert set(seen.refs) == {a, b}
    assert house.refs("HAL-9 mail")[0] == a
    assert set(forget(house.rt, house.agent, Forget(query="hal-9")).refs) == {a, b}
    with pytest.raises(DolmenError) as refused:
        forget(house.rt, house.agent, Forget(query="hal-9"))
    assert refused.value.code == "not-found"


def test_forget_needs_one_kind_of_target(house: House) -> None:
    for request in (Forget(), Forget(ref="a", query="b")):
        with pytest.raises(DolmenError) as refused:
            forget(house.rt, house.agent, request)
        assert refused.value.code == "invalid-argument"


def test_a_forget_reason_is_redacted_and_cut(house: House) -> None:
    """C-124, C-300."""
    ref = house.stored("A fact to forget.")
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    forget(house.rt, house.agent, Forget(ref=ref, reason=f"leaked {secret} " + "x" * 2000))
    reason = read(house.rt, house.owner, ref, "history").history[-1].reason
    assert secret not in reason
    assert len(reason) <= 1000


def test_after_a_purge_no_file_of_the_store_holds_the_words(sqlite_url: str) -> None:
    """B183: not in the rows, not in the text index, not in the log, not in what was asked or said."""
    house = open_house(sqlite_url)
    for n in range(20):
        house.stored(f"Ordinary fact number {n}.")
    ref = house.stored("The word zanzibarquux must go.")
    edit(house.rt, house.agent, Edit(ref, "amend", "The word zanzibarquux must really go."))
    event = house.recall("who said zanzibarquux").event
    feedback(house.rt, house.agent, FeedbackRequest(event, (ref,), relevant=False, reason="zanzibarquux is wrong"))
    edit(house.rt, house.actor(mode="suggest"), Edit(ref, "amend", "zanzibarquux once more"))
    forget(house.rt, house.owner, Forget(ref=ref, mode="purge"))
    path = Path(sqlite_url.removeprefix("sqlite:///"))
    held = {p.name: p.read_bytes().count(b"zanzibarquux") for p in path.parent.glob(path.name + "*")}
    assert path.name in held
    assert set(held.values()) == {0}
    close_house(house)
    assert path.read_bytes().count(b"zanzibarquux") == 0


def test_an_approved_purge_leaves_nothing_either(house: House) -> None:
    """B183: the proposal goes with what it was about."""
    ref = house.stored("The word zanzibarquux must go.")
    asked = forget(house.rt, house.agent, Forget(ref=ref, mode="purge"))
    assert asked.proposal is not None
    assert review.apply(house.rt, house.owner, asked.proposal).status == "applied"
    assert review.pending(house.rt, house.owner, status=None) == []
    assert house.refs("zanzibarquux", include=("superseded",)) == []


def test_a_purge_by_words_looks_everywhere_in_a_memory(house: House) -> None:
    """B183: old versions, next steps, titles, tags, fields; in every project and status."""
    amended = house.stored("The customer Zanzibarquux called.")
    edit(house.rt, house.agent, Edit(amended, "amend", "The customer called."))
    note = handoff(house.rt, house.agent, Handoff("Go on.", ("call zanzibarquux back",), "app")).ref
    titled = house.stored("One.", title="About Zanzibarquux", project="web")
    tagged = house.stored("Two.", tags=("zanzibarquux",))
    told = house.stored("Three.", case=Case("c", goal="please zanzibarquux"))
    gone = house.stored("Four is zanzibarquux.")
    forget(house.rt, house.agent, Forget(ref=gone))
    proposed = house.remember("Five is zanzibarquux.", house.actor(mode="suggest")).ref
    kept = house.stored("Nothing of the kind.")
    request = Forget(query="ZanzibarQuux", mode="purge", dry_run=True)
    seen = forget(house.rt, house.owner, request)
    assert set(seen.refs) == {amended, note, titled, tagged, told, gone, proposed}
    done = forget(house.rt, house.owner, Forget(query="ZanzibarQuux", mode="purge"))
    assert (done.outcome, set(done.refs)) == ("purged", set(seen.refs))
    for ref in done.refs:
        with pytest.raises(DolmenError):
            read(house.rt, house.owner, ref)
    assert read(house.rt, house.owner, kept).text == "Nothing of the kind."
    with pytest.raises(DolmenError) as nothing:
        forget(house.rt, house.owner, Forget(query="ZanzibarQuux", mode="purge"))
    assert nothing.value.code == "not-found"


def test_a_purge_by_words_takes_what_was_asked_said_and_proposed_with_them(house: House) -> None:
    """B183."""
    ref = house.stored("The port is 8080.")
    asked = house.recall("who is Zanzibarquux").event
    other = house.recall("which port").event
    feedback(house.rt, house.agent, FeedbackRequest(other, (ref,), relevant=False, reason="zanzibarquux is wrong"))
    edit(house.rt, house.actor(mode="suggest"), Edit(ref, "amend", "The port of zanzibarquux is 8080."))
    seen = forget(house.rt, house.owner, Forget(query="zanzibarquux", mode="purge", dry_run=True))
    assert (seen.outcome, seen.refs) == ("would", ())
    assert seen.traces[:2] == ("asked: who is Zanzibarquux", "said: zanzibarquux is wrong")
    assert forget(house.rt, house.owner, Forget(query="zanzibarquux", mode="purge")).outcome == "purged"
    with house.rt.store.read() as tx:
        assert tx.journal.event("main", asked or "") is None
        assert tx.journal.event("main", other or "") is not None
        assert list(tx.journal.feedbacks("main")) == []
    assert review.pending(house.rt, house.owner, None) == []
    assert read(house.rt, house.owner, ref).text == "The port is 8080."


def test_an_agents_purge_by_words_sees_only_what_the_agent_sees(house: House) -> None:
    house.stored("Zanzibarquux elsewhere.", project="other")
    mine = house.stored("Zanzibarquux here.")
    house.recall("zanzibarquux", house.owner)
    asked = forget(house.rt, house.agent, Forget(query="zanzibarquux", mode="purge"))
    assert (asked.outcome, asked.refs, asked.traces) == ("queued", (mine,), ())
