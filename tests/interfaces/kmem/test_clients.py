"""Clients that were written for kmem, over HTTP and stdio: real servers, real clients, both eras of the protocol."""

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
from tests.interfaces.conftest import ERAS, Serve, Served, rpc

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

TOOLS = {
    "recall": (
        ["query", "budget_tokens", "types", "since", "include_superseded", "include_unverified"],
        ["query"],
        (True, False, True, False),
    ),
    "read": (["ref", "section"], ["ref"], (True, False, True, False)),
    "browse": (["path", "depth", "changed_since", "queued"], [], (True, False, True, False)),
    "remember": (
        ["content", "kind", "title", "folder", "permalink", "links", "supersedes"],
        ["content", "kind"],
        (False, False, False, False),
    ),
    "edit": (
        ["ref", "op", "content", "key", "value", "reason", "expected_sha"],
        ["ref", "op"],
        (False, True, False, False),
    ),
    "verify": (["ref", "refs", "state", "note"], ["state"], (False, False, True, False)),
    "link": (["from", "rel_type", "to"], ["from", "rel_type", "to"], (False, False, True, False)),
}
"""Name: parameters, required ones, and the four hints as the document's table has them."""

SAID = (
    "kmem is this team's knowledge base. Call recall before answering anything about this project, and remember "
    "anything that would otherwise need re-explaining next session. When recall returns gaps, say what is missing "
    "rather than filling it in."
)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def keyed(served: Served, path: str = "/mcp", era: str = "auto", **key: Any) -> AsyncIterator[Client]:
    """A client with a key of its own for kmem's tools."""
    headers = {"authorization": f"Bearer {served.key(toolset='kmem', **key)}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=20) as http,
        Client(streamable_http_client(served.base + path, http_client=http), mode=era) as client,
    ):
        yield client


def result(answer: CallToolResult, *, failed: bool = False) -> dict[str, Any]:
    """The structured result, which the text says too."""
    assert answer.is_error is failed, answer.structured_content
    [content] = answer.content
    assert content.type == "text"
    assert answer.structured_content is not None
    assert json.loads(content.text) == answer.structured_content
    return answer.structured_content


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_finds_the_seven_tools_as_documented(served: Served, era: str) -> None:
    """C-285, C-288, C-330: names, parameters, what is required, annotations, and what it says at connect time."""
    async with Client(served.base + "/mcp/kmem", mode=era) as agent:
        listed = {tool.name: tool for tool in (await agent.list_tools()).tools}
        if era == "legacy":
            assert agent.instructions == SAID
    assert list(listed) == list(TOOLS)
    for name, (parameters, required, hints) in TOOLS.items():
        schema = listed[name].input_schema
        assert (list(schema["properties"]), schema.get("required", [])) == (parameters, required)
        assert listed[name].title is None
        assert listed[name].output_schema is None
        said = listed[name].annotations
        assert said is not None
        assert (said.read_only_hint, said.destructive_hint, said.idempotent_hint, said.open_world_hint) == hints


@pytest.mark.parametrize("era", ERAS)
async def test_every_tool_answers_over_http(served: Served, era: str) -> None:
    """C-191: `content` and `structuredContent` hold the same object; a refusal is a result (C-343)."""
    async with keyed(served, era=era) as agent:
        note = {"content": "We use cookies, not JWT.", "kind": "decision", "title": "Auth", "folder": "backend"}
        made = result(await agent.call_tool("remember", note))
        assert (made["outcome"], made["ref"]) == ("created", "kmem://backend/auth")
        [claim] = result(await agent.call_tool("recall", {"query": "cookies or JWT"}))["claims"]
        assert claim["provenance"]["author"] == "codex"
        read = result(await agent.call_tool("read", {"ref": "sp://backend/auth"}))
        sha = made["content_sha"]
        assert read["content_sha"] == sha
        assert result(await agent.call_tool("browse", {}))["folders"] == [{"path": "backend", "notes": 1}]
        edited = {
            "ref": made["ref"],
            "op": "append",
            "content": "- [note] Revocable.",
            "expected_sha": read["content_sha"],
        }
        assert result(await agent.call_tool("edit", edited))["outcome"] == "updated"
        marks = {"ref": claim["ref"], "state": "verified", "note": "seen"}
        assert result(await agent.call_tool("verify", marks))["marked"] == 1
        edge = {"from": "backend/auth", "rel_type": "depends_on", "to": "backend/session-store"}
        assert result(await agent.call_tool("link", edge))["resolved"] is False
        error = result(await agent.call_tool("read", {"ref": "nowhere"}), failed=True)
        assert set(error["error"]) == {"code", "message", "fix"}
        assert error["error"]["code"] == "note-not-found"


