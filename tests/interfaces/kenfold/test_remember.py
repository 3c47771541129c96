"""`remember`, rule by rule."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from dolmen.domain.values import SECOND
from dolmen.models.chat import ChatEndpoint, HttpChat
from dolmen.services import review
from dolmen.services.requests import Reflection
from dolmen.services.sessions import reflect
from tests.interfaces.kenfold.conftest import REPO, SCOPE, Agent
from tests.models.chatting import ChatServer

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
NOWHERE = "01900000-0000-7000-8000-000000000000"


def test_remember_returns_what_the_document_says(claude: Agent) -> None:
    """C-76."""
    stored = claude.do("remember", content="Herons nest early.")
    assert list(stored) == ["id", "type", "status", "deduplicated", "similar"]
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", stored["id"])
    assert (stored["type"], stored["status"], stored["deduplicated"], stored["similar"]) == (
        "semantic",
        "active",
        False,
        [],
    )


def test_content_has_8000_characters_at_most_and_some_at_least(claude: Agent) -> None:
    """C-104, C-335."""
    assert claude.remember("가" * 8000)
    assert claude.refused("remember", content="가" * 8001)["code"] == "too-large"
    assert claude.refused("remember", content=" \n ")["code"] == "invalid-argument"


def test_the_type_defaults_by_what_is_replaced_then_by_the_project(claude: Agent) -> None:
    """C-78, C-53: and where it comes from is kept."""
    given = claude.do("remember", content="Herons are birds.", type="codebase")
    plain = claude.do("remember", content="Herons are grey.")
    rule = claude.do("remember", content="Herons are counted.", project=REPO)
    code = claude.do("remember", content="`Heron` is a class.", type="codebase", project=REPO)
    newer = claude.do("remember", content="`Heron` is a record.", project=REPO, supersedes=code["id"])
    assert [one["type"] for one in (given, plain, rule, newer)] == ["codebase", "semantic", "project", "codebase"]
    sources = [claude.stored(one["id"]).attrs["type_source"] for one in (given, plain, rule, newer)]
    assert sources == ["agent", "default", "default", "superseded"]


def test_a_replacement_keeps_the_kind_that_another_toolset_wrote(claude: Agent) -> None:
    """C-78: a convention stays one, though its type stands for more."""
    ref = claude.house.stored("Use npm.", claude.actor, kind="convention", project=REPO)
    newer = claude.do("remember", content="Use pnpm.", project=REPO, supersedes=ref)
    assert newer["type"] == "project"
    assert claude.stored(newer["id"]).kind == "convention"


def test_a_temporary_memory_needs_a_lifetime_of_a_year_at_most(claude: Agent) -> None:
    """C-79: also when the type is that of the replaced memory."""
    error = claude.refused("remember", content="Staging is down.", type="temporary")
    assert "ttl_seconds" in error["message"]
    id = claude.remember("Staging is down.", type="temporary", ttl_seconds=365 * 86_400)
    assert "ttl_seconds" in claude.refused("remember", content="Staging is up.", supersedes=id)["message"]
    for seconds in (365 * 86_400 + 1, -1):
        assert claude.refused("remember", content="Up.", type="temporary", ttl_seconds=seconds)["code"] == (
            "invalid-argument"
        )
    [found] = claude.do("recall", query="staging")["memories"]
    assert found["expires_at"] == "2027-09-21T14:13:20Z"


def test_other_types_may_have_a_lifetime_too(claude: Agent) -> None:
    claude.remember("Herons nest early.", ttl_seconds=60)
    [found] = claude.do("recall", query="herons")["memories"]
    assert found["expires_at"]


@pytest.mark.parametrize("type", ["project", "semantic", "preference", "episodic", "codebase"])
def test_the_same_statement_is_stored_once(claude: Agent, type: str) -> None:
    """C-110: of the same type and scope, also one that only waits for the user."""
    first = claude.do("remember", content="Use pnpm.", type=type, project=REPO)
    for again in ("Use pnpm", "use  PNPM .", "USE\npnpm!", "Use pnpm。"):
        second = claude.as_(agent="codex").do("remember", content=again, type=type, project=REPO)
        assert (second["id"], second["status"], second["deduplicated"]) == (first["id"], first["status"], True)


def test_another_type_or_scope_is_another_memory(claude: Agent) -> None:
    """C-110."""
    ids = {
        claude.remember("Use pnpm."),
        claude.remember("Use pnpm.", type="project"),
        claude.remember("Use pnpm.", project=REPO),
        claude.remember("Use pnpm.", project="another"),
    }
    assert len(ids) == 4


def test_what_another_toolset_wrote_under_a_kind_of_the_type_is_the_same_statement(claude: Agent) -> None:
    """C-110."""
    ref = claude.house.stored("Use pnpm.", claude.actor, kind="convention", project=REPO)
    stored = claude.do("remember", content="use pnpm", project=REPO)
    assert (stored["id"], stored["type"], stored["deduplicated"]) == (ref, "project", True)


@pytest.mark.parametrize("gone", ["forgotten", "expired"])
def test_what_is_no_longer_here_is_stored_anew(claude: Agent, gone: str) -> None:
    """C-110, B153."""
    first = claude.remember("Staging is down.", type="temporary", ttl_seconds=60)
    if gone == "forgotten":
        claude.do("forget", id=first)
    else:
        claude.house.clock.advance(61 * SECOND)
    assert claude.remember("Staging is down.", type="temporary", ttl_seconds=60) != first


def test_superseding_with_the_same_statement_changes_nothing(claude: Agent) -> None:
    """C-110."""
    id = claude.remember("Use pnpm.", project=REPO)
    before = claude.stored(id)
    stored = claude.do("remember", content="use pnpm", project=REPO, supersedes=id)
    assert (stored["id"], stored["status"], stored["deduplicated"]) == (id, "active", True)
    assert claude.stored(id) == before


def test_similar_memories_of_the_same_scope_are_named_and_nothing_is_decided(claude: Agent) -> None:
    """C-111, C-112: trigram similarity, at most three, never a summary or a temporary memory."""
    statement = "The staging cluster is called heron and runs {} nodes."
    ids = [claude.remember(statement.format(n), project=REPO) for n in ("three", "four", "five", "six")]
    claude.remember(statement.format("seven"))
    claude.remember(statement.format("eight"), type="episodic", project=REPO)
    claude.remember(statement.format("nine"), type="temporary", ttl_seconds=60, project=REPO)
    claude.do("handoff", summary=statement.format("ten"), project=REPO)
    stored = claude.do("remember", content=statement.format("some"), project=REPO)
    assert len(stored["similar"]) == 3
    assert {one["id"] for one in stored["similar"]} <= set(ids)
    for one in stored["similar"]:
        assert {"id", "type", "scope", "content", "source_agent", "trust", "created_at", "score"} <= set(one)
        assert 0.5 <= one["score"] <= 1
    assert all(claude.stored(id).status == "active" for id in ids)
    for type in ("episodic", "temporary"):
        again = claude.do("remember", content=statement.format(type), type=type, ttl_seconds=60, project=REPO)
        assert again["similar"] == []
    assert claude.do("remember", content="Kettles whistle.", project=REPO)["similar"] == []


def test_a_replaced_memory_stays_as_history(claude: Agent) -> None:
    """C-122."""
    old = claude.remember("Use npm.", project=REPO)
    new = claude.do("remember", content="Use pnpm.", project=REPO, supersedes=old)
    before, after = claude.stored(old), claude.stored(new["id"])
    assert (before.status, before.superseded_by) == ("superseded", new["id"])
    assert (after.status, after.supersedes) == ("active", old)
    assert old not in [one["id"] for one in new["similar"]]


def test_what_is_replaced_must_be_active_in_the_same_scope_and_here(claude: Agent) -> None:
    """C-104, C-122: refusals that a model can act on, and nothing stored."""
    old = claude.remember("Use npm.", project=REPO)
    new = claude.do("remember", content="Use pnpm.", project=REPO, supersedes=old)["id"]
    gone = claude.refused("remember", content="Use bun.", project=REPO, supersedes=old)
    assert gone["code"] == "gone"
    assert new in gone["message"], "it names what replaced it"
    elsewhere = claude.refused("remember", content="Use bun.", supersedes=new)
    assert elsewhere["code"] == "conflict"
    assert SCOPE in elsewhere["message"]
    claude.do("forget", id=new)
    assert claude.refused("remember", content="Use bun.", project=REPO, supersedes=new)["code"] == "gone"
    assert claude.refused("remember", content="Use bun.", supersedes=NOWHERE)["code"] == "not-found"
    assert claude.refused("remember", content="Use bun.", supersedes="the npm one")["code"] == "invalid-argument"
    assert claude.recalled("bun", project=REPO) == []


def test_what_cannot_be_replaced_is_said_with_the_way_out(claude: Agent) -> None:
    """C-30: what waits has no active one."""
    waits = claude.remember("Likes short answers.", type="preference")
    assert "waits for a person" in claude.refused("remember", content="Likes long ones.", supersedes=waits)["fix"]
    gone = claude.remember("The build takes an hour.")
    claude.do("forget", id=gone)
    for more in ({}, {"type": "semantic"}):
        refused = claude.refused("remember", content="It takes a minute.", supersedes=gone, **more)
        assert (refused["code"], refused["fix"]) == ("gone", "Remember the new statement without supersedes.")


def test_a_proposed_replacement_leaves_the_old_one_until_it_is_approved(claude: Agent) -> None:
    """C-122, C-136."""
    old = claude.remember("Answer in English.", type="preference")
    claude.approve(old)
    new = claude.do("remember", content="Answer in Korean.", supersedes=old)
    assert (new["type"], new["status"]) == ("preference", "proposed")
    assert [m["id"] for m in claude.do("get_context")["preferences"]] == [old]
    claude.approve(new["id"])
    assert [m["id"] for m in claude.do("get_context")["preferences"]] == [new["id"]]
    assert claude.stored(old).superseded_by == new["id"]


def test_each_session_keeps_one_current_summary(claude: Agent) -> None:
    """C-123: of the same agent; without a session id each is its own."""
    first = claude.as_(session="s-1").remember("Half of the parser is done.", type="episodic", project=REPO)
    claude.as_(session="s-1", agent="codex").remember("Codex looked on.", type="episodic", project=REPO)
    claude.as_(session="s-2").remember("The printer is done.", type="episodic", project=REPO)
    second = claude.as_(session="s-1").remember("The parser is done.", type="episodic", project=REPO)
    assert (claude.stored(first).status, claude.stored(first).superseded_by) == ("superseded", second)
    assert claude.stored(second).supersedes == first
    recent = claude.do("get_context", project=REPO)["recent"]
    assert [m["content"] for m in recent] == ["The parser is done.", "The printer is done.", "Codex looked on."]
    for text in ("One.", "Two."):
        claude.remember(text, type="episodic", project="another")
    assert len(claude.do("get_context", project="another")["recent"]) == 2


def test_the_summaries_of_every_toolset_are_one_list(claude: Agent) -> None:
    """C-123."""
    session = claude.as_(session="s-1")
    reflect(claude.house.rt, session.actor, Reflection("Half is done.", project="github.com/org/repo"))
    session.remember("All is done.", type="episodic", project=REPO)
    assert [m["content"] for m in claude.do("get_context", project=REPO)["recent"]] == ["All is done."]


def test_a_new_preference_waits_for_the_user_and_is_theirs_when_approved(claude: Agent) -> None:
    """C-136, C-50."""
    stored = claude.do("remember", content="Answer in Korean.", type="preference")
    assert stored["status"] == "proposed"
    assert claude.recalled("answer") == []
    assert claude.do("get_context", task="answer")["preferences"] == []
    claude.approve(stored["id"])
    [found] = claude.do("get_context")["preferences"]
    assert (found["id"], found["trust"]) == (stored["id"], "user")


def test_a_preference_that_the_user_rejected_is_not_served(claude: Agent) -> None:
    """C-137."""
    claude.do("remember", content="Answer in Korean.", type="preference")
    [item] = review.pending(claude.house.rt, claude.house.owner)
    review.reject(claude.house.rt, claude.house.owner, item.id, "no")
    assert claude.do("get_context")["preferences"] == []
    assert claude.recalled("answer") == []


def test_with_a_chat_model_a_memory_without_a_type_is_classified(claude: Agent) -> None:
    """C-78, C-276, C-53: with its answer, or the default when it has none; a retry finds the first one either way."""
    with ChatServer({"kind": "code"}) as server:
        chat = HttpChat(ChatEndpoint(server.url, "tester", timeout=5))
        asking = claude.with_runtime(chat=chat)
        stored = asking.do("remember", content="`Heron` nests in nest.py.", project=REPO)
        assert (stored["type"], claude.stored(stored["id"]).attrs["type_source"]) == ("codebase", "model")
        server.says = lambda body: {"kind": "decision"}
        again = asking.do("remember", content="`heron` nests in nest.py", project=REPO)
        assert (again["id"], again["type"], again["deduplicated"]) == (stored["id"], "codebase", True)
        server.says = lambda body: {"kind": "preference"}
        assert asking.do("remember", content="Answer in Korean.")["status"] == "proposed"
        server.says = lambda body: 503
        left = asking.do("remember", content="Herons are counted.", project=REPO)
        assert (left["type"], claude.stored(left["id"]).attrs["type_source"]) == ("project", "default")
        asked = len(server.requests)
        asking.do("remember", content="Herons are grey.", type="semantic")
        asking.do("remember", content="Herons are counted twice.", project=REPO, supersedes=left["id"])
        assert asking.refused("remember", content=f"The token is {TOKEN}.")["code"] == "secret-detected"
        assert len(server.requests) == asked, "who names a type, replaces a memory or tells a secret asks no model"
        chat.close()


def test_with_classify_off_no_model_is_asked_for_the_type(claude: Agent) -> None:
    """C-378."""
    with ChatServer({"kind": "code"}) as server:
        chat = HttpChat(ChatEndpoint(server.url, "tester", timeout=5))
        options = replace(claude.house.rt.options, classify=False)
        stored = claude.with_runtime(chat=chat, options=options).do(
            "remember", content="Nests are in nest.py.", project=REPO
        )
        assert (stored["type"], claude.stored(stored["id"]).attrs["type_source"]) == ("project", "default")
        assert server.requests == []
        chat.close()
