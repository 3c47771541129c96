"""`get_context`, rule by rule."""

from __future__ import annotations

import pytest

from dolmen.domain.code import Check
from dolmen.services.code.checking import report
from tests.interfaces.kenfold.conftest import REPO, SCOPE, Agent


def test_a_context_has_its_sections_and_each_memory_once(claude: Agent) -> None:
    """C-194."""
    for where in ({}, {"project": REPO}):
        claude.approve(claude.remember(f"Answer in Korean {where}.", type="preference", **where))
    claude.remember("Not approved.", type="preference")
    left = claude.do("handoff", summary="The parser is half done.", next_steps=["finish"], project=REPO)
    claude.as_(session="s-1").remember("Worked on the parser.", type="episodic", project=REPO)
    rule = claude.remember("The parser is recursive descent.", project=REPO)
    claude.remember("The printer is simple.", project="another")
    fact = claude.remember("Parser bugs go to the compiler team.")
    code = claude.remember("`parse()` of the parser returns a tree.", type="codebase", project=REPO)
    found = claude.do("get_context", task="fix the parser", project=REPO)
    assert list(found) == ["preferences", "handoff", "recent", "project", "relevant", "truncated"]
    assert {m["scope"] for m in found["preferences"]} == {"user", SCOPE}
    assert all((m["type"], m["trust"]) == ("preference", "user") for m in found["preferences"])
    assert found["handoff"]["id"] == left["id"]
    assert [m["content"] for m in found["recent"]] == ["Worked on the parser."]
    assert [m["id"] for m in found["project"]] == [rule]
    assert {m["id"] for m in found["relevant"]} == {fact, code}
    assert all(0 < m["score"] <= 1 for m in found["relevant"])
    assert found["truncated"] is False


def test_without_a_task_nothing_is_relevant_and_without_a_project_nothing_is_the_projects(claude: Agent) -> None:
    """C-194: `project[]` are the active `project` memories of the project."""
    claude.remember("Herons nest early.")
    rule = claude.remember("Herons are counted weekly.", project=REPO)
    claude.remember("Herons are birds.", type="semantic", project=REPO)
    assert [m["id"] for m in claude.do("get_context", project=REPO)["project"]] == [rule]
    assert claude.do("get_context", project=REPO)["relevant"] == []
    assert claude.do("get_context")["project"] == []


def test_the_latest_three_session_summaries_are_cut_to_800_characters(claude: Agent) -> None:
    """C-194."""
    for number in range(5):
        session = claude.as_(session=f"s-{number}")
        session.remember(f"Session {number}: " + "we talked. " * 100, type="episodic", project=REPO)
    recent = claude.do("get_context", project=REPO)["recent"]
    assert [m["content"].partition(":")[0] for m in recent] == ["Session 4", "Session 3", "Session 2"]
    assert all(790 <= len(m["content"]) <= 800 for m in recent)
    assert all(m["content"].endswith("…") for m in recent)
    assert claude.do("get_context", project="another")["recent"] == []


def test_the_priority_is_that_of_the_document_when_the_budget_is_small(claude: Agent) -> None:
    """C-194: what does not fit is left out, and `truncated` says so."""
    claude.approve(claude.remember("Answer in Korean.", type="preference"))
    for number in range(8):
        claude.remember(f"Rule {number} of the parser: " + "keep it simple. " * 6, project=REPO)
    claude.remember("The parser has three passes, as everybody knows.", type="semantic", project=REPO)
    found = claude.do("get_context", task="parser passes", project=REPO, budget_tokens=600)
    assert found["truncated"] is True
    assert len(found["preferences"]) == 1
    assert 1 <= len(found["project"]) < 8
    assert found["relevant"] == [], "the project's rules come before what is relevant to the task"


@pytest.mark.parametrize(("asked", "given"), [(1, 200), (-5, 200), (200, 200), (10**9, 32_000)])
def test_the_budget_is_clamped(claude: Agent, asked: int, given: int) -> None:
    """C-194, C-335: at 200 one small memory fits, at 32,000 not more than that."""
    for number in range(60):
        claude.remember(f"Rule {number}: " + "0123456789 " * 200, project=REPO)
    small = claude.remember("Small rule.", project=REPO)
    found = claude.do("get_context", project=REPO, budget_tokens=asked)
    sizes = [len(m["content"]) for m in found["project"]]
    assert found["truncated"] is True
    if given == 200:
        assert [m["id"] for m in found["project"]] == [small]
    else:
        assert 10 < len(sizes) < 50


def test_a_memory_is_shown_whole_or_not_at_all(claude: Agent) -> None:
    """C-194: memories that do not fit the budget are left out."""
    long = "Rule: " + "keep it simple. " * 400
    claude.remember(long, project=REPO)
    assert claude.do("get_context", project=REPO, budget_tokens=500)["project"] == []
    [whole] = claude.do("get_context", project=REPO, budget_tokens=8000)["project"]
    assert whole["content"] == long


def test_a_stale_project_memory_comes_last_and_says_so(claude: Agent) -> None:
    """C-194, C-154, C-232: stale is what refers to code that is gone or changed, as a client reported."""
    fresh = claude.remember("Requests pass the gate.", project=REPO)
    stale = claude.remember("`open_gate()` in web/gate.py opens the gate.", project=REPO)
    [waiting] = [m for m in claude.do("get_context", project=REPO)["project"] if m["id"] == stale]
    assert {"path": "web/gate.py", "symbol": "open_gate", "state": "pending"} in waiting["code_refs"]
    assert "stale" not in waiting
    seen = [(ref["path"], ref["symbol"]) for ref in waiting["code_refs"] if ref.get("symbol")]
    before, after = "a" * 40, "b" * 40
    report(claude.house.rt, claude.actor, REPO, before, [Check(p, s, found=True, hash="sym:1") for p, s in seen])
    report(claude.house.rt, claude.actor, REPO, after, [Check(p, s, before) for p, s in seen])
    listed = claude.do("get_context", project=REPO)["project"]
    assert [m["id"] for m in listed] == [fresh, stale]
    assert "stale" not in listed[0]
    assert listed[1]["stale"] is True
    gone = {"path": "web/gate.py", "symbol": "open_gate", "state": "missing", "checked_commit": after}
    assert gone in listed[1]["code_refs"]
    found = claude.do("recall", query="gate", project=REPO)["memories"]
    assert [m["id"] for m in found] == [fresh, stale]
    assert found[1]["score"] < 0.2 * found[0]["score"]
    assert found[1]["code_refs"] == listed[1]["code_refs"]
