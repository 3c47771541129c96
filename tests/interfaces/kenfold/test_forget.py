"""`forget`, rule by rule."""

from __future__ import annotations

import pytest

from tests.interfaces.kenfold.conftest import Agent

NOWHERE = "01900000-0000-7000-8000-000000000000"


def test_forgetting_hides_a_memory_and_keeps_it_as_history(claude: Agent) -> None:
    """C-124."""
    id = claude.remember("Herons nest late.")
    assert claude.do("forget", id=id, reason="They nest early.") == {"id": id, "status": "deleted"}
    assert claude.recalled("herons") == []
    kept = claude.stored(id)
    assert (kept.status, kept.text) == ("deleted", "Herons nest late.")
    assert (kept.attrs["forgotten_by"], kept.attrs["forget_reason"]) == ("claude-code", "They nest early.")


def test_forgetting_again_changes_nothing(claude: Agent) -> None:
    """C-124, C-287: the first deletion is the one that is recorded."""
    id = claude.remember("Herons nest late.")
    claude.do("forget", id=id, reason="They nest early.")
    before = claude.stored(id)
    assert claude.as_(agent="codex").do("forget", id=id.upper(), reason="Me too.") == {"id": id, "status": "deleted"}
    assert claude.stored(id) == before


@pytest.mark.parametrize("length", [1001, 5000, 100_000])
def test_a_long_reason_is_cut_at_1000_characters(claude: Agent, length: int) -> None:
    """C-124, C-335."""
    id = claude.remember("Herons nest late.")
    told = claude.do("forget", id=id, reason="x" * length)
    assert told.get("notes") == [f"the reason was cut from {length} to 1000 characters"]
    assert "notes" not in claude.do("forget", id=id, reason="x" * length), "the second one changes nothing"
    assert claude.stored(id).attrs["forget_reason"] == "x" * 1000


def test_only_a_memory_of_this_vault_can_be_forgotten(claude: Agent) -> None:
    """C-104, C-124."""
    assert claude.refused("forget", id="the one about herons")["code"] == "invalid-argument"
    assert claude.refused("forget", id=NOWHERE)["code"] == "not-found"
    id = claude.remember("Herons nest late.")
    assert claude.as_(vault="other", person="stranger").refused("forget", id=id)["code"] == "not-found"
    assert claude.stored(id).status == "active"


def test_a_connection_that_may_only_suggest_is_told_that_the_deletion_waits(claude: Agent) -> None:
    id = claude.remember("Herons nest late.")
    answer = claude.as_(mode="suggest", connection="key-2").do("forget", id=id)
    assert (answer["id"], answer["status"]) == (id, "active")
    assert "waits" in answer["notes"][0]
