"""`dolmen mcp`: a real process, spoken to over its standard input and output."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from pathlib import Path

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from dolmen.interfaces.mcp.registry import faces
from tests.interfaces.conftest import ERAS, INITIALIZE, Start, rpc, within

pytestmark = pytest.mark.slow

CORE = [tool.name for tool in faces()["core"].tools]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "Cursor", "version": "1"},
}


def used_cpu(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.anyio
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_client_that_starts_the_server_itself_remembers_and_recalls(
    sqlite_url: str, tmp_path: Path, era: str, anyio_backend: str
) -> None:
    process = StdioServerParameters(
        command=sys.executable,
        args=["-m", "dolmen", "mcp"],
        env={**os.environ, "DOLMEN_DATABASE": sqlite_url, "DOLMEN_EMBEDDER": "none"},
        cwd=tmp_path,
    )
    async with Client(process, mode=era) as agent:
        assert [tool.name for tool in (await agent.list_tools()).tools] == CORE
        await agent.call_tool("remember", {"memories": [{"content": "Stdio works."}]})
        answer = await agent.call_tool("recall", {"query": "stdio"})
    assert answer.structured_content is not None
    assert answer.structured_content["claims"][0]["text"] == "Stdio works."
    assert answer.structured_content["claims"][0]["agent"] == "mcp", "the name that the client gives itself"


def test_the_handshake_does_not_wait_for_the_model(sqlite_url: str, start_stdio: Start) -> None:
    """B202: two seconds of work at most until the tools are listed; the model loads afterwards."""
    server = start_stdio(sqlite_url)
    server.connect()
    listed = server.ask(rpc("tools/list", 2))
    spent = used_cpu(server.process.pid)
    assert [tool["name"] for tool in listed["result"]["tools"]] == CORE
    assert spent < 2
    maps = Path(f"/proc/{server.process.pid}/maps")
    assert within(60, lambda: "onnxruntime" in maps.read_text()), "and then it does load"


@pytest.mark.slow
def test_a_model_that_takes_long_holds_nothing_up(sqlite_url: str, start_stdio: Start) -> None:
    """B202, B210: an endpoint that never answers; the write is stored and the recall goes by words."""
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts connections and never says a word
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        server = start_stdio(sqlite_url, embedder="http", embeddings_url=url, embeddings_model="slow")
        started = time.monotonic()
        server.connect()
        assert time.monotonic() - started < 20
        [stored] = server.call("remember", memories=[{"content": "Written while the model was loading."}])["results"]
        assert stored["outcome"] == "stored"
        answer = server.call("recall", query="Written while the model")
    assert answer["claims"][0]["ref"] == stored["ref"]
    assert answer["partial"] is True


def test_a_model_that_fails_is_told_to_the_agent_and_nothing_is_lost(sqlite_url: str, start_stdio: Start) -> None:
    """B210: a cold process whose model cannot be reached."""
    server = start_stdio(sqlite_url, embedder="http", embeddings_url="http://127.0.0.1:1/v1", embeddings_model="gone")
    server.connect()
    [stored] = server.call("remember", memories=[{"content": "The model is down."}])["results"]
    assert stored["outcome"] == "stored"
    answer = server.call("recall", query="model is down")
    assert answer["claims"][0]["ref"] == stored["ref"]
    assert answer["partial"] is True
    assert any(note.startswith("searched by words only: ") for note in answer["notes"]), "the agent learns why"


def test_standard_output_carries_the_protocol_and_nothing_else(sqlite_url: str, start_stdio: Start) -> None:
    """B096: with every log line there is, and a model that loads meanwhile."""
    server = start_stdio(sqlite_url, log="debug")
    server.connect()
    for number in range(3):
        server.call("remember", memories=[{"content": f"Noise number {number}."}])
    assert within(60, lambda: server.call("recall", query="noise")["index_health"]["legs"] != ["words"])
    code, rest = server.end()
    assert code == 0
    assert rest == b""


@pytest.mark.parametrize(
    "locale",
    [
        {"PYTHONIOENCODING": "cp950", "PYTHONUTF8": "0"},
        pytest.param({"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}, marks=pytest.mark.slow),
    ],
)
def test_the_bytes_are_utf8_whatever_the_locale(sqlite_url: str, start_stdio: Start, locale: dict[str, str]) -> None:
    """B038."""
    server = start_stdio(sqlite_url, environment=locale, embedder="none")
    server.connect()
    server.call("remember", memories=[{"content": "완료 ★ 🎉 naïve"}])
    assert server.call("recall", query="완료")["claims"][0]["text"] == "완료 ★ 🎉 naïve"


@pytest.mark.slow
def test_four_servers_on_one_new_store_all_connect(sqlite_url: str, start_stdio: Start) -> None:
    """B048."""
    servers = [start_stdio(sqlite_url, embedder="none") for _ in range(4)]
    for number, server in enumerate(servers):
        server.connect()
        [stored] = server.call("remember", memories=[{"content": f"Written by server {number}."}])["results"]
        assert stored["outcome"] == "stored"
    for server in servers:
        assert len(server.call("recall", query="written by server")["claims"]) == 4


def test_many_calls_at_once_over_one_pipe_are_all_answered(sqlite_url: str, start_stdio: Start) -> None:
    """B052."""
    server = start_stdio(sqlite_url, embedder="none")
    server.connect()
    for number in range(2, 32):
        tool, args = ("recall", {"query": "x"}) if number % 2 else ("browse", {})
        server.send(rpc("tools/call", number, name=tool, arguments=args))
    answers = [server.read() for _ in range(30)]
    assert sorted(answer["id"] for answer in answers) == list(range(2, 32))
    assert not any(answer["result"].get("isError") for answer in answers)


def test_a_line_that_is_no_json_is_answered_and_the_next_one_served(sqlite_url: str, start_stdio: Start) -> None:
    server = start_stdio(sqlite_url, embedder="none")
    server.connect()
    assert server.ask(b"{broken")["error"]["code"] == -32700
    assert server.ask(b'{"no": "message"}')["error"]["code"] == -32600
    assert server.ask(b"\xff\xfe")["error"]["code"] == -32700
    assert server.ask(rpc("tools/list", 7))["id"] == 7


def test_half_a_character_is_understood(sqlite_url: str, start_stdio: Start) -> None:
    server = start_stdio(sqlite_url, embedder="none")
    server.connect()
    line = rb'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"recall","arguments":{"query":"\ud83d"}}}'
    answer = server.ask(line)
    assert answer["id"] == 2
    assert answer["result"]["structuredContent"]["query"] == "\ufffd"


@pytest.mark.parametrize(("setting", "name"), [({}, "claude-code"), ({"agent": "My Bot"}, "my-bot")])
def test_the_agent_is_named_by_setting_or_by_client(
    sqlite_url: str, start_stdio: Start, setting: dict[str, str], name: str
) -> None:
    server = start_stdio(sqlite_url, embedder="none", **setting)
    hello = {**INITIALIZE, "params": {**INITIALIZE["params"], "clientInfo": {"name": "Claude Code", "version": "1"}}}
    server.ask(hello)
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    server.call("remember", memories=[{"content": "Who wrote this?"}])
    assert server.call("recall", query="who wrote this")["claims"][0]["agent"] == name


def test_the_newer_protocol_needs_no_handshake(sqlite_url: str, start_stdio: Start) -> None:
    server = start_stdio(sqlite_url, embedder="none")
    found = server.ask(rpc("server/discover", 1, _meta=MODERN))
    assert "2026-07-28" in found["result"]["supportedVersions"]
    memories = [{"content": "Written without a handshake."}]
    server.ask(rpc("tools/call", 2, name="remember", arguments={"memories": memories}, _meta=MODERN))
    answer = server.ask(rpc("tools/call", 3, name="recall", arguments={"query": "handshake"}, _meta=MODERN))
    assert answer["result"]["structuredContent"]["claims"][0]["agent"] == "cursor"


def test_a_project_named_in_the_call_is_where_it_is_stored(sqlite_url: str, start_stdio: Start) -> None:
    """B132."""
    server = start_stdio(sqlite_url, "--project", "acme/heron", embedder="none")
    server.connect()
    results = server.call(
        "remember", memories=[{"content": "By default."}, {"content": "By name.", "project": "acme/egret"}]
    )["results"]
    assert [item["scope"] for item in results] == ["project:acme/heron", "project:acme/egret"]
    refused = server.call("remember", memories=[{"content": "x"}], projekt="acme/egret")
    assert refused["error"]["code"] == "invalid-argument"


def test_a_read_only_agent_is_told_so(sqlite_url: str, start_stdio: Start) -> None:
    server = start_stdio(sqlite_url, mode="read", embedder="none")
    server.connect()
    assert server.call("remember", memories=[{"content": "x"}])["error"]["code"] == "read-only"
    assert server.call("recall", query="x")["claims"] == []


def test_the_toolset_is_a_setting(sqlite_url: str, start_stdio: Start) -> None:
    server = start_stdio(sqlite_url, toolset="openai", embedder="none")
    server.connect()
    assert [tool["name"] for tool in server.ask(rpc("tools/list", 2))["result"]["tools"]] == ["search", "fetch"]


@pytest.mark.parametrize("name", ["SIGTERM", pytest.param("SIGINT", marks=pytest.mark.slow)])
def test_a_signal_ends_it_at_once_and_what_was_recalled_is_recorded(
    sqlite_url: str, start_stdio: Start, name: str
) -> None:
    server = start_stdio(sqlite_url, embedder="none")
    server.connect()
    event = server.call("recall", query="anything")["event"]
    server.process.send_signal(getattr(signal, name))
    assert server.process.wait(10) == 0
    next_one = start_stdio(sqlite_url, embedder="none")
    next_one.connect()
    assert "feedback" in next_one.call("feedback", event=event, relevant=False)


def test_a_client_that_closes_its_side_at_once_still_gets_every_answer(sqlite_url: str, start_stdio: Start) -> None:
    """As a script does: `printf … | dolmen mcp`."""
    server = start_stdio(sqlite_url, embedder="none")
    server.send(INITIALIZE)
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    for number in range(2, 22):
        server.send(
            rpc("tools/call", number, name="remember", arguments={"memories": [{"content": f"Note {number}."}]})
        )
    code, rest = server.end()
    answers = [json.loads(line) for line in rest.splitlines()]
    assert code == 0
    assert sorted(answer["id"] for answer in answers) == list(range(1, 22))
    assert not any(answer["result"].get("isError") for answer in answers)


def test_a_client_that_is_gone_ends_it(sqlite_url: str, start_stdio: Start) -> None:
    server = start_stdio(sqlite_url, embedder="none")
    server.connect()
    assert server.end() == (0, b"")


@pytest.mark.slow
def test_a_thousand_calls_do_not_grow_it(sqlite_url: str, start_stdio: Start) -> None:
    server = start_stdio(sqlite_url, embedder="none")
    server.connect()

    def memory() -> int:
        lines = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
        return int(next(line.split()[1] for line in lines if line.startswith("VmRSS")))

    for _ in range(300):
        server.call("browse")
    before = memory()
    for _ in range(1000):
        server.call("browse")
    assert memory() - before < 4096, "KiB"
