"""From nothing to the first list of tools, and what a server that nobody asks anything takes."""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import anyio

from bench.clients import call, http_session, stdio_session
from bench.engines import Engine
from bench.latency.measuring import quiet
from bench.process import cpu_seconds, memory_mb
from bench.servers import DOLMEN, environment, http_server

TIMES = 5


@dataclass(frozen=True, slots=True)
class Start:
    """Medians of TIMES starts on a store that is there."""

    engine: str
    size: int
    door: str
    tools: float
    """Seconds from the start of the process to the answer to `tools/list`."""
    cpu: float
    """Seconds of processor time of the server until then."""
    idle: float
    """MB resident, at rest after two questions; with the model loaded, where the setting has one."""


def measure(engine: Engine, url: str, size: int, door: str, model: str) -> Start:
    taken = [anyio.run(_once, url, door, model, number == 0) for number in range(TIMES)]
    tools, cpu, _ = (statistics.median(each) for each in zip(*taken, strict=True))
    return Start(engine.name, size, door, tools, cpu, taken[0][2])


async def _once(url: str, door: str, model: str, rest: bool) -> tuple[float, float, float]:
    if door == "stdio":
        started = time.monotonic()
        async with stdio_session([*DOLMEN, "mcp"], environment(url, model)) as child:
            await child.session.list_tools()
            tools, cpu = time.monotonic() - started, cpu_seconds(child.pid)
            return tools, cpu, await _at_rest(child.session, child.pid) if rest else 0.0
    with http_server(url, embedder=model) as server:
        async with http_session(server.address) as session:
            await session.list_tools()
            tools, cpu = time.monotonic() - server.started, cpu_seconds(server.pid)
            return tools, cpu, await _at_rest(session, server.pid) if rest else 0.0


async def _at_rest(session: object, pid: int) -> float:
    from mcp import ClientSession

    assert isinstance(session, ClientSession)
    for _ in range(2):  # the first may come while the model is loading
        await call(session, "recall", {"query": "what is decided about deployments"})
        await quiet(pid, for_seconds=4)
    return memory_mb(pid)
