from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import SUMMARY, Case
from dolmen.domain.values import HOUR
from dolmen.services import review
from dolmen.services.edit import edit
from dolmen.services.reading import read
from dolmen.services.remember import remember
from dolmen.services.requests import Edit, NewLink, NewMemory
from tests.services.conftest import House


def test_a_memory_is_stored_whole_with_its_provenance(house: House) -> None:
    """C-2, C-6."""
    ref = house.stored("  Deploys go out on Tuesdays.\n", kind="convention", project="git@github.com:Org/Repo.git")
    memory = read(house.rt, house.agent, ref).memory
    assert memory.text == "  Deploys go out on Tuesdays.\n"
    assert (memory.scope, memory.kind, memory.trust) == ("project:github.com/org/repo", "convention", "agent")
    assert (memory.agent, memory.person, memory.connection) == ("claude-code", "owner", "key-1")


def test_the_same_statement_is_kept_once(house: House) -> None:
    """C-110, B158: case, spacing and trailing punctuation make no difference; the first ref comes back."""
    ref = house.stored("The API listens on port 8080.")
    again = house.remember("the  API listens on\nport 8080")
    assert (again.outcome, again.ref, again.deduplicated) == ("duplicate", ref, True)


def test_the_same_statement_in_another_scope_or_kind_is_another_memory(house: House) -> None:
    """C-110: the scope and the type are part of what makes a duplicate."""
    first = house.stored("Tests run in parallel.", project="a")
    second = house.stored("Tests run in parallel.", project="b")
    third = house.stored("Tests run in parallel.", project="a", kind="convention")
    assert len({first, second, third}) == 3


def test_what_was_forgotten_can_be_stored_again(house: House) -> None:
    """B153."""
    from dolmen.services.forget import forget
    from dolmen.services.requests import Forget

    ref = house.stored("The staging host is stg-1.")
    forget(house.rt, house.agent, Forget(ref=ref))
    again = house.stored("The staging host is stg-1.")
    assert again != ref
    assert house.refs("staging host") == [again]


def test_an_expired_statement_can_be_stored_again(house: House) -> None:
    house.stored("The freeze ends at noon.", ttl_seconds=60)
    house.clock.advance(2 * HOUR)
    again = house.stored("The freeze ends at noon.")
    assert house.refs("freeze") == [again]


def test_a_retry_with_the_same_key_gets_the_same_memory(house: House) -> None:
    """B152: also when the memory was amended since; the key is the connection's own."""
    ref = house.stored("Backups run at 02:00.", key="call-17")
    edit(house.rt, house.agent, Edit(ref, "amend", "Backups run at 03:00."))
    for content in ("backups run at 02:00", "Backups run at 03:00."):
        again = house.remember(content, key="call-17")
        assert (again.ref, again.idempotent) == (ref, True)
    other = house.remember("Backups run at 02:00.", house.actor(connection="key-2"), key="call-17")
    assert other.ref != ref


def test_another_statement_under_a_used_key_is_a_conflict_and_not_lost(house: House) -> None:
    """B152: the writer learns that nothing was stored, and what to do."""
    ref = house.stored("Backups run at 02:00.", key="call-17")
    again = house.remember("Backups are kept for a month.", key="call-17")
    assert again.outcome == "failed"
    assert again.error is not None
    assert again.error["code"] == "conflict"
    assert ref in str(again.error["message"])
    assert "new key" in str(again.error["fix"])
    house.stored("Backups are kept for a month.", key="call-18")


def test_what_somebody_only_proposed_holds_when_one_says_it_who_may(house: House) -> None:
    """C-110: the same ref, now served; the proposal is done with."""
    proposed = house.remember("The port is 8080.", house.actor(mode="suggest", connection="key-s"))
    said = house.remember("the port is 8080")
    assert (said.outcome, said.ref, said.deduplicated, said.status) == ("duplicate", proposed.ref, True, "active")
    assert house.refs("port") == [proposed.ref]
    assert review.pending(house.rt, house.owner) == []
    [done] = review.pending(house.rt, house.owner, "applied")
    assert "claude-code" in done.note


def test_a_preference_that_a_person_repeats_is_the_users(house: House) -> None:
    """C-110, C-136: an agent that repeats it changes nothing."""
    proposed = house.remember("Answer in Korean.", kind="preference")
    assert house.remember("Answer in Korean.", house.actor(mode="admin"), kind="preference").status == "proposed"
    said = house.remember("Answer in Korean.", house.owner, kind="preference")
    assert said.memory is not None
    assert (said.ref, said.status) == (proposed.ref, "active")
    assert (said.memory.trust, said.memory.verification, said.memory.verified_by) == ("user", "verified", "owner")
    assert review.pending(house.rt, house.owner) == []


SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.mark.parametrize(
    "fields",
    [
        {"title": SECRET},
        {"folder": f"guides/{SECRET}"},
        {"tags": (SECRET,)},
        {"source": SECRET},
        {"key": SECRET},
        {"project": SECRET},
        {"session": SECRET},
        {"label": SECRET},
        {"case": Case(SECRET)},
        {"case": Case("c", phase=SECRET)},
        {"case": Case("c", resolution=SECRET)},
        {"links": (NewLink("relates_to", SECRET),)},
        {"attrs": {"deep": [{"in": SECRET}]}},
    ],
    ids=lambda fields: "-".join(fields),
)
def test_no_field_of_a_memory_takes_a_secret(house: House, fields: dict[str, object]) -> None:
    """C-300."""
    result = house.remember("A statement without one.", **fields)
    assert result.error is not None, result
    assert result.error["code"] == "secret-detected"
    assert SECRET not in repr(result.error)


def test_the_password_in_a_remotes_address_is_no_reason_to_refuse(house: House) -> None:
    """C-30: a project is looked at as it is kept."""
    house.stored("Tests run in parallel.", project=f"https://ci:{SECRET}@github.com/org/repo.git")


def test_what_could_not_be_stored_as_given_is_said(house: House) -> None:
    """B040."""
    told = house.remember("a\x00b", title="c\ud800")
    assert told.outcome == "stored"
    assert "U+FFFD" in told.notes[0]
    assert house.remember("nothing of the kind").notes == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"pinned": "nope"},
        {"ttl_seconds": float("inf")},
        {"ttl_seconds": float("nan")},
        {"ttl_seconds": 0},
        {"links": (NewLink("relates_to", "x" * 301),)},
        {"supersedes": ("x" * 301,)},
    ],
)
def test_a_value_that_does_not_fit_is_refused(house: House, fields: dict[str, object]) -> None:
    result = house.remember("A statement.", **fields)
    assert result.error is not None
    assert result.error["code"] in ("invalid-argument", "too-large")


def test_a_batch_fails_item_by_item(house: House) -> None:
    """C-88."""
    items = [
        NewMemory("First fact."),
        NewMemory("   "),
        NewMemory("x" * 8001),
        NewMemory("token = ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"),
        NewMemory("Third fact.", supersedes=("00000000-0000-7000-8000-000000000000",)),
        NewMemory("Last fact."),
    ]
    results = remember(house.rt, house.agent, items)
    assert [r.outcome for r in results] == ["stored", "failed", "failed", "failed", "failed", "stored"]
    codes = [r.error["code"] for r in results if r.error]
    assert codes == ["invalid-argument", "too-large", "secret-detected", "not-found"]
    assert all(r.error["fix"] for r in results if r.error)


