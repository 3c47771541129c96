"""`dolmen serve` as a process: how it starts, where it believes to be, how it ends."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from dolmen.app import open_app
from dolmen.services.accounts import ensure_vault
from dolmen.settings import Settings
from tests.interfaces.conftest import JSON, rpc

pytestmark = pytest.mark.slow


@dataclass
class Running:
    process: subprocess.Popen[str]
    port: int

    def call(self, tool: str, **args: Any) -> Any:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        body = json.dumps(rpc("tools/call", name=tool, arguments=args))
        connection.request("POST", "/mcp", body, JSON)
        answer = json.loads(connection.getresponse().read())
        connection.close()
        return answer["result"]["structuredContent"]


@contextmanager
def dolmen_serve(database: str, folder: Path) -> Iterator[Running]:
    process = subprocess.Popen(
        [sys.executable, "-m", "dolmen", "serve", "--port", "0", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=folder,
        env={**os.environ, "DOLMEN_DATABASE": database, "DOLMEN_EMBEDDER": "none"},
    )
    assert process.stdout is not None
    try:
        said = ""
        while not said.rstrip().endswith("}"):
            line = process.stdout.readline()
            assert line, "it ended before it listened"
            said += line
        yield Running(process, json.loads(said)["port"])
    finally:
        process.kill()
        process.wait(20)
        process.stdout.close()


def used_cpu(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_it_is_ready_after_less_than_two_seconds_of_work(sqlite_url: str, tmp_path: Path) -> None:
    with dolmen_serve(sqlite_url, tmp_path) as server:
        assert used_cpu(server.process.pid) < 2
        assert server.call("browse")["entries"] == []


def test_the_folder_that_it_was_started_in_is_nobodys_project(sqlite_url: str, tmp_path: Path) -> None:
    """B129."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    subprocess.run(["git", "-C", tmp_path, "remote", "add", "origin", "git@github.com:acme/heron.git"], check=True)
    with dolmen_serve(sqlite_url, tmp_path) as server:
        [stored] = server.call("remember", memories=[{"content": "Said without a project."}])["results"]
        assert stored["scope"] == "user"
        assert server.call("context")["scope"] == "user"


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_signal_ends_it_in_order_though_clients_hold_their_connections(
    sqlite_url: str, tmp_path: Path, number: signal.Signals
) -> None:
    with dolmen_serve(sqlite_url, tmp_path) as server:
        server.call("recall", query="anything")
        idle = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        idle.request("GET", "/health")
        assert idle.getresponse().read()
        half = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        half.putrequest("POST", "/mcp")
        half.putheader("Content-Length", "100")
        half.endheaders()
        half.send(b"{")
        started = time.monotonic()
        server.process.send_signal(number)
        code = server.process.wait(15)
        took = time.monotonic() - started
        idle.close()
        half.close()
    assert code == 0
    assert took < 10
    with open_app(Settings(database=sqlite_url), models=False) as app, app.runtime.store.read() as tx:
        ops = [row.op for row in tx.journal.audited(ensure_vault(app.runtime))]
    assert ops == ["recall"], "what was recalled in its last second is recorded"


@pytest.mark.slow
def test_two_servers_and_many_clients_share_one_store(sqlite_url: str, tmp_path: Path) -> None:
    with dolmen_serve(sqlite_url, tmp_path) as one, dolmen_serve(sqlite_url, tmp_path) as two:
        failures: list[object] = []

        def write(server: Running, worker: int) -> None:
            for number in range(10):
                memories = [{"content": f"Worker {worker} wrote statement {number}."}]
                [stored] = server.call("remember", memories=memories)["results"]
                if stored["outcome"] != "stored":
                    failures.append(stored)

        threads = [threading.Thread(target=write, args=((one, two)[n % 2], n)) for n in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        counts = {entry["name"]: entry["count"] for entry in one.call("browse")["entries"] if entry["type"] == "scope"}
        assert counts == {"user": 60}
