"""`dolmen serve` as a process: what it says, when it answers, how it ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dolmen.store.opening import open_store

pytestmark = pytest.mark.slow


@contextmanager
def serving(url: str, *words: str, **settings: str) -> Iterator[subprocess.Popen[str]]:
    variables = {f"DOLMEN_{name.upper()}": value for name, value in settings.items()}
    with subprocess.Popen(
        [sys.executable, "-m", "dolmen", "serve", "--port", "0", *words],
        env={**os.environ, "DOLMEN_DATABASE": url, "DOLMEN_EMBEDDER": "none", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str], last: str) -> str:
    """Standard output up to the line that starts so."""
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith(last):
            break
    return "".join(lines)


def test_it_says_where_it_is_and_how_each_client_is_connected_and_ends_when_told(sqlite_url: str) -> None:
    with serving(sqlite_url) as process:
        told = said(process, "Ctrl-C")
        address = told.split("Dolmen serves http://")[1].split("/mcp")[0]
        assert "this machine only, no key needed" in told
        assert sqlite_url.removeprefix("sqlite:///") in told
        for client in ("Claude Code", "Codex", "Cursor", "VS Code", "Gemini CLI"):
            assert f"\n{client}" in told
        assert f"claude mcp add --scope user --transport http dolmen http://{address}/mcp" in told
        connection = http.client.HTTPConnection(address, timeout=10)
        connection.request("GET", "/health")
        assert json.loads(connection.getresponse().read())["status"] == "ok"
        connection.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_what_was_noted_a_moment_ago_is_written_when_it_ends(sqlite_url: str, how: signal.Signals) -> None:
    with serving(sqlite_url) as process:
        address = said(process, "Ctrl-C").split("Dolmen serves http://")[1].split("/mcp")[0]
        connection = http.client.HTTPConnection(address, timeout=10)
        call = {"name": "recall", "arguments": {"query": "when do we deploy"}}
        connection.request(
            "POST",
            "/mcp",
            body=json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}),
            headers={"Content-Type": "application/json", "Accept": "application/json, text/event-stream"},
        )
        answer = json.loads(connection.getresponse().read())
        connection.close()
        process.send_signal(how)
        assert process.wait(20) == 0
    event = answer["result"]["structuredContent"]["event"]
    store = open_store(sqlite_url)
    with store.read() as tx:
        [(vault, _)] = tx.accounts.vaults()
        assert tx.journal.event(vault, event) is not None
    store.close()


def test_with_keys_the_recipes_show_where_the_key_goes(sqlite_url: str) -> None:
    with serving(sqlite_url, "--auth", "keys") as process:
        told = said(process, "Ctrl-C")
    assert "with a key: dolmen key create AGENT" in told
    assert "Authorization: Bearer dlm_" in told


def test_its_log_is_json_on_standard_error_alone(sqlite_url: str, tmp_path: Path) -> None:
    file = tmp_path / "logs" / "dolmen.log"
    with serving(sqlite_url, "--json", log_format="json", log_file=str(file)) as process:
        assert process.stdout is not None
        first = ""
        while not first.endswith("}\n"):
            first += process.stdout.readline()
        port = json.loads(first)["port"]
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/health")
        connection.getresponse().read()
        connection.close()
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        assert process.stdout.read() == ""
        assert process.stderr is not None
        lines = [json.loads(line) for line in process.stderr.read().splitlines()]
    assert {"time", "level", "logger", "message"} <= set(lines[0])
    assert any("/health" in str(line) for line in lines)
    assert [json.loads(line) for line in file.read_text().splitlines()] == lines


def test_a_port_that_is_taken_is_told_before_anything_starts(sqlite_url: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run(
            [sys.executable, "-m", "dolmen", "serve", "--port", port],
            env={**os.environ, "DOLMEN_DATABASE": sqlite_url, "DOLMEN_EMBEDDER": "none"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 7
    assert f"127.0.0.1:{port}" in done.stderr
    assert "fix:" in done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_it_listens_to_the_network_only_with_a_key(sqlite_url: str, host: str) -> None:
    """B199."""
    environment = {**os.environ, "DOLMEN_DATABASE": sqlite_url, "DOLMEN_EMBEDDER": "none"}
    run = [sys.executable, "-m", "dolmen"]
    refused = subprocess.run(
        [*run, "serve", "--host", host, "--port", "0"], env=environment, capture_output=True, text=True, check=False
    )
    assert refused.returncode == 7
    assert "dolmen key create" in refused.stderr
    subprocess.run([*run, "key", "create", "codex"], env=environment, capture_output=True, check=True)
    with serving(sqlite_url, "--host", host) as process:
        told = said(process, "Ctrl-C")
        address = told.split("Dolmen serves http://")[1].split("/mcp")[0]
        connection = http.client.HTTPConnection(address, timeout=10)
        connection.request("POST", "/mcp", body="{}", headers={"Content-Type": "application/json"})
        assert connection.getresponse().status == 401
        connection.close()


def test_where_people_sign_in_it_says_so_and_needs_no_key_to_begin_with(sqlite_url: str) -> None:
    with serving(sqlite_url, "--host", "0.0.0.0", public_url="https://memory.example.com") as process:
        told = said(process, "Ctrl-C")
        assert "access  by signing in from the client, or with a key" in told
        assert "without the key in the lines below, a client asks you to sign in" in told
        assert "https://memory.example.com/enter/" in told
    with serving(sqlite_url, "--host", "0.0.0.0", public_url="https://memory.example.com", oauth="off") as process:
        _, errors = process.communicate(timeout=30)
        assert "there is no key yet" in errors