def test_a_secret_is_named_by_kind_and_never_shown(house: House) -> None:
    """C-300."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    result = house.remember(f"Use {secret} for releases")
    assert result.outcome == "failed"
    assert secret not in repr(result.error)
    assert house.recall("releases").claims == ()


def test_superseding_hides_the_old_memory_and_keeps_it_as_history(house: House) -> None:
    """C-122, B161: the correction is one call and the old statement no longer competes."""
    old = house.stored("The build uses webpack.")
    result = house.remember("The build uses vite.", supersedes=(old,))
    assert result.superseded == (old,)
    assert house.refs("what does the build use") == [result.ref]
    assert set(house.refs("what does the build use", include=("superseded",))) == {old, result.ref}
    assert read(house.rt, house.agent, old).memory.superseded_by == result.ref


def test_only_an_active_memory_of_the_same_scope_can_be_superseded(house: House) -> None:
    """C-122."""
    old = house.stored("The build uses webpack.", project="a")
    elsewhere = house.remember("The build uses vite.", project="b", supersedes=(old,))
    assert elsewhere.error is not None
    assert elsewhere.error["code"] == "conflict"
    house.remember("The build uses vite.", project="a", supersedes=(old,))
    twice = house.remember("The build uses turbopack.", project="a", supersedes=(old,))
    assert twice.error is not None
    assert twice.error["code"] == "gone"


def test_superseding_a_memory_by_the_same_statement_changes_nothing(house: House) -> None:
    """C-110."""
    ref = house.stored("The build uses vite.")
    again = house.remember("the build uses vite", supersedes=(ref,))
    assert (again.ref, again.deduplicated, again.superseded) == (ref, True, ())
    assert house.refs("build") == [ref]


def test_similar_memories_are_shown_to_the_writer(house: House) -> None:
    """C-111: trigram similarity of a half or more, same scope, at most three."""
    first = house.stored("The payments service retries three times with backoff.", project="shop")
    house.stored("The payments service retries three times with backoff.", project="other")
    result = house.remember("The payments service retries five times with backoff.", project="shop")
    assert [s.ref for s in result.similar] == [first]
    assert result.similar[0].similarity >= 0.5


def test_similar_memories_are_found_by_meaning(knowing_house: House) -> None:
    """C-111 with embeddings: the measure is calibrated, so that unrelated texts are never called similar."""
    house = knowing_house
    for text in ("Lunch is at noon.", "The cat sleeps.", "Invoices are sent monthly.", "Use tabs in Go."):
        house.stored(text)
    for text in ("Port 22 is closed.", "The logo is blue.", "CI runs on push.", "Docs live in /docs."):
        house.stored(text)
    first = house.stored("Database migrations are run by the deploy job before the new pods start.")
    result = house.remember("Before new pods start, the deploy job runs the database migrations.")
    assert [s.ref for s in result.similar] == [first]
    assert house.remember("Our mascot is a heron named Gustav.").similar == ()


def test_a_preference_waits_for_a_person(house: House) -> None:
    """C-136."""
    result = house.remember("Answer in Korean.", kind="preference")
    assert (result.outcome, result.status, result.because) == ("proposed", "proposed", "kind")
    assert house.recall("answer language Korean").claims == ()
    assert house.remember("answer in korean", kind="preference").ref == result.ref
    assert house.remember("Write short commits.", house.owner, kind="preference").outcome == "stored"


def test_a_suggesting_connection_queues_and_a_reading_one_is_refused(house: House) -> None:
    queued = house.remember("The port is 8080.", house.actor(mode="suggest"))
    assert (queued.outcome, queued.because) == ("proposed", "mode")
    assert house.recall("port").claims == ()
    with pytest.raises(DolmenError) as refused:
        house.remember("The port is 8081.", house.actor(mode="read"))
    assert refused.value.code == "read-only"


def test_a_dry_run_stores_nothing_and_says_what_would_happen(house: House) -> None:
    """C-86."""
    known = house.stored("The port is 8080.")
    results = remember(
        house.rt, house.agent, [NewMemory("The port is 8080."), NewMemory("A new fact."), NewMemory("")], dry_run=True
    )
    assert [r.outcome for r in results] == ["would", "would", "failed"]
    assert results[0].ref == known
    assert results[1].ref is None
    assert house.refs("fact") == []


def test_links_are_stored_with_the_memory_also_to_what_does_not_exist_yet(house: House) -> None:
    cause = house.stored("The cache was never invalidated.")
    links = (NewLink("caused_by", cause, 0.9), NewLink("relates_to", "some-later-note"))
    ref = house.stored("Users saw old prices.", kind="error", links=links)
    edges = read(house.rt, house.agent, ref, "links").links
    assert {(e.rel, e.target) for e in edges} == {("caused_by", cause), ("relates_to", "some-later-note")}


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(text=st.text(min_size=1, max_size=400).filter(lambda t: t.strip("\x00 \t\n\r").strip() != ""))
def test_any_text_comes_back_as_it_was_written(house: House, text: str) -> None:
    """B040: but for NUL and lone surrogates, which become U+FFFD on both engines alike."""
    from dolmen.domain.secrets import find

    if find(text):
        return
    result = house.remember(text)
    if result.outcome == "failed":
        assert result.error is not None
        assert result.error["code"] == "invalid-argument"  # nothing but white space
        assert not text.strip()
        return
    assert result.ref is not None
    stored = read(house.rt, house.agent, result.ref).memory.text
    expected = "".join("\ufffd" if c == "\x00" or "\ud800" <= c <= "\udfff" else c for c in text)
    if result.outcome == "stored":
        assert stored == expected


def test_another_vault_sees_nothing(house: House) -> None:
    stranger = house.actor(vault="other", person="stranger", connection="key-9")
    ref = house.stored("The launch code name is Heron.")
    assert house.recall("launch code name Heron", stranger).claims == ()
    with pytest.raises(DolmenError) as refused:
        read(house.rt, stranger, ref)
    assert refused.value.code == "not-found"
    mine = house.remember("My fact.", stranger, supersedes=(ref,))
    assert mine.error is not None
    assert mine.error["code"] == "not-found"


def test_the_same_statement_is_found_under_every_kind_that_the_caller_names(house: House) -> None:
    """C-110: a toolset's type may stand for several kinds."""
    ref = house.stored("Use pnpm.", kind="convention")
    assert house.remember("use pnpm", kind="decision", same=("convention", "procedure")).ref == ref
    assert house.remember("use pnpm", kind="decision").outcome == "stored"


def test_states_that_pass_and_summaries_are_nobodys_likeness(house: House) -> None:
    """C-111."""
    house.stored("The staging cluster heron is being rebuilt today.", kind="state", ttl_seconds=3600)
    house.stored("The staging cluster heron is being rebuilt now.", kind="episode", label=SUMMARY)
    shown = house.remember("The staging cluster heron is being rebuilt this week.", ttl_seconds=3600)
    assert shown.similar == ()
    again = house.remember("The staging cluster heron is being rebuilt this month.")
    assert [one.ref for one in again.similar] == [shown.ref], "a fact with an expiry is a fact"
    assert again.similar[0].memory is not None
