"""What cannot be meant is refused with what to do instead, and what waits is named as kmem names it."""

from __future__ import annotations

import pytest

from dolmen.domain.errors import DolmenError
from tests.interfaces.kmem.conftest import Agent


def test_every_ref_of_what_waits_is_kmems(agent: Agent) -> None:
    """C-233: a note that is only proposed has a title and no address yet."""
    agent.note("Herons nest.", title="Herons")
    modest = agent.as_(mode="suggest", connection="key-2")
    modest.do("remember", content="Owls hoot.", kind="note", title="Owls")
    modest.do("edit", ref="herons", op="append", content="Early.")
    modest.do("verify", ref="herons", state="verified")
    made, changed, marked = modest.do("browse", queued=True)["queued"]
    assert ("ref" in made, made["title"], changed["ref"]) == (False, "Owls", "kmem://herons")
    assert modest.read(marked["ref"])["text"] == "Herons nest."


def test_what_waits_has_the_word_with_which_it_was_asked_for(agent: Agent) -> None:
    """C-143"""
    agent.note("Herons nest.", title="Herons")
    modest = agent.as_(mode="suggest", connection="key-2")
    modest.do("remember", content="Owls hoot.", kind="note", title="Owls")
    modest.do("edit", ref="herons", op="append", content="Early.")
    modest.do("edit", ref="herons", op="delete_note", reason="Gone.")
    modest.do("verify", ref="herons", state="verified")
    assert [each["op"] for each in modest.do("browse", queued=True)["queued"]] == [
        "remember", "append", "delete_note", "verify",
    ]  # fmt: skip


@pytest.mark.parametrize("sha", ["a3f9c1d2e4b5", "zzz", "0" * 63])
def test_what_is_no_sha_is_not_taken_for_a_version_that_moved(agent: Agent, sha: str) -> None:
    """C-134: `version` is not the concurrency token."""
    ref = agent.note("Words.", title="Here")
    error = agent.refused("edit", ref=ref, op="append", content="More.", expected_sha=sha)
    assert (error["code"], "64 hex digits" in error["fix"]) == ("invalid-argument", True)
    assert agent.do("browse", queued=True) == {"queued": []}
    right = agent.read(ref)["content_sha"].upper()
    assert agent.do("edit", ref=ref, op="append", content="More.", expected_sha=right)["outcome"] == "updated"


def test_one_block_does_not_stand_for_the_note_that_is_replaced(agent: Agent) -> None:
    """C-96: every claim of the note would be gone from the answers."""
    ref = agent.note("A one.\n\nB one.", title="One")
    error = agent.refused("remember", content="A two.", kind="note", supersedes=agent.block(ref, "A one"))
    assert (error["code"], "kmem://one" in error["fix"], "verify" in error["fix"]) == ("invalid-argument", True, True)
    missing = agent.refused("remember", content="A two.", kind="note", supersedes="no/where")
    assert (missing["code"], missing["message"]) == ("note-not-found", "No live note exists at no/where.")
    assert "leave it out" in missing["fix"]


def test_a_refusal_says_nothing_that_the_tools_cannot_do(agent: Agent) -> None:
    """C-102, C-235: nothing here restores, a withdrawn id is no note, and a block has no sections."""
    ref = agent.note("# One\n\nA one.", title="One")
    block = agent.block(ref, "A one")
    error = agent.refused("read", ref=block, section="One")
    assert (error["code"], "kmem://one" in error["fix"]) == ("invalid-argument", True)
    assert agent.refused("edit", ref=ref, op="withdraw")["code"] == "not-found"
    agent.do("edit", ref=ref, op="retract", reason="wrong")
    gone = agent.refused("read", ref=ref)
    assert gone["code"] == "note-not-found"
    assert gone["fix"].startswith("Call remember")
    assert agent.refused("read", ref=block) == gone


@pytest.mark.parametrize("title", ["memory", "Herons"])
def test_a_note_in_a_folder_called_memory_is_read_by_the_ref_that_it_got(agent: Agent, title: str) -> None:
    """C-233: `kmem://memory/` followed by an id is a memory; a folder may have that name."""
    made = agent.do("remember", content="Herons nest.", kind="note", title=title, folder="memory")
    note = agent.read(made["ref"])
    assert (note["ref"], note["title"]) == (made["ref"], title)
    assert agent.read(made["permalink"])["content_sha"] == note["content_sha"]
    assert agent.do("edit", ref=made["ref"], op="append", content="Early.")["outcome"] == "updated"
    agent.note("Owls hoot.", title="Owls")
    edge = {"from": "owls", "rel_type": "relates_to", "to": made["ref"]}
    assert (agent.do("link", **edge)["resolved"], agent.do("link", **edge)["outcome"]) == (True, "unchanged")
    assert made["ref"] in agent.claims("owls hoot")[0]["related"]


def test_a_note_that_took_the_address_of_a_replaced_one_is_not_replaced_unseen(agent: Agent) -> None:
    """C-119, C-141: what was proposed was about another note."""
    agent.note("Storage is Postgres.", "decision", permalink="storage")
    queued = agent.do("remember", content="Storage is SQLite.", kind="decision", title="New", supersedes="storage")
    assert "stale" not in agent.do("browse", queued=True)["queued"][0]
    agent.do("edit", ref="storage", op="retract", reason="a guess")
    agent.note("Storage costs 10 a month.", permalink="storage")
    assert agent.do("browse", queued=True)["queued"][0]["stale"] is True
    with pytest.raises(DolmenError) as caught:
        agent.approve(queued["proposal"])
    assert caught.value.code == "conflict"
    assert [c["note"] for c in agent.claims("storage costs")] == ["storage"]
