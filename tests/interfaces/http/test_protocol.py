"""The protocol over HTTP, as clients of both eras speak it."""

from __future__ import annotations

import json
import resource
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError
from mcp_types import Implementation

from dolmen.interfaces.mcp.registry import faces
from tests.interfaces.conftest import ERAS, INITIALIZE, Serve, Served, rpc

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

CORE = [tool.name for tool in faces()["core"].tools]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.parametrize("era", ERAS)
async def test_an_agent_remembers_and_another_recalls(served: Served, era: str) -> None:
    async with Client(served.url, mode=era) as agent:
        stored = await agent.call_tool("remember", {"memories": [{"content": "The staging cluster is called heron."}]})
    assert stored.structured_content is not None
    [item] = stored.structured_content["results"]
    async with Client(served.url, mode=era) as other:
        answer = await other.call_tool("recall", {"query": "What is the staging cluster called?"})
    assert not answer.is_error
    assert answer.structured_content is not None
    [claim] = answer.structured_content["claims"]
    assert claim["ref"] == item["ref"]
    assert claim["text"] == "The staging cluster is called heron."


@pytest.mark.parametrize("era", ERAS)
async def test_a_client_is_told_who_serves_it_and_what_it_may_do(served: Served, era: str) -> None:
    async with Client(served.url, mode=era) as agent:
        listed = await agent.list_tools()
        assert [tool.name for tool in listed.tools] == CORE
        assert all(tool.input_schema["type"] == "object" for tool in listed.tools)
        assert all(tool.output_schema is None and tool.title is None for tool in listed.tools)
        if era == "legacy":
            assert agent.instructions == faces()["core"].instructions
            assert agent.server_info.name == "dolmen"


@pytest.mark.parametrize("era", ERAS)
async def test_an_unknown_tool_is_the_protocols_own_error(served: Served, era: str) -> None:
    async with Client(served.url, mode=era) as agent:
        with pytest.raises(MCPError) as caught:
            await agent.call_tool("memorize", {})
    assert caught.value.error.code == -32602
    assert "Unknown tool: memorize" in caught.value.error.message
    assert "remember" in caught.value.error.message


@pytest.mark.parametrize("era", ERAS)
async def test_a_refusal_is_a_result_that_says_what_to_do(served: Served, era: str) -> None:
    """Both as data and as text, since some clients read only one of them."""
    async with Client(served.url, mode=era) as agent:
        answer = await agent.call_tool("read", {"ref": "01900000-0000-7000-8000-000000000000"})
    assert answer.is_error
    assert answer.structured_content is not None
    error = answer.structured_content["error"]
    assert error["code"] == "not-found"
    assert error["fix"]
    [content] = answer.content
    assert content.type == "text"
    assert '"code":"not-found"' in content.text


@pytest.mark.parametrize("era", ERAS)
async def test_two_reads_at_once_over_one_connection_both_answer(served: Served, era: str) -> None:
    """B052."""
    async with Client(served.url, mode=era) as agent:
        await agent.call_tool("remember", {"memories": [{"content": f"Fact number {n} of many."} for n in range(20)]})
        answers: list[Any] = []

        async def ask(tool: str, args: dict[str, Any]) -> None:
            answers.append(await agent.call_tool(tool, args))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(ask, "recall", {"query": "fact number"})
                tasks.start_soon(ask, "browse", {})
    assert len(answers) == 10
    assert not any(answer.is_error for answer in answers)


async def test_the_agent_is_who_the_client_says_it_is_where_no_key_names_it(served: Served) -> None:
    info = Implementation(name="Claude Code", version="2")
    async with Client(served.url, mode="2026-07-28", client_info=info) as agent:
        await agent.call_tool("remember", {"memories": [{"content": "Written by a named client."}]})
        answer = await agent.call_tool("recall", {"query": "named client"})
    assert answer.structured_content is not None
    assert answer.structured_content["claims"][0]["agent"] == "claude-code"


@pytest.mark.parametrize("headers", [{"dolmen-agent": "Codex"}, {"user-agent": "codex/1.2 (linux)"}])
def test_the_older_protocol_names_the_agent_in_a_header(served: Served, headers: dict[str, str]) -> None:
    served.call("remember", headers=headers, memories=[{"content": "Written by a client with a header."}])
    assert served.call("recall", query="header")["claims"][0]["agent"] == "codex"


@pytest.mark.parametrize("agent", ["python-httpx/0.28", "node", "Mozilla/5.0 (X11)", "curl/8.1"])
def test_an_http_library_is_not_mistaken_for_an_agent(served: Served, agent: str) -> None:
    served.call("remember", headers={"user-agent": agent}, memories=[{"content": "Written by a library."}])
    assert served.call("recall", query="library")["claims"][0]["agent"] == "unknown"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/", "/mcp/core", "/mcp/core/"])
def test_every_spelling_of_the_endpoint_answers_without_a_redirect(served: Served, path: str) -> None:
    """B088."""
    assert served.post(INITIALIZE, path).status_code == 200


def test_a_toolset_is_chosen_by_the_path(served: Served) -> None:
    tools = served.post(rpc("tools/list"), "/mcp/openai").json()["result"]["tools"]
    assert [tool["name"] for tool in tools] == ["search", "fetch"]


