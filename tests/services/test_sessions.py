from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import SUMMARY
from dolmen.domain.values import DAY
from dolmen.services import review
from dolmen.services.context import context
from dolmen.services.reading import read
from dolmen.services.requests import ContextRequest, Handoff, Reflection
from dolmen.services.sessions import handoff, reflect, resume
from dolmen.store.contract import Filter
from tests.services.conftest import House


def test_a_handoff_is_picked_up_once_and_read_until_it_expires(house: House) -> None:
    """C-202, C-203, B213: the next agent gets it with author and date."""
    left = handoff(house.rt, house.agent, Handoff("Parser half done.", ("fix lexer", "add tests"), "app"))
    codex = house.actor(agent="codex", connection="key-2")
    offered = context(house.rt, codex, ContextRequest(project="app")).handoff
    assert offered is not None
    assert (offered.ref, offered.agent) == (left.ref, "claude-code")
    got = resume(house.rt, codex, "app")
    assert got is not None
    assert (got.summary, got.next_steps, got.resumed_by) == ("Parser half done.", ("fix lexer", "add tests"), "codex")
    again = resume(house.rt, house.agent, "app")
    assert again is not None
    assert (again.resumed_by, again.resumed_at) == ("codex", got.resumed_at)
    assert context(house.rt, codex, ContextRequest(project="app")).handoff is None
    house.clock.advance(8 * DAY)
    assert resume(house.rt, codex, "app") is None


def test_one_handoff_is_active_per_project(house: House) -> None:
    """C-202."""
    first = handoff(house.rt, house.agent, Handoff("First state.", project="app"))
    other = handoff(house.rt, house.agent, Handoff("Elsewhere.", project="web"))
    second = handoff(house.rt, house.agent, Handoff("Second state.", project="app"))
    assert second.superseded == first.ref
    latest = resume(house.rt, house.agent, "app")
    assert latest is not None
    assert latest.ref == second.ref
    assert read(house.rt, house.agent, first.ref).memory.superseded_by == second.ref
    kept = resume(house.rt, house.agent, "web")
    assert kept is not None
    assert kept.ref == other.ref


def test_the_same_handoff_twice_is_one_and_new_steps_make_a_new_one(house: House) -> None:
    first = handoff(house.rt, house.agent, Handoff("State.", ("a",), "app"))
    assert handoff(house.rt, house.agent, Handoff("State.", ("a",), "app")).ref == first.ref
    second = handoff(house.rt, house.agent, Handoff("State.", ("b",), "app"))
    assert second.ref != first.ref
    latest = resume(house.rt, house.agent, "app")
    assert latest is not None
    assert latest.next_steps == ("b",)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (Handoff("x" * 8001), "too-large"),
        (Handoff("State.", ("s",) * 21), "too-large"),
        (Handoff("State.", ("s" * 1001,)), "too-large"),
        (Handoff("State.", ttl_seconds=31 * 86_400), "invalid-argument"),
        (Handoff("State.", ("use ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8",)), "secret-detected"),
    ],
)
def test_a_handoff_has_limits(house: House, request_: Handoff, code: str) -> None:
    """C-202, C-300, C-335."""
    with pytest.raises(DolmenError) as refused:
        handoff(house.rt, house.agent, request_)
    assert refused.value.code == code


def test_reflect_makes_a_memory_of_each_item(house: House) -> None:
    """C-204, C-215."""
    request = Reflection(
        summary="Moved the queue to NATS.",
        decisions=("Use NATS for events.",),
        errors_resolved=("Duplicate events came from retries without ids.",),
        procedures=("To replay events run make replay.",),
        open_questions=("Do we need JetStream mirrors?",),
        project="app",
    )
    done = reflect(house.rt, house.agent, request)
    assert done.breakdown == {"summary": 1, "decisions": 1, "errors_resolved": 1, "procedures": 1, "open_questions": 1}
    assert [r.kind for r in done.results] == ["episode", "decision", "error", "procedure", "state"]
    assert reflect(house.rt, house.agent, request).breakdown["decisions"] == 0


def test_each_session_keeps_one_summary(house: House) -> None:
    """C-123."""
    session = replace(house.agent, session="s-1")
    reflect(house.rt, session, Reflection("Half of the parser is done.", project="app"))
    reflect(house.rt, session, Reflection("The parser is done.", project="app"))
    reflect(house.rt, replace(house.agent, session="s-2"), Reflection("The printer is done.", project="app"))
    recent = context(house.rt, house.agent, ContextRequest(project="app")).recent
    assert [c.text for c in recent] == ["The printer is done.", "The parser is done."]


def test_one_bad_item_of_a_reflection_fails_alone(house: House) -> None:
    done = reflect(house.rt, house.agent, Reflection("Fine.", decisions=("x" * 9000, "Keep going.")))
    assert [r.outcome for r in done.results] == ["stored", "failed", "stored"]


def active(house: House, label: str) -> list[str]:
    with house.rt.store.read() as tx:
        return [m.text for m in tx.memories.select(Filter("main", None, tx.now, labels=(label,)))]


def test_of_handoffs_at_once_one_stays(house: House) -> None:
    """C-202: also when they come from several threads or processes."""
    with ThreadPoolExecutor(8) as pool:
        jobs = [
            pool.submit(handoff, house.rt, house.actor(connection=f"key-{n}"), Handoff(f"State {n}.", project="app"))
            for n in range(8)
        ]
        left = [job.result() for job in jobs]
    assert len({note.ref for note in left}) == 8
    assert len(active(house, "handoff")) == 1


