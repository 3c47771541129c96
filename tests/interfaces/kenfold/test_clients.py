"""Clients that were written for Kenfold, over HTTP and stdio: real servers, real clients, both eras of the protocol."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult

from tests.conftest import ENGINES
from tests.interfaces.conftest import ERAS, INITIALIZE, Serve, Served, Start, rpc
from tests.interfaces.kenfold.conftest import KENFOLD, REPO, SCOPE

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TOOLS = {
    "get_context": (["task", "project", "budget_tokens"], []),
    "remember": (["content", "type", "project", "supersedes", "ttl_seconds"], ["content"]),
    "recall": (["query", "types", "project", "limit"], ["query"]),
    "handoff": (["summary", "next_steps", "project", "ttl_seconds"], ["summary"]),
    "resume": (["project"], []),
    "forget": (["id", "reason"], ["id"]),
}
"""Name: parameters, required ones."""

TYPES = ["semantic", "episodic", "project", "preference", "codebase", "temporary"]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def keyed(served: Served, agent: str, path: str = "/mcp", era: str = "auto", **key: Any) -> AsyncIterator[Client]:
    """A client with a key of its own, as `dolmen key create` makes it."""
    headers = {"authorization": f"Bearer {served.key(agent, **key)}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        Client(streamable_http_client(served.base + path, http_client=http), mode=era) as client,
    ):
        yield client


def result(answer: CallToolResult) -> dict[str, Any]:
    """The structured result, which the text says too."""
    assert not answer.is_error, answer.structured_content
    [content] = answer.content
    assert content.type == "text"
    assert answer.structured_content is not None
    assert json.loads(content.text) == answer.structured_content
    return answer.structured_content


def refusal(answer: CallToolResult) -> dict[str, Any]:
    assert answer.is_error
    [content] = answer.content
    assert content.type == "text"
    assert answer.structured_content is not None
    assert json.loads(content.text) == answer.structured_content
    error: dict[str, Any] = answer.structured_content["error"]
    return error


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_finds_the_six_tools_as_documented(served: Served, era: str) -> None:
    """C-76, C-77, C-124, C-148, C-194, C-202, C-203, C-287: names, parameters, what is required, annotations."""
    async with Client(served.base + "/mcp/kenfold", mode=era) as agent:
        listed = {tool.name: tool for tool in (await agent.list_tools()).tools}
        if era == "legacy":
            assert agent.instructions is not None
            assert len(agent.instructions) < 512, "some clients read no more"
    assert list(listed) == list(TOOLS)
    for name, (parameters, required) in TOOLS.items():
        schema = listed[name].input_schema
        assert (list(schema["properties"]), schema.get("required", [])) == (parameters, required)
        assert schema["additionalProperties"] is False
    content = listed["remember"].input_schema["properties"]["content"]
    assert content["description"] == "self-contained statement, at most 8000 characters"
    assert listed["remember"].input_schema["properties"]["type"]["enum"] == TYPES
    assert listed["recall"].input_schema["properties"]["types"]["items"]["enum"] == TYPES
    hints = {name: tool.annotations for name, tool in listed.items()}
    assert [name for name, hint in hints.items() if hint and hint.read_only_hint] == ["get_context", "recall"]
    assert [name for name, hint in hints.items() if hint and hint.idempotent_hint] == ["remember", "resume", "forget"]
    assert hints["forget"] is not None
    assert hints["forget"].destructive_hint is True, "said, since some clients do not assume what the protocol does"
    assert all(hints[name].destructive_hint is False for name in ("remember", "handoff", "resume"))  # type: ignore[union-attr]


@pytest.mark.parametrize("era", ERAS)
async def test_every_tool_answers_over_http(served: Served, era: str) -> None:
    """C-52, C-336: text and structured content say the same."""
    async with Client(served.base + "/mcp/kenfold", mode=era) as agent:
        stored = result(await agent.call_tool("remember", {"content": "Herons nest early.", "project": REPO}))
        assert (stored["type"], stored["status"]) == ("project", "active")
        recalled = result(await agent.call_tool("recall", {"query": "herons", "project": "git@github.com:org/repo"}))
        assert [(m["id"], m["scope"]) for m in recalled["memories"]] == [(stored["id"], SCOPE)]
        left = result(await agent.call_tool("handoff", {"summary": "Half done.", "next_steps": ["a"], "project": REPO}))
        context = result(await agent.call_tool("get_context", {"project": REPO}))
        assert context["handoff"]["id"] == left["id"]
        assert result(await agent.call_tool("resume", {"project": REPO}))["handoff"]["next_steps"] == ["a"]
        gone = result(await agent.call_tool("forget", {"id": stored["id"], "reason": "wrong"}))
        assert gone == {"id": stored["id"], "status": "deleted"}
        assert refusal(await agent.call_tool("remember", {"content": "x", "type": "opinion"}))["code"] == (
            "invalid-argument"
        )
        assert refusal(await agent.call_tool("forget", {"id": "x"}))["fix"]


async def test_a_key_made_for_the_toolset_needs_only_the_url(served: Served) -> None:
    """C-294: the switch is a URL and a key; a read-only key sees every tool and is told what it may not do."""
    async with keyed(served, "codex", toolset="kenfold") as codex:
        assert [tool.name for tool in (await codex.list_tools()).tools] == list(TOOLS)
        result(await codex.call_tool("remember", {"content": "Codex wrote this."}))
    async with keyed(served, "chatgpt", toolset="kenfold", mode="read") as reader:
        assert [tool.name for tool in (await reader.list_tools()).tools] == list(TOOLS)
        [found] = result(await reader.call_tool("recall", {"query": "codex wrote"}))["memories"]
        assert found["source_agent"] == "codex"
        for tool, args in (
            ("remember", {"content": "x"}),
            ("handoff", {"summary": "x"}),
            ("resume", {}),
            ("forget", {"id": found["id"]}),
        ):
            error = refusal(await reader.call_tool(tool, args))
            assert (error["code"], "only read" in error["message"]) == ("read-only", True)


@pytest.mark.parametrize("era", ERAS)
async def test_a_session_named_in_meta_keeps_one_summary(served: Served, era: str) -> None:
    """C-32, C-123: as `kenfold hook` sends it."""
    async with keyed(served, "claude-code", "/mcp/kenfold", era) as hook:
        for session, text in (("s-1", "Half done."), ("s-2", "Another."), ("s-1", "All done.")):
            arguments = {"content": text, "type": "episodic", "project": REPO}
            meta: Any = {"kenfold/session_id": session}
            result(await hook.call_tool("remember", arguments, meta=meta))
        recent = result(await hook.call_tool("get_context", {"project": REPO}))["recent"]
    assert [m["content"] for m in recent] == ["All done.", "Another."]


def stdio(database: str, folder: Path, **environment: str) -> StdioServerParameters:
    """`dolmen mcp` as a client of Kenfold's would start it."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "dolmen", "mcp"],
        env={
            **os.environ,
            "DOLMEN_DATABASE": database,
            "DOLMEN_EMBEDDER": "none",
            "DOLMEN_TOOLSET": "kenfold",
            **environment,
        },
        cwd=folder,
    )