def test_a_toolset_that_is_not_here_is_named(served: Served) -> None:
    answer = served.post(rpc("tools/list"), "/mcp/nonsense")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "not-found"
    assert "core" in answer.json()["error"]["fix"]


def test_a_stale_session_id_does_not_matter(served: Served) -> None:
    """B085: there are no sessions, so none can be lost in a restart."""
    answer = served.post(rpc("tools/list"), **{"mcp-session-id": "of-a-server-before-this-one"})
    assert answer.status_code == 200
    assert "mcp-session-id" not in served.post(INITIALIZE).headers


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_there_is_no_stream_to_open_and_no_session_to_end(served: Served, method: str) -> None:
    """B085: 405 is what the protocol foresees for a server without them."""
    answer = served.http.request(method, served.url, headers={"accept": "text/event-stream"})
    assert answer.status_code == 405
    assert "POST" in answer.headers["allow"]
    assert "POST each request, with Content-Type: application/json" in answer.json()["error"]["fix"]


@pytest.mark.slow
def test_ten_thousand_clients_that_never_say_goodbye_leave_nothing_behind(serve: Serve) -> None:
    """B087."""
    served = serve(rate_limit=0)
    for _ in range(1000):
        assert served.post(INITIALIZE).status_code == 200
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(9000):
        served.post(INITIALIZE)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 8 * 1024, f"{grown} KiB"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_every_older_revision_is_spoken(served: Served, version: str) -> None:
    asked = {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": version}}
    assert served.post(asked).json()["result"]["protocolVersion"] == version
    listed = served.post(rpc("tools/list"), **{"mcp-protocol-version": version})
    assert [tool["name"] for tool in listed.json()["result"]["tools"]] == CORE


def test_a_batch_is_refused_without_internals(served: Served) -> None:
    answer = served.post([rpc("tools/list"), rpc("ping", 2)])
    assert answer.status_code == 400
    assert answer.json()["error"] == {
        "code": -32600,
        "message": "JSON-RPC batches are not served. Send one request per POST.",
    }


NO_JSON = "The body is no JSON. Send one JSON-RPC message."
NO_MESSAGE = "That is no JSON-RPC request or notification."
NO_ID = "The id of a request is a text or a whole number."


@pytest.mark.parametrize("era", [{}, {"mcp-protocol-version": "2025-06-18"}, {"mcp-protocol-version": "2026-07-28"}])
@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        (b"{", -32700, NO_JSON),
        (b"", -32700, NO_JSON),
        (b"\xff", -32700, NO_JSON),
        (b'"x"', -32600, NO_MESSAGE),
        (b'{"id":1}', -32600, NO_MESSAGE),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, NO_MESSAGE),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600, NO_MESSAGE),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600, NO_ID),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, NO_ID),
    ],
)
def test_what_is_no_message_is_answered_in_our_own_words(
    served: Served, era: dict[str, str], body: bytes, code: int, said: str
) -> None:
    answer = served.post(body, **era)
    assert answer.status_code == 400
    assert answer.json() == {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": said}}


def test_a_notification_that_mentions_an_id_is_none_that_waits_for_an_answer(served: Served) -> None:
    params = {"progressToken": 1, "id": 1, "progress": 1}
    told = {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}
    assert served.post(told).status_code == 202


def test_half_a_character_in_the_arguments_is_understood(served: Served) -> None:
    """JSON can write half of a surrogate pair; it is stored as U+FFFD."""
    body = rb'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"memories":'
    answer = served.post(body + rb'[{"content":"Half a face: \ud83d."}]}}}')
    assert answer.json()["result"]["structuredContent"]["results"][0]["outcome"] == "stored"
    assert served.call("recall", query="Half a face")["claims"][0]["text"] == "Half a face: \ufffd."


def test_half_a_character_in_a_ref_hits_nothing_and_harms_nothing(served: Served) -> None:
    """Also coded twice, which the repair of the message cannot see; the good items of a batch are stored."""
    half = '["\\ud83d"]'
    assert served.call("verify", refs=half, state="verified")["error"]["code"] == "not-found"
    memories = [{"content": "The first."}, {"content": "The second.", "supersedes": half}]
    good, bad = served.call("remember", memories=memories)["results"]
    assert good["outcome"] == "stored"
    assert bad["error"]["code"] == "not-found"


def test_arguments_that_were_understood_otherwise_are_told(served: Served) -> None:
    """B091, B093."""
    answer = served.call("recall", query="x", tags="a,b")
    assert answer["notes"][0] == 'tags was understood as ["a", "b"].'
    answer = served.call("recall", param='{"query": "x"}')
    assert answer["query"] == "x"
    assert answer["notes"][0] == "The arguments were read from inside 'param'."


def test_the_same_answer_comes_as_data_and_as_text(served: Served) -> None:
    served.call("remember", memories=[{"content": "한국어로 적은 사실입니다."}])
    result = served.post(rpc("tools/call", name="recall", arguments={"query": "사실"})).json()["result"]
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    assert "한국어로" in result["content"][0]["text"], "readable, not escaped"
