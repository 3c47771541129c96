"""The rows of the latency table: what is started, what is called, in which order."""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from mcp import ClientSession

from bench.clients import call, http_session, stdio_session
from bench.corpus import question, statement, statements
from bench.engines import Engine
from bench.latency.measuring import Call, Timing, percentile, quiet, timed
from bench.latency.peer import PlainFts
from bench.process import memory_mb
from bench.servers import DOLMEN, environment, free_port, http_server, serving
from dolmen.models.contract import Embedder

WARM_UP = 20
_fresh = iter(range(10_000_000, 20_000_000))
"""Numbers of statements that no store was filled with."""


@dataclass(frozen=True, slots=True)
class Row:
    engine: str
    size: int
    model: str
    door: str
    store: Timing
    recall: Timing
    memory: float
    """MB resident after the calls, at rest."""


@dataclass(frozen=True, slots=True)
class Run:
    engine: Engine
    url: str
    size: int
    model: str
    door: str
    calls: int


async def measure(run: Run) -> Row:
    """One row: a server of its own, warmed up, then every store, then every recall."""
    async with _dolmen(run) as (session, pid):
        for number in range(WARM_UP):
            await call(session, "remember", {"memories": [{"content": statement(next(_fresh))}]})
            await call(session, "recall", {"query": question(number)})
        await quiet(pid)
        stores: list[Call] = [
            ("remember", {"memories": [{"content": statement(next(_fresh))}]}) for _ in range(run.calls)
        ]
        store = await timed(session, pid, stores, run.engine.cpu)
        await quiet(pid, for_seconds=0.5)
        recalls: list[Call] = [("recall", {"query": text}) for text in questions(run.size, run.calls)]
        recall = await timed(session, pid, recalls, run.engine.cpu)
        if run.model != "none":
            await _must_have_used_the_model(session)
        await quiet(pid, for_seconds=0.5)
        return Row(run.engine.name, run.size, run.model, run.door, store, recall, memory_mb(pid))


def questions(size: int, count: int) -> list[str]:
    """Different ones, about statements in a store of that size."""
    numbers = random.Random(size).sample(range(size), min(size, 2 * count))
    return list(dict.fromkeys(map(question, numbers)))[:count]


@asynccontextmanager
async def _dolmen(run: Run) -> AsyncIterator[tuple[ClientSession, int]]:
    if run.door == "stdio":
        async with stdio_session([*DOLMEN, "mcp"], environment(run.url, run.model)) as child:
            yield child.session, child.pid
    else:
        with http_server(run.url, embedder=run.model) as server:
            async with http_session(server.address) as session:
                yield session, server.pid


async def _must_have_used_the_model(session: ClientSession) -> None:
    legs = (await call(session, "recall", {"query": "which legs ran"}))["index_health"]["legs"]
    if "meaning" not in legs:
        raise RuntimeError(f"the model was to be measured, and only {legs} ran")


# ----------------------------------------------------------------------------------------------------------- the peer
def peer(sizes: list[int], doors: list[str], calls: int) -> list[Row]:
    """Plain FTS5, once behind the SDK's own server and once called directly (`none`: no server at all)."""
    import anyio

    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="dolmen-bench-") as folder:
        path, filled = Path(folder) / "plain.db", 0
        for size in sizes:
            table = PlainFts(path)
            table.store_all(statements(filled, size))
            filled = size
            rows.append(_direct(table, size, calls))
            table.close()
            rows += [anyio.run(_peer, path, size, door, calls) for door in doors]
    return rows


async def _peer(path: Path, size: int, door: str, calls: int) -> Row:
    command = [sys.executable, "-m", "bench.latency.peer", str(path)]
    stores: list[Call] = [("store", {"text": statement(next(_fresh))}) for _ in range(WARM_UP + calls)]
    searches: list[Call] = [("search", {"query": text}) for text in questions(size, calls)]

    async def both(session: ClientSession, pid: int) -> Row:
        for tool, arguments in [*stores[:WARM_UP], *searches[:WARM_UP]]:
            await call(session, tool, arguments)
        store = await timed(session, pid, stores[WARM_UP:], lambda: 0.0)
        recall = await timed(session, pid, searches, lambda: 0.0)
        return Row("plain FTS5", size, "none", door, store, recall, memory_mb(pid))

    variables = environment("", "none")
    if door == "stdio":
        async with stdio_session(command, variables) as child:
            return await both(child.session, child.pid)
    port = free_port()
    with serving([*command, str(port)], variables, port) as server:
        async with http_session(server.address) as session:
            return await both(session, server.pid)


def _direct(table: PlainFts, size: int, calls: int) -> Row:
    def timing(work: list[float], cpu: float) -> Timing:
        return Timing(len(work), percentile(work, 0.5), percentile(work, 0.95), 1000 * cpu / len(work))

    wall: dict[str, list[float]] = {"store": [], "recall": []}
    used = {"store": 0.0, "recall": 0.0}
    for kind, texts in (("store", [statement(next(_fresh)) for _ in range(calls)]), ("recall", questions(size, calls))):
        before = time.process_time()
        for text in texts:
            started = time.perf_counter()
            if kind == "store":
                table.store(text)
            else:
                table.search(text)
            wall[kind].append(1000 * (time.perf_counter() - started))
        used[kind] = time.process_time() - before
    store, recall = (timing(wall[kind], used[kind]) for kind in ("store", "recall"))
    return Row("plain FTS5", size, "none", "none", store, recall, 0.0)


# ---------------------------------------------------------------------------------------------------------- the model
def model_share(embedder: Embedder, calls: int) -> dict[str, float]:
    """CPU ms that the model alone takes for such a statement and such a question, in this process."""
    texts, asked = [statement(next(_fresh)) for _ in range(calls)], questions(1_000, calls)
    embedder.embed_query("loads the model")
    started = time.process_time()
    for text in texts:
        embedder.embed_documents([text])
    stored = time.process_time()
    for text in asked:
        embedder.embed_query(text)
    asked_for = time.process_time()
    return {"store": 1000 * (stored - started) / len(texts), "recall": 1000 * (asked_for - stored) / len(asked)}
