"""`handoff` and `resume`, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from dolmen.domain.values import DAY
from tests.interfaces.kenfold.conftest import REPO, Agent


def test_a_handoff_is_a_temporary_memory_for_seven_days(claude: Agent) -> None:
    """C-202."""
    left = claude.do("handoff", summary="The parser is half done.", next_steps=["finish", "test"], project=REPO)
    assert list(left) == ["id", "expires_at"]
    assert left["expires_at"] == "2026-09-28T14:13:20Z"
    [found] = claude.do("recall", query="parser half done", types=["temporary"], project=REPO)["memories"]
    assert (found["id"], found["type"], found["expires_at"]) == (left["id"], "temporary", left["expires_at"])
    assert found["next_steps"] == ["finish", "test"]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"summary": "x" * 8001}, "too-large"),
        ({"summary": " "}, "invalid-argument"),
        ({"summary": "x", "next_steps": ["s"] * 21}, "too-large"),
        ({"summary": "x", "next_steps": ["s" * 1001]}, "too-large"),
        ({"summary": "x", "ttl_seconds": 30 * 86_400 + 1}, "invalid-argument"),
        ({"summary": "x", "ttl_seconds": -1}, "invalid-argument"),
    ],
)
def test_a_handoff_has_limits(claude: Agent, args: dict[str, Any], code: str) -> None:
    """C-202, C-335."""
    assert claude.refused("handoff", **args)["code"] == code


def test_a_refused_summary_is_called_one_and_told_what_to_do(claude: Agent) -> None:
    """C-30."""
    long = claude.refused("handoff", summary="x" * 8001)
    assert long["message"].startswith("The summary has 8001 characters")
    assert "remember each" not in long["fix"]
    assert claude.refused("handoff", summary=" ")["message"] == "The summary is empty."


def test_a_handoff_may_be_as_large_as_its_limits(claude: Agent) -> None:
    """C-202, C-335."""
    left = claude.do("handoff", summary="x" * 8000, next_steps=["s" * 1000] * 20, ttl_seconds=30 * 86_400)
    assert left["expires_at"] == "2026-10-21T14:13:20Z"


def test_one_handoff_is_active_per_project(claude: Agent) -> None:
    """C-202: a new one supersedes the previous one and is linked to it."""
    first = claude.do("handoff", summary="First.", project=REPO)["id"]
    other = claude.do("handoff", summary="Elsewhere.", project="another")["id"]
    everywhere = claude.do("handoff", summary="Everywhere.")["id"]
    second = claude.do("handoff", summary="Second.", project=REPO)["id"]
    assert (claude.stored(first).status, claude.stored(second).supersedes) == ("superseded", first)
    kept = [claude.do("resume", project=project)["handoff"]["id"] for project in (REPO, "another", "")]
    assert kept == [second, other, everywhere]


def test_resume_returns_the_latest_handoff_and_records_the_first_who_took_it(claude: Agent) -> None:
    """C-203."""
    left = claude.do("handoff", summary="Half done.", next_steps=["finish"], project=REPO)
    codex = claude.as_(agent="codex", connection="key-2")
    assert codex.do("get_context", project=REPO)["handoff"].get("resumed_by") is None
    taken = codex.do("resume", project=REPO)["handoff"]
    assert (taken["id"], taken["content"], taken["next_steps"]) == (left["id"], "Half done.", ["finish"])
    assert (taken["source_agent"], taken["resumed_by"]) == ("claude-code", "codex")
    at = claude.stored(left["id"]).attrs["resumed_at"]
    claude.house.clock.advance(DAY)
    assert claude.do("resume", project=REPO)["handoff"] == taken
    assert claude.stored(left["id"]).attrs["resumed_at"] == at
    assert "handoff" not in codex.do("get_context", project=REPO)
    claude.house.clock.advance(7 * DAY)
    assert claude.do("resume", project=REPO) == {}


def test_without_a_handoff_there_is_no_such_field(claude: Agent) -> None:
    """C-203."""
    assert claude.do("resume", project=REPO) == {}
    assert "handoff" not in claude.do("get_context", project=REPO)


def test_a_handoff_keeps_the_session_that_left_it(claude: Agent) -> None:
    """C-32."""
    left = claude.as_(session="s-1").do("handoff", summary="Half done.", project=REPO)
    assert claude.stored(left["id"]).session == "s-1"
