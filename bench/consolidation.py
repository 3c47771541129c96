"""`python -m bench.consolidation`: what it takes to find duplicates and contradictions, the first time and afterwards.

One in twenty statements has a twin: half say the same and a little more, half give another number. Beside it, the naive
way: every statement compared with every other one.
"""

from __future__ import annotations

import argparse
import itertools
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from platformdirs import user_cache_path

from bench.corpus import statement
from bench.engines import ENGINES, Engine, opened
from bench.latency.loading import StandIn
from bench.process import machine
from dolmen.domain.memory import BATCH_LIMIT
from dolmen.domain.text import shared_trigrams, trigrams
from dolmen.domain.values import SECOND
from dolmen.models.choose import EmbedderSettings, choose
from dolmen.services import upkeep
from dolmen.services.accounts import local_actor
from dolmen.services.consolidation import candidates, consolidate
from dolmen.services.consolidation.running import OVERLAP
from dolmen.services.journal import JournalBuffer
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory
from dolmen.services.runtime import Options, Runtime
from dolmen.store.opening import open_store

OUT = Path(__file__).resolve().parent / "out"
TWIN_EVERY = 20
CHANGED = 20
NAIVE = 2_000
"""Statements for which the naive way is really gone; from it follows what it would take for more."""
_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Row:
    engine: str
    memories: int
    model: str
    first: float
    """Seconds of the first look: everything is compared with everything."""
    first_cpu: float
    pairs: int
    """Close pairs that it found."""
    twins: float
    """Share of the twins among them."""
    next: float
    """Seconds of a look after `CHANGED` new memories, one of which has a twin."""
    next_cpu: float
    nothing: float
    """Seconds of a look when nothing has changed."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.consolidation", description=__doc__)
    parser.add_argument("--sizes", default="1000,13000", help="memories in the store, comma-separated")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--models", default="none,auto", help="settings of the embedder: none, auto or both")
    parser.add_argument("--cache", type=Path, default=user_cache_path("dolmen-bench"), help="folder of cached vectors")
    given = parser.parse_args()
    models = given.models.split(",")
    stand_in = StandIn(choose(EmbedderSettings("auto")).embedder, given.cache) if "auto" in models else None
    rows: list[Row] = []
    for name in given.engines.split(","):
        with opened(name) as engine:
            for size, model in itertools.product(map(int, given.sizes.split(",")), models):
                rows.append(_measure(engine, size, stand_in if model == "auto" else None))
                print(asdict(rows[-1]), file=sys.stderr, flush=True)
    naive = _naive()
    OUT.mkdir(exist_ok=True)
    found = {"machine": machine(), "rows": [asdict(row) for row in rows], "naive": naive}
    (OUT / "consolidation.json").write_text(json.dumps(found, indent=1))
    print("\n".join(_table(rows, naive)))


def texts(number: int) -> Iterator[str]:
    """The statement of that number and, of one in twenty, its twin."""
    text = statement(number)
    yield text
    if number % TWIN_EVERY == 0:
        yield _twin(text, number)


def _twin(text: str, number: int) -> str:
    if number % (2 * TWIN_EVERY) and (found := _NUMBER.search(text)):
        return f"{text[: found.start()]}{int(found[0]) + 7}{text[found.end() :]}"
    return f"{text} So it was agreed."


def _measure(engine: Engine, size: int, stand_in: StandIn | None) -> Row:
    store = open_store(engine.new())
    rt = Runtime(store, stand_in, JournalBuffer(store), Options(inline_embeddings=0))
    actor = local_actor(rt, agent="bench", human=True)
    twins = _fill(rt, size)
    looked: list[int] = []

    def look() -> None:
        looked.append(consolidate(rt, actor, limit=0).compared)

    with store.read() as tx:
        stored = [memory for memory in tx.memories.stream(actor.vault) if candidates.comparable(memory)]
        known = candidates.vectors(rt, tx, stored)
    pairs = {frozenset((p.first.text, p.second.text)) for p in candidates.many(rt, stored, known)}
    first, first_cpu = _timed(look, engine)
    time.sleep(2 * OVERLAP / SECOND)  # or the next look would compare what was stored just before this one
    look()
    time.sleep(2 * OVERLAP / SECOND)
    _store(rt, [text for number in range(size, size + CHANGED) for text in texts(number)][:CHANGED])
    upkeep.backfill(rt)
    then, then_cpu = _timed(look, engine)
    nothing, _ = _timed(look, engine)
    if looked[0] < size or looked[2] != CHANGED:
        raise RuntimeError(f"the looks compared {looked}")
    share = sum(frozenset(twin) in pairs for twin in twins) / len(twins)
    name = stand_in.model if stand_in else "none"
    rt.journal.close()
    store.close()
    return Row(engine.name, size, name, first, first_cpu, len(pairs), share, then, then_cpu, nothing)


def _fill(rt: Runtime, size: int) -> list[tuple[str, str]]:
    """Stores so many statements, twins among them; returns the twins."""
    every: list[str] = []
    twins: list[tuple[str, str]] = []
    for number in itertools.count():
        said = list(texts(number))
        twins += [(said[0], said[1])] if len(said) == 2 else []
        every += said
        if len(every) >= size:
            break
    _store(rt, every)
    upkeep.backfill(rt)
    rt.store.tidy()
    return twins


def _store(rt: Runtime, every: list[str]) -> None:
    actor = local_actor(rt, agent="bench")
    for at in range(0, len(every), BATCH_LIMIT):
        results = remember(rt, actor, [NewMemory(content=text) for text in every[at : at + BATCH_LIMIT]])
        if failed := [result for result in results if result.outcome == "failed"]:
            raise RuntimeError(f"{len(failed)} statements were refused: {failed[0].error}")


def _timed(work: Callable[[], object], engine: Engine) -> tuple[float, float]:
    """(seconds, processor seconds here and in the database)."""
    wall, cpu, database = time.perf_counter(), time.process_time(), engine.cpu()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu + engine.cpu() - database


def _naive() -> dict[str, float]:
    """Every pair of `NAIVE` statements by trigrams, and what of it the candidates are."""
    grams = [trigrams(text) for number in range(NAIVE) for text in texts(number)][:NAIVE]
    began = time.process_time()
    close = sum(shared_trigrams(a, b) >= Options().similar_trigrams for a, b in itertools.combinations(grams, 2))
    return {"statements": NAIVE, "seconds": time.process_time() - began, "close": close}


def _table(rows: list[Row], naive: dict[str, float]) -> Iterator[str]:
    yield "| engine | memories | model | first, s | CPU | close pairs | twins found | naive, CPU | next, s | CPU |"
    yield "|---|---:|---|---:|---:|---:|---:|---:|---:|---:|"
    for row in rows:
        times = (row.memories / naive["statements"]) ** 2
        yield (
            f"| {row.engine} | {row.memories:,} | {row.model} | {row.first:.1f} | {row.first_cpu:.1f} | {row.pairs:,} "
            f"| {row.twins:.1%} | {naive['seconds'] * times:,.0f} | {row.next:.2f} | {row.next_cpu:.2f} |"
        )
    yield ""
    yield f"naive: {naive['statements']:,} statements took {naive['seconds']:.1f} s CPU, {naive['close']:,} close pairs"


if __name__ == "__main__":
    main()
