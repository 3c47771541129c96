from __future__ import annotations

from dolmen.domain.tokens import estimate
from dolmen.services.context import context
from dolmen.services.requests import ContextRequest, Handoff, Reflection
from dolmen.services.sessions import handoff, reflect
from tests.services.conftest import House


def test_a_brief_has_its_sections_in_order_and_each_memory_once(house: House) -> None:
    """C-194."""
    preference = house.stored("Answer in Korean.", house.owner, kind="preference")
    left = handoff(house.rt, house.agent, Handoff("Half done.", ("finish",), "app"))
    reflect(house.rt, house.agent, Reflection("Worked on the parser.", project="app"))
    parser = house.stored("The parser is recursive descent.", project="app", kind="decision")
    other = house.stored("The printer uses Wadler's algorithm.", project="app")
    everywhere = house.stored("Parser bugs go to the compiler team.")
    brief = context(house.rt, house.agent, ContextRequest("fix the parser", "app"))
    assert [c.ref for c in brief.preferences] == [preference]
    assert brief.handoff is not None
    assert brief.handoff.ref == left.ref
    assert [c.text for c in brief.recent] == ["Worked on the parser."]
    assert {c.ref for c in brief.relevant} == {parser, everywhere}
    assert [c.ref for c in brief.project] == [other]
    assert not brief.truncated


def test_without_a_task_the_project_is_listed(house: House) -> None:
    ref = house.stored("The parser is recursive descent.", project="app")
    house.stored("Unrelated.", project="web")
    brief = context(house.rt, house.agent, ContextRequest(project="app"))
    assert [c.ref for c in brief.project] == [ref]
    assert brief.relevant == ()


def test_a_brief_keeps_its_budget_however_large_the_memories_are(house: House) -> None:
    """B170: 25 memories, one of them giant."""
    for n in range(25):
        house.stored(f"Decision {n}: " + "we keep it simple. " * 30, project="app", kind="decision")
    house.stored("Giant: " + "0123456789 " * 700, project="app")
    for budget in (200, 2000, 8000):
        brief = context(house.rt, house.agent, ContextRequest("decision", "app", budget))
        texts = [
            c.text for section in (brief.preferences, brief.recent, brief.project, brief.relevant) for c in section
        ]
        assert sum(map(estimate, texts)) <= brief.used_tokens <= budget
        assert brief.truncated == (budget < 8000)


def test_an_unconfirmed_preference_steers_nobody(house: House) -> None:
    """C-23, DESIGN rule 4."""
    house.remember("Always agree.", kind="preference")
    brief = context(house.rt, house.agent, ContextRequest("agree"))
    assert brief.preferences == ()
    assert brief.relevant == ()


def test_a_caller_says_which_section_is_filled_first_and_what_the_project_lists(house: House) -> None:
    """C-194: a toolset has its own order of priority."""
    decision = house.stored("The parser is recursive descent.", project="app", kind="decision")
    fact = house.stored("The parser has three passes.", project="app")
    brief = context(
        house.rt,
        house.agent,
        ContextRequest(
            "fix the parser",
            "app",
            priority=("preferences", "handoff", "recent", "project", "relevant"),
            project_kinds=("decision", "convention"),
        ),
    )
    assert [c.ref for c in brief.project] == [decision]
    assert [c.ref for c in brief.relevant] == [fact]


def test_a_long_memory_is_quoted_whole_when_the_caller_wants_it_whole(house: House) -> None:
    text = "Long: " + "we keep it simple. " * 200
    house.stored(text, project="app", kind="decision")
    [cut] = context(house.rt, house.agent, ContextRequest(project="app")).project
    assert len(cut.text) <= 1500
    [whole] = context(house.rt, house.agent, ContextRequest(project="app", excerpt=None)).project
    assert whole.text == text
    poor = context(house.rt, house.agent, ContextRequest(project="app", budget_tokens=300, excerpt=None))
    assert (poor.project, poor.truncated) == ((), True)


def test_what_a_large_budget_pays_for_is_all_there(house: House) -> None:
    """C-194: what is left out is left out for want of budget, and said."""
    for n in range(60):
        house.stored(f"Decision {n}.", project="app", kind="decision")
        house.stored(f"Likes {n}.", house.owner, kind="preference")
    whole = context(house.rt, house.agent, ContextRequest(project="app", budget_tokens=32_000))
    assert (len(whole.preferences), len(whole.project), whole.truncated) == (60, 60, False)
    part = context(house.rt, house.agent, ContextRequest(project="app", budget_tokens=5_200))
    assert len(part.preferences) + len(part.project) == 120 - part.dropped < 70
    assert part.truncated
