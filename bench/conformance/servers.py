"""The servers that are judged: the product as a person starts it, and the fixture on the same stack."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def fixture() -> Iterator[str]:
    """The URL of the fixture's endpoint."""
    port = free_port()
    with _running([sys.executable, "-m", "bench.conformance.fixture.server", str(port)], port, None):
        yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def product(environment: Mapping[str, str], *, keys: bool = False, public: bool = False) -> Iterator[str]:
    """The URL of `dolmen serve` on a fresh store; with `keys`, only for those who have one; with `public`, people and
    clients sign in there."""
    port = free_port()
    auth = "keys" if keys else "none"
    command = [sys.executable, "-m", "dolmen", "serve", "--json", "--port", str(port), "--auth", auth]
    address = {"DOLMEN_PUBLIC_URL": f"http://127.0.0.1:{port}"} if public else {}
    with _running(command, port, {**environment, **address, "DOLMEN_RATE_LIMIT": "0"}):
        yield f"http://127.0.0.1:{port}/mcp"


def new_key(environment: Mapping[str, str], agent: str) -> str:
    """What `dolmen key create` hands out."""
    command = [sys.executable, "-m", "dolmen", "key", "create", agent, "--json"]
    answer = subprocess.run(command, env=dict(environment), check=True, capture_output=True, text=True).stdout
    secret: str = json.loads(answer)["secret"]
    return secret


@contextmanager
def _running(command: list[str], port: int, environment: Mapping[str, str] | None) -> Iterator[None]:
    log = Path(__file__).resolve().parents[1] / "out" / "conformance" / f"server-{port}.log"
    with log.open("wb") as lines:
        process = subprocess.Popen(
            command, stdout=lines, stderr=lines, env=None if environment is None else dict(environment)
        )
    try:
        _wait(process, port, log)
        yield
    finally:
        process.terminate()
        process.wait(20)
    log.unlink()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    for _ in range(600):
        if process.poll() is not None:
            break
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5).read()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
        else:
            return
    raise SystemExit(f"The server did not start:\n{log.read_text()}")