def test_of_summaries_of_a_session_at_once_one_stays(house: House) -> None:
    """C-123."""
    session = replace(house.agent, session="s-1")
    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(reflect, house.rt, session, Reflection(f"Did part {n}.", project="app")) for n in range(6)]
        done = [job.result() for job in jobs]
    assert [one.breakdown["summary"] for one in done] == [1] * 6
    assert len(active(house, "session-summary")) == 1


def test_a_suggesting_connection_reads_a_handoff_and_leaves_no_mark(house: House) -> None:
    """C-203."""
    handoff(house.rt, house.agent, Handoff("Go on.", project="app"))
    got = resume(house.rt, house.actor(mode="suggest", agent="gemini"), "app")
    assert got is not None
    assert (got.summary, got.resumed_by) == ("Go on.", "")
    taken = resume(house.rt, house.actor(agent="codex"), "app")
    assert taken is not None
    assert taken.resumed_by == "codex"


def test_a_handoff_that_was_only_proposed_holds_when_left_again(house: House) -> None:
    """C-110, C-202: with the steps of the one that was left now."""
    old = handoff(house.rt, house.agent, Handoff("Before.", project="app"))
    waiting = handoff(house.rt, house.actor(mode="suggest"), Handoff("Go on.", ("a",), "app"))
    left = handoff(house.rt, house.agent, Handoff("Go on.", ("b",), "app"))
    assert left.ref == waiting.ref
    got = resume(house.rt, house.agent, "app")
    assert got is not None
    assert (got.ref, got.next_steps) == (left.ref, ("b",))
    assert read(house.rt, house.agent, old.ref).memory.superseded_by == left.ref
    assert review.pending(house.rt, house.owner) == []


def test_sessions_say_what_they_could_not_keep_as_given(house: House) -> None:
    """B040."""
    assert "U+FFFD" in handoff(house.rt, house.agent, Handoff("Go\x00 on.", project="app")).notes[0]
    assert "U+FFFD" in handoff(house.rt, house.agent, Handoff("Stop.", ("a\x00",), "app")).notes[0]
    done = reflect(house.rt, house.agent, Reflection("Fine.", decisions=("Keep\x00 going.",), project="app"))
    assert [bool(result.notes) for result in done.results] == [False, True]


def test_a_handoff_names_the_one_that_it_replaces(house: House) -> None:
    """C-202: linked via `supersedes`."""
    first = handoff(house.rt, house.agent, Handoff("First state.", project="app"))
    second = handoff(house.rt, house.agent, Handoff("Second state.", project="app"))
    assert read(house.rt, house.agent, second.ref).memory.supersedes == first.ref


def test_the_same_handoff_left_later_lives_as_long_as_was_asked_for_then(house: House) -> None:
    first = handoff(house.rt, house.agent, Handoff("State.", project="app", ttl_seconds=3600))
    retried = handoff(house.rt, house.agent, Handoff("State.", project="app", ttl_seconds=3600))
    assert (retried.ref, retried.expires_at) == (first.ref, first.expires_at)
    house.clock.advance(DAY // 48)
    later = handoff(house.rt, house.agent, Handoff("State.", project="app", ttl_seconds=7200))
    assert first.expires_at is not None
    assert later.expires_at is not None
    assert later.ref == first.ref
    assert later.expires_at > first.expires_at + 3000 * 1_000_000


def test_the_same_handoff_left_after_it_was_picked_up_is_offered_again(house: House) -> None:
    """C-203."""
    first = handoff(house.rt, house.agent, Handoff("State.", project="app"))
    resume(house.rt, house.actor(agent="codex"), "app")
    again = handoff(house.rt, house.agent, Handoff("State.", project="app"))
    assert again.ref != first.ref
    offered = context(house.rt, house.agent, ContextRequest(project="app")).handoff
    assert offered is not None
    assert offered.ref == again.ref


def test_a_session_summary_replaces_the_earlier_one_however_it_is_stored(house: House) -> None:
    """C-123: the older one stays as history, linked both ways; another agent's or session's is left alone."""
    session = replace(house.agent, session="s-1")
    [first] = reflect(house.rt, session, Reflection("Half of the parser is done.", project="app")).results
    others = [
        house.stored("Somebody else's.", replace(session, agent="codex"), kind="episode", label=SUMMARY, project="app"),
        house.stored("Another session's.", replace(house.agent, session="s-2"), kind="episode", label=SUMMARY),
    ]
    second = house.remember("The parser is done.", session, kind="episode", label=SUMMARY, project="app")
    assert second.superseded == (first.ref,)
    assert second.memory is not None
    assert second.memory.supersedes == first.ref
    assert first.ref is not None
    assert read(house.rt, house.agent, first.ref).memory.superseded_by == second.ref
    assert [read(house.rt, house.agent, ref).memory.status for ref in others] == ["active", "active"]
    again = house.remember("the parser is done", session, kind="episode", label=SUMMARY, project="app")
    assert (again.outcome, again.ref, again.superseded) == ("duplicate", second.ref, ())
    assert read(house.rt, house.agent, str(second.ref)).memory.status == "active"
