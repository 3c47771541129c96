"""The measurement itself: one call after the other through a session, the wall time of each and the CPU of all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import anyio
from mcp import ClientSession

from bench.clients import call
from bench.process import cpu_seconds

Call = tuple[str, dict[str, Any]]
"""A tool and its arguments."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What one kind of call takes. Milliseconds."""

    calls: int
    p50: float
    p95: float
    cpu: float
    """Of the server's process per call: its background work meanwhile is part of it."""
    database: float = 0.0
    """Of the database's processes per call."""

    @property
    def all(self) -> float:
        return self.cpu + self.database


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest value that SHARE of the values do not exceed."""
    ranked = sorted(values)
    return ranked[min(len(ranked) - 1, int(len(ranked) * share))]


async def timed(session: ClientSession, pid: int, calls: list[Call], database: Callable[[], float]) -> Timing:
    """Makes the calls; PID is the server's process, DATABASE gives the seconds that the database has used so far."""
    wall: list[float] = []
    server_before, database_before = cpu_seconds(pid), database()
    for tool, arguments in calls:
        started = time.perf_counter()
        await call(session, tool, arguments)
        wall.append(1000 * (time.perf_counter() - started))
    server, stored = cpu_seconds(pid) - server_before, database() - database_before
    per_call = 1000 / len(calls)
    return Timing(len(calls), percentile(wall, 0.5), percentile(wall, 0.95), server * per_call, stored * per_call)


async def quiet(pid: int, *, for_seconds: float = 1.5, most: float = 300.0) -> None:
    """Waits until the process rests: its model is loaded and nothing waits to be embedded."""
    deadline, since, used = time.monotonic() + most, time.monotonic(), cpu_seconds(pid)
    while time.monotonic() < deadline and time.monotonic() - since < for_seconds:
        await anyio.sleep(0.1)
        now = cpu_seconds(pid)
        if now - used > 0.03:
            since = time.monotonic()
        used = now
