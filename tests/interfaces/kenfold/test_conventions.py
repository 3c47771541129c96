"""The conventions of Kenfold's tool document: projects, types, status, agents, access, errors, secrets, sessions."""

from __future__ import annotations

from typing import Any

import pytest

from dolmen.domain.memory import KINDS
from dolmen.domain.values import SECOND
from dolmen.interfaces.mcp.toolsets.kenfold.types import KINDS_OF, TYPES, type_of
from tests.interfaces.kenfold.conftest import REPO, SCOPE, Agent

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
NOWHERE = "01900000-0000-7000-8000-000000000000"


def test_every_spelling_of_a_remote_is_one_project(claude: Agent) -> None:
    """C-26, C-27, C-30."""
    spellings = (
        "https://github.com/Org/Repo.git",
        "git@github.com:org/repo",
        "ssh://git@github.com:22/org/repo/",
        "https://user:token@github.com/org/repo?tab=x",
        "github.com/org/repo",
    )
    for number, spelling in enumerate(spellings):
        claude.remember(f"The build uses make {number}.", project=spelling)
    found = claude.do("recall", query="build", project="git@github.com:Org/Repo.git")["memories"]
    assert [m["scope"] for m in found] == [SCOPE] * len(spellings)


def test_a_project_without_a_remote_has_a_name_of_its_own(claude: Agent) -> None:
    """C-26."""
    claude.remember("The build uses make.", project="My Notes")
    [found] = claude.do("recall", query="build", project=" my notes ")["memories"]
    assert found["scope"] == "project:my notes"


def test_without_a_project_a_memory_is_the_users_and_every_project_reads_it(claude: Agent) -> None:
    """C-28: also for a connection that has a default project."""
    inside = claude.as_(project="github.com/org/repo")
    inside.remember("Kettles boil at one hundred degrees.")
    inside.remember("Kettles whistle.", project=REPO)
    [found] = claude.do("recall", query="kettles")["memories"]
    assert (found["scope"], found["content"]) == ("user", "Kettles boil at one hundred degrees.")
    assert len(claude.recalled("kettles", project=REPO)) == 2
    assert claude.recalled("kettles", project="another") == ["Kettles boil at one hundred degrees."]
    assert inside.recalled("kettles") == ["Kettles boil at one hundred degrees."]


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("remember", {"content": "x y"}),
        ("recall", {"query": "x"}),
        ("get_context", {}),
        ("handoff", {"summary": "x"}),
        ("resume", {}),
    ],
)
def test_a_local_path_is_no_project(claude: Agent, tool: str, args: dict[str, Any]) -> None:
    """C-29."""
    for path in ("/home/me/repo", "~/repo", "C:\\work\\repo", "file:///srv/repo", "../repo"):
        assert claude.refused(tool, project=path, **args)["code"] == "invalid-project"


def test_every_kind_has_one_type_and_every_type_reads_back_as_written() -> None:
    """C-49: both ways without loss, for memories of every toolset."""
    assert sorted(kind for kinds in KINDS_OF.values() for kind in kinds) == sorted(KINDS)
    assert [type_of(KINDS_OF[type][0]) for type in TYPES] == list(TYPES)
    assert TYPES == ("semantic", "episodic", "project", "preference", "codebase", "temporary")


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("project", [None, REPO])
def test_a_memory_keeps_the_type_that_it_was_written_with(claude: Agent, type: str, project: str | None) -> None:
    """C-49, C-52, C-76."""
    where = {} if project is None else {"project": project}
    stored = claude.do("remember", content="Herons nest early.", type=type, ttl_seconds=60, **where)
    assert stored["type"] == type
    if type == "preference":
        claude.approve(stored["id"])
    [found] = claude.do("recall", query="herons", types=[type], **where)["memories"]
    assert (found["id"], found["type"]) == (stored["id"], type)
    others = [other for other in TYPES if other != type]
    assert claude.do("recall", query="herons", types=others, **where)["memories"] == []


def test_only_active_unexpired_memories_are_served(claude: Agent) -> None:
    """C-51."""
    claude.remember("Herons nest in May.", ttl_seconds=60)
    old = claude.remember("Herons nest in June.")
    claude.remember("Herons nest in July.", supersedes=old)
    claude.do("forget", id=claude.remember("Herons nest in August."))
    claude.remember("Herons please me.", type="preference")
    assert sorted(claude.recalled("herons nest")) == ["Herons nest in July.", "Herons nest in May."]
    claude.house.clock.advance(61 * SECOND)
    assert claude.recalled("herons nest") == ["Herons nest in July."]