@pytest.mark.parametrize("engine", ENGINES)
async def test_two_agents_hand_work_to_each_other_over_http_and_stdio(
    serve: Serve, new_store: Any, tmp_path: Path, engine: str
) -> None:
    """C-202, C-203, C-31: one with a key over HTTP, one that its client starts; back and forth, on one store."""
    database = new_store(engine)
    served = serve(engine, database=database)
    async with (
        keyed(served, "claude-code", "/mcp/kenfold") as claude,
        Client(stdio(database, tmp_path, KENFOLD_AGENT="codex")) as codex,
    ):
        steps = ["fix the lexer", "add tests"]
        note = {"summary": "The parser is half done.", "next_steps": steps, "project": REPO}
        first = result(await claude.call_tool("handoff", note))
        rule = result(await claude.call_tool("remember", {"content": "Use pnpm.", "project": REPO}))

        start = result(
            await codex.call_tool("get_context", {"task": "go on", "project": "git@github.com:org/repo.git"})
        )
        assert (start["handoff"]["id"], start["handoff"]["source_agent"]) == (first["id"], "claude-code")
        assert [m["id"] for m in start["project"]] == [rule["id"]]
        taken = result(await codex.call_tool("resume", {"project": REPO}))["handoff"]
        assert (taken["next_steps"], taken["resumed_by"]) == (steps, "codex")
        second = result(await codex.call_tool("handoff", {"summary": "The lexer is fixed.", "project": REPO}))
        newer = {"content": "Use pnpm 9.", "project": REPO, "supersedes": rule["id"]}
        result(await codex.call_tool("remember", newer))

        back = result(await claude.call_tool("resume", {"project": REPO}))["handoff"]
        assert (back["id"], back["content"]) == (second["id"], "The lexer is fixed.")
        assert (back["source_agent"], back["resumed_by"]) == ("codex", "claude-code")
        again = result(await codex.call_tool("resume", {"project": REPO}))["handoff"]
        assert again["resumed_by"] == "claude-code", "the first who took it stays"
        found = result(await claude.call_tool("recall", {"query": "pnpm", "project": REPO}))["memories"]
        assert [(m["content"], m["source_agent"]) for m in found] == [("Use pnpm 9.", "codex")]
        assert "handoff" not in result(await claude.call_tool("get_context", {"project": REPO}))


@pytest.mark.parametrize(
    ("environment", "name"),
    [
        ({}, "claude-code"),
        ({"KENFOLD_AGENT": "codex"}, "codex"),
        ({"KENFOLD_AGENT": "codex", "DOLMEN_AGENT": "gemini"}, "gemini"),
    ],
)
def test_over_stdio_the_agent_is_named_by_setting_or_by_client(
    sqlite_url: str, start_stdio: Start, environment: dict[str, str], name: str
) -> None:
    """C-31."""
    server = start_stdio(sqlite_url, embedder="none", toolset="kenfold", environment=environment)
    hello = {**INITIALIZE, "params": {**INITIALIZE["params"], "clientInfo": {"name": "Claude Code", "version": "1"}}}
    server.ask(hello)
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    server.call("remember", content="Who wrote this?")
    assert server.call("recall", query="who wrote this")["memories"][0]["source_agent"] == name


def test_in_a_repository_a_memory_without_a_project_is_still_the_users(sqlite_url: str, start_stdio: Start) -> None:
    """C-28: the toolset's rule, whatever the connection's default project is."""
    server = start_stdio(sqlite_url, "--project", "github.com/org/repo", embedder="none", toolset="kenfold")
    server.connect()
    server.call("remember", content="Herons nest early.")
    assert server.call("recall", query="herons")["memories"][0]["scope"] == "user"


def test_what_the_tools_cost_is_told(served: Served) -> None:
    """B172."""
    footprint = served.http.get(served.base + "/health").json()["footprint"]["kenfold"]
    assert footprint["tools"] == len(KENFOLD.tools) == 6
    listed = served.post(rpc("tools/list"), "/mcp/kenfold").json()["result"]["tools"]
    assert [tool["name"] for tool in listed] == list(TOOLS)
