"""A real server for a measurement: the program as users start it, in an environment of its own."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.process import cpu_seconds

ROOT = Path(__file__).resolve().parent.parent
DOLMEN = (sys.executable, "-m", "dolmen")
PATIENCE = 60.0
_LOOK_EVERY = 0.005


@dataclass(frozen=True, slots=True)
class HttpServer:
    address: str
    """Of the MCP endpoint."""
    pid: int
    started: float
    """`time.monotonic()` just before its process was made."""


def environment(database: str, embedder: str, **more: str) -> dict[str, str]:
    """The process environment of a server: nothing of the person's own settings, no limit on requests."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("DOLMEN_")}
    folder = Path(tempfile.gettempdir()) / "dolmen-bench-home"
    homes = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
    settings = {"DATABASE": database, "EMBEDDER": embedder, "RATE_LIMIT": "0", "PROJECT": "user", "LOG": "warning"}
    path = os.pathsep.join([str(ROOT / "src"), *filter(None, [own.get("PYTHONPATH")])])
    named = {f"DOLMEN_{name}": value for name, value in {**settings, **more}.items()}
    return {**own, **homes, "PYTHONPATH": path, **named}


@contextmanager
def http_server(database: str, *, embedder: str = "auto") -> Iterator[HttpServer]:
    """`dolmen serve` on a free port of this machine."""
    port = free_port()
    with serving([*DOLMEN, "serve"], environment(database, embedder, PORT=str(port)), port) as server:
        yield server


@contextmanager
def serving(command: Sequence[str], variables: dict[str, str], port: int) -> Iterator[HttpServer]:
    """A program that answers HTTP on PORT, ready to be called; stopped at the end.

    Raises:
        RuntimeError: it ended, or did not answer in time; with what it said.
    """
    with tempfile.TemporaryFile("w+") as said:
        started = time.monotonic()
        process = subprocess.Popen(command, env=variables, cwd=ROOT, stdout=said, stderr=said)
        try:
            if not _answers(process, port):
                said.seek(0)
                raise RuntimeError(f"{' '.join(command)} did not come up:\n{said.read()}")
            yield HttpServer(f"http://127.0.0.1:{port}/mcp", process.pid, started)
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def settle(pid: int, *, quiet: float = 0.5, most: float = 600.0) -> None:
    """Waits until the process has had nothing to do for QUIET seconds."""
    deadline, used, since = time.monotonic() + most, cpu_seconds(pid), time.monotonic()
    while time.monotonic() < deadline and time.monotonic() - since < quiet:
        time.sleep(0.05)
        now = cpu_seconds(pid)
        if now - used > 0.02:
            used, since = now, time.monotonic()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _answers(process: subprocess.Popen[bytes], port: int) -> bool:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=PATIENCE):
                return True
        except urllib.error.HTTPError:
            return True  # it listens; the peers have no such page
        except OSError:
            time.sleep(_LOOK_EVERY)
    return False