def test_the_calling_agent_is_the_connections_and_no_argument(claude: Agent) -> None:
    """C-31."""
    assert claude.refused("remember", content="I am root.", source_agent="root")["code"] == "invalid-argument"
    claude.as_(agent="codex").remember("Codex wrote this.")
    [found] = claude.do("recall", query="codex wrote")["memories"]
    assert (found["source_agent"], found["trust"]) == ("codex", "agent")


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("remember", {"content": "Written by a reader."}),
        ("handoff", {"summary": "Written by a reader."}),
        ("resume", {}),
        ("forget", {"id": NOWHERE}),
    ],
)
def test_read_only_access_is_told_so_by_the_tools_that_write(claude: Agent, tool: str, args: dict[str, Any]) -> None:
    """C-294."""
    error = claude.as_(mode="read").refused(tool, **args)
    assert error["code"] == "read-only"
    assert "only read" in error["message"]


def test_read_only_access_reads(claude: Agent) -> None:
    """C-287, C-294."""
    claude.remember("Herons nest early.")
    reader = claude.as_(mode="read")
    assert reader.recalled("herons") == ["Herons nest early."]
    assert reader.do("get_context", task="herons")["relevant"]


@pytest.mark.parametrize(
    ("tool", "args", "named"),
    [
        ("remember", {}, "content"),
        ("remember", {"content": "x", "type": "opinion"}, "type"),
        ("remember", {"content": "x", "colour": "red"}, "colour"),
        ("recall", {}, "query"),
        ("recall", {"query": "x", "types": ["opinion"]}, "types"),
        ("recall", {"query": "x", "limit": "many"}, "limit"),
        ("handoff", {}, "summary"),
        ("forget", {}, "id"),
        ("get_context", {"budget_tokens": "much"}, "budget_tokens"),
        ("resume", {"id": "x"}, "id"),
    ],
)
def test_invalid_arguments_never_reach_a_handler(claude: Agent, tool: str, args: dict[str, Any], named: str) -> None:
    """C-336: refused by the schema, and by name."""
    error = claude.refused(tool, **args)
    assert error["code"] == "invalid-argument"
    assert named in error["message"]


def test_internal_failures_say_nothing_private(claude: Agent) -> None:
    """C-336: the store is closed under the tool's feet."""
    claude.house.rt.store.close()
    error = claude.refused("recall", query="x")
    assert error["code"] in ("internal", "unavailable")
    assert str(claude.house.url).rpartition("/")[2] not in str(error)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("remember", {"content": f"The token is {TOKEN}."}),
        ("handoff", {"summary": f"The token is {TOKEN}."}),
        ("handoff", {"summary": "Go on.", "next_steps": ["log in", f"use {TOKEN}"]}),
    ],
)
def test_secrets_are_refused_by_kind_and_never_repeated(claude: Agent, tool: str, args: dict[str, Any]) -> None:
    """C-300."""
    error = claude.refused(tool, **args)
    assert error["code"] == "secret-detected"
    assert "GitHub" in error["message"] or "github" in error["message"]
    assert TOKEN not in str(error)


def test_a_secret_in_a_reason_or_a_query_is_redacted_instead(claude: Agent) -> None:
    """C-300."""
    id = claude.remember("Herons nest early.")
    assert claude.do("forget", id=id, reason=f"leaked {TOKEN}") == {"id": id, "status": "deleted"}
    kept = claude.stored(id).attrs["forget_reason"]
    assert kept.startswith("leaked [redacted")
    assert TOKEN not in kept
    claude.do("recall", query=f"where is {TOKEN}")
    claude.house.rt.journal.flush()
    with claude.house.rt.store.read() as tx:
        assert TOKEN not in str(list(tx.journal.recalled("main")))


def test_what_is_written_in_a_session_keeps_its_id(claude: Agent) -> None:
    """C-32."""
    id = claude.as_(session="s-1").remember("Herons nest early.")
    assert claude.stored(id).session == "s-1"


def test_what_the_core_toolset_wrote_has_a_type_here(claude: Agent) -> None:
    """C-49: no memory of this vault is invisible or breaks a view."""
    for kind in KINDS:
        if kind != "preference":
            claude.house.stored(f"Herons as {kind}.", claude.actor, kind=kind, project=REPO)
    types = {m["content"]: m["type"] for m in claude.do("recall", query="herons", project=REPO, limit=50)["memories"]}
    assert types["Herons as error."] == "semantic"
    assert types["Herons as convention."] == "project"
    assert types["Herons as state."] == "temporary"
    assert len(types) == len(KINDS) - 1