@pytest.mark.parametrize("engine", ENGINES)
async def test_one_agent_over_http_and_one_over_stdio_share_their_notes(
    serve: Serve, new_store: Any, tmp_path: Path, engine: str
) -> None:
    database = new_store(engine)
    served = serve(engine, database=database)
    environment = {"DOLMEN_DATABASE": database, "DOLMEN_EMBEDDER": "none", "DOLMEN_TOOLSET": "kmem"}
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "dolmen", "mcp"], env={**os.environ, **environment}, cwd=tmp_path
    )
    async with keyed(served) as one, Client(started) as other:
        assert [tool.name for tool in (await other.list_tools()).tools] == list(TOOLS)
        made = result(await one.call_tool("remember", {"content": "Herons nest.", "kind": "note", "title": "Herons"}))
        sha = result(await other.call_tool("read", {"ref": "herons"}))["content_sha"]
        assert sha == made["content_sha"]
        result(await one.call_tool("edit", {"ref": "herons", "op": "append", "content": "Early."}))
        late = {"ref": "herons", "op": "replace_note", "content": "Herons do not nest.", "expected_sha": sha}
        waits = result(await other.call_tool("edit", late))
        assert waits["outcome"] == "queued"
        assert [p["id"] for p in result(await other.call_tool("browse", {"queued": True}))["queued"]] == [
            waits["proposal"]
        ]
        taken = {"ref": waits["proposal"], "op": "withdraw"}
        assert result(await other.call_tool("edit", taken))["outcome"] == "withdrawn"


# ---------------------------------------------------------------------------------------------------------- at the door
WRITES = {
    "remember": {"content": "x", "kind": "note"},
    "edit": {"ref": "x", "op": "append", "content": "x"},
    "verify": {"ref": "x", "state": "stale"},
    "link": {"from": "x", "rel_type": "blocks", "to": "y"},
}


@pytest.mark.parametrize("tool", WRITES)
def test_a_reading_connection_is_told_which_scope_a_writing_tool_needs(served: Served, tool: str) -> None:
    """C-313, C-147: 403 with the challenge, for the four writing tools and no other."""
    key = {"authorization": f"Bearer {served.key(toolset='kmem', mode='read')}"}
    answer = served.post(rpc("tools/call", name=tool, arguments=WRITES[tool]), **key)
    assert answer.status_code == 403
    assert answer.headers["www-authenticate"] == 'Bearer error="insufficient_scope", scope="suggest"'
    error = answer.json()["error"]
    assert (error["code"], bool(error["fix"])) == ("read-only", True)
    assert served.post(rpc("tools/call", name="browse", arguments={}), **key).status_code == 200
    assert served.post(rpc("tools/list"), **key).status_code == 200
    modest = {"authorization": f"Bearer {served.key(toolset='kmem', mode='suggest')}"}
    assert served.post(rpc("tools/call", name=tool, arguments=WRITES[tool]), **modest).status_code == 200


@pytest.mark.parametrize("written", [b"tools\\/call", b"\\u0074ools/call"])
def test_a_call_is_known_however_its_name_is_written(served: Served, written: bytes) -> None:
    """C-313, C-342: some languages write a slash with a backslash in JSON; it is the same text."""
    key = {"authorization": f"Bearer {served.key(toolset='kmem', mode='read')}"}
    body = json.dumps(rpc("tools/call", name="remember", arguments=WRITES["remember"])).encode()
    assert served.post(body.replace(b"tools/call", written), **key).status_code == 403


def test_the_challenge_names_where_to_sign_in_where_that_is_possible(serve: Serve) -> None:
    """C-313: a client that signed in is told that it widens its connection only through a new approval."""
    served = serve(public_url="https://memory.example.com")
    key = {"authorization": f"Bearer {served.key(toolset='kmem', mode='read')}"}
    answer = served.post(rpc("tools/call", name="remember", arguments=WRITES["remember"]), **key)
    assert answer.status_code == 403
    assert answer.headers["www-authenticate"] == (
        'Bearer error="insufficient_scope", scope="suggest", '
        'resource_metadata="https://memory.example.com/.well-known/oauth-protected-resource/mcp"'
    )
    assert "new approval" in answer.json()["error"]["fix"]


def test_the_other_toolsets_answer_a_reading_connection_in_the_result(served: Served) -> None:
    key = {"authorization": f"Bearer {served.key(mode='read')}"}
    call = rpc("tools/call", name="remember", arguments={"memories": [{"content": "x"}]})
    answer = served.post(call, **key)
    assert answer.status_code == 200
    assert answer.json()["result"]["structuredContent"]["error"]["code"] == "read-only"


def test_get_and_delete_answer_405(served: Served) -> None:
    """No session to resume or to delete."""
    for method in ("GET", "DELETE"):
        assert served.http.request(method, served.base + "/mcp/kmem").status_code == 405
