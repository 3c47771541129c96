"""A running server with a memory of its own, and clients that reach it as agents do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest

from dolmen.app import App, open_app
from dolmen.domain.values import Actor
from dolmen.interfaces.http.asgi import create_app
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.server import server
from dolmen.services import accounts
from dolmen.services.runtime import Runtime
from dolmen.settings import Settings

ERAS = ("legacy", "2026-07-28")
"""How a client connects: by handshake (2025-11-25 and before), or with each request on its own."""

JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


@dataclass
class Served:
    """A server that listens, and the memory behind it."""

    base: str
    app: App
    http: httpx2.Client
    log: list[str] = field(default_factory=list)

    @property
    def rt(self) -> Runtime:
        return self.app.runtime

    @property
    def url(self) -> str:
        return self.base + "/mcp"

    def key(self, agent: str = "codex", **more: Any) -> str:
        """A fresh key, as `dolmen key create` makes it."""
        owner = accounts.local_actor(self.rt, agent="cli", human=True)
        return accounts.create_key(self.rt, owner, agent=agent, **more)[1]

    def owner(self) -> Actor:
        return accounts.local_actor(self.rt, agent="cli", human=True)

    def post(self, body: Any, path: str = "/mcp", **headers: str) -> httpx2.Response:
        """One raw POST; a dict is sent as JSON."""
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.http.post(self.base + path, content=content, headers={**JSON, **headers})

    def call(self, tool: str, path: str = "/mcp", /, headers: Mapping[str, str] | None = None, **args: Any) -> Any:
        """The structured answer of one tool call in the older protocol."""
        answer = self.post(rpc("tools/call", name=tool, arguments=args), path, **(headers or {}))
        assert answer.status_code == 200, answer.text
        return answer.json()["result"]["structuredContent"]


def rpc(method: str, id: int = 1, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


INITIALIZE = rpc(
    "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "test", "version": "1"}
)

Serve = Callable[..., Served]


@contextmanager
def serving(database: str, options: HttpOptions, port: int = 0, **settings: Any) -> Iterator[Served]:
    """A real server on a port of this machine, a free one unless it is named."""
    listening = threading.Event()
    ports: list[int] = []

    def ready(port: int) -> None:
        ports.append(port)
        listening.set()

    models = settings.get("embedder") != "none" or "rerank_url" in settings
    with open_app(Settings(database=database, **settings), models=models) as app:
        running = server(create_app(app.runtime, options), options.host, port, ready=ready)
        thread = threading.Thread(target=running.run, name="server")
        thread.start()
        try:
            assert listening.wait(20)
            with httpx2.Client(timeout=20, follow_redirects=False) as http:
                yield Served(f"http://127.0.0.1:{ports[0]}", app, http)
        finally:
            running.should_exit = True
            thread.join(20)
        assert not thread.is_alive()


@pytest.fixture
def serve(new_store: Callable[[str], str]) -> Iterator[Serve]:
    """A function that starts a server with the given options; without a model unless one is asked for."""
    with ExitStack() as stack:

        def start(engine: str = "sqlite", embedder: str = "none", database: str = "", **options: Any) -> Served:
            url = database or new_store(engine)
            return stack.enter_context(serving(url, HttpOptions(**options), embedder=embedder))

        yield start


@pytest.fixture
def served(serve: Serve) -> Served:
    """A server as it is started by default, with nothing stored."""
    return serve()


# ---------------------------------------------------------------------------------------------------------------- stdio
@dataclass
class Process:
    """`dolmen mcp` as a client starts it, spoken to in raw lines."""

    process: subprocess.Popen[bytes]
    errors: Path

    def send(self, message: Any) -> None:
        line = message if isinstance(message, bytes) else json.dumps(message, ensure_ascii=False).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """The next line of standard output, which must be JSON-RPC."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, self.errors.read_text(encoding="utf-8")
        message: dict[str, Any] = json.loads(line.decode("utf-8"))
        assert message["jsonrpc"] == "2.0"
        return message

    def ask(self, message: Any) -> dict[str, Any]:
        self.send(message)
        return self.read()

    def connect(self) -> dict[str, Any]:
        """The handshake; returns the server's side of it."""
        answer = self.ask(INITIALIZE)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def call(self, tool: str, **args: Any) -> Any:
        answer = self.ask(rpc("tools/call", name=tool, arguments=args))
        return answer["result"]["structuredContent"]

    def end(self) -> tuple[int, bytes]:
        """Closes its input as a client does, waits, and returns the exit code with what was still on its output."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        rest = self.process.stdout.read()
        return self.process.wait(20), rest


Start = Callable[..., Process]


@pytest.fixture
def start_stdio(tmp_path: Path) -> Iterator[Start]:
    """A function that starts `dolmen mcp` on a store, with further arguments, and settings as keywords."""
    started: list[Process] = []
    folder = tmp_path / "working"
    folder.mkdir()

    def start(database: str, *arguments: str, environment: Mapping[str, str] | None = None, **settings: str) -> Process:
        variables = {f"DOLMEN_{name.upper()}": value for name, value in settings.items()}
        errors = tmp_path / f"errors{len(started)}.txt"
        with errors.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dolmen", "mcp", *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=folder,
                env={**os.environ, "DOLMEN_DATABASE": database, **variables, **(environment or {})},
            )
        one = Process(process, errors)
        started.append(one)
        return one

    yield start
    for one in started:
        one.process.kill()
        one.process.wait(20)
        for pipe in (one.process.stdin, one.process.stdout):
            if pipe is not None:
                pipe.close()


def within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Whether something that another process does comes true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        threading.Event().wait(0.02)
    return condition()
