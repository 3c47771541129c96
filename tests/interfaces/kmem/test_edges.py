"""link: the document's rules about edges between notes, on both engines."""

from __future__ import annotations

from tests.interfaces.kmem.conftest import Agent
from tests.interfaces.kmem.test_notes import policy


def test_an_edge_that_was_written_by_hand_is_the_same_edge(agent: Agent) -> None:
    """C-248, C-364: the line is the edge, whoever writes it and in whichever editor."""
    agent.note("Auth words.\n\n- depends_on [[Session store]]\n", title="Auth")
    agent.note("Store words.", title="Session store")
    edge = {"from": "auth", "rel_type": "depends_on", "to": "session-store"}
    assert agent.do("link", **edge)["outcome"] == "unchanged"
    assert agent.read("auth")["markdown"].count("depends_on") == 1


def test_link_writes_the_edge_into_the_note_once(agent: Agent) -> None:
    """C-245, C-246."""
    agent.note("Auth words.", title="Auth", folder="backend")
    edge = {"from": "kmem://backend/auth", "rel_type": "depends_on", "to": "backend/session-store"}
    done = agent.do("link", **edge)
    assert policy(done) == ("linked", "conflicts", "on")
    assert (done["to"], done["resolved"]) == ("backend/session-store", False)
    assert "- depends_on [[backend/session-store]]" in agent.read("backend/auth")["markdown"]
    agent.note("Store words.", title="Session store", folder="backend")
    again = agent.do("link", **edge)
    assert policy(again) == ("unchanged", "conflicts", "on")
    assert (again["to"], again["resolved"]) == ("kmem://backend/session-store", True)
    assert agent.read("backend/auth")["markdown"].count("depends_on") == 1
    assert agent.refused("link", **{**edge, "rel_type": "Depends On"})["code"] == "invalid-argument"


def test_an_edge_that_says_supersedes_takes_nothing_out_of_the_answers(agent: Agent) -> None:
    """C-141, C-246: `link` writes a line into its own note, an edit of the current version; only `remember` replaces a
    live note, and that waits."""
    agent.note("Storage is Postgres.", "decision", title="Old")
    agent.note("Storage is SQLite.", "decision", title="New")
    done = agent.do("link", **{"from": "new", "rel_type": "supersedes", "to": "old"})
    assert policy(done) == ("linked", "conflicts", "on")
    assert {"old", "new"} <= {c["note"] for c in agent.claims("storage") if c["status"] == "current"}
    replaced = agent.do("remember", content="Storage is DuckDB.", kind="decision", title="Newest", supersedes="old")
    assert replaced["outcome"] == "queued"


def test_an_edge_that_waits_is_proposed_once(agent: Agent) -> None:
    """C-120: also before a person has decided about it."""
    agent.note("Auth words.", title="Auth")
    modest = agent.as_(mode="suggest", connection="key-2")
    edge = {"from": "auth", "rel_type": "depends_on", "to": "session-store"}
    first, again = modest.do("link", **edge), modest.do("link", **edge)
    assert (policy(again), again["proposal"]) == (policy(first), first["proposal"])
    assert len(modest.do("browse", queued=True)["queued"]) == 1
    assert modest.do("link", **edge | {"rel_type": "blocks"})["proposal"] != first["proposal"]
    agent.approve(first["proposal"])
    assert policy(modest.do("link", **edge))[0] == "unchanged"
    assert agent.read("auth")["markdown"].count("depends_on") == 1


def test_an_edge_resolves_when_the_block_that_it_names_is_there(agent: Agent) -> None:
    """C-245: and none starts from a block that is not there."""
    agent.note("Auth words.", title="Auth")
    agent.note("Store words.", title="Store")
    there, edge = agent.block("store", "Store words"), {"from": "auth", "rel_type": "depends_on"}
    assert agent.do("link", **edge, to="store#blk_00000000")["resolved"] is False
    assert agent.do("link", **edge, to=there)["resolved"] is True
    assert agent.do("link", **edge, to=there)["outcome"] == "unchanged"
    for part in ("auth#blk_00000000", "auth#^block"):
        assert agent.refused("link", **{**edge, "from": part, "to": "store"})["code"].endswith("not-found")
    start = agent.block("auth", "Auth words")
    assert agent.do("link", **{**edge, "from": start, "to": "store"})["from"] == "kmem://auth"
