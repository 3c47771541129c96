"""`python -m bench.scale`: a small project inside a large vault, as the vault grows.

One vault holds a small project and a large one. At each size it is asked: is the small project still found whole, by
the standard of comparing every vector and of a store that holds nothing else; and what do a store and a recall cost?
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from threading import Event

import numpy as np
from platformdirs import user_cache_path

from bench.corpus import question, statement
from bench.engines import ENGINES, Engine, EngineName, opened
from bench.latency.loading import StandIn
from bench.latency.measuring import percentile
from bench.process import machine
from dolmen.domain.memory import Memory
from dolmen.models.choose import EmbedderSettings, choose
from dolmen.services import upkeep
from dolmen.services.accounts import local_actor
from dolmen.services.journal import JournalBuffer
from dolmen.services.recall import recall
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory, Recall
from dolmen.services.runtime import Options, Runtime
from dolmen.services.transfer.imports import BATCH, import_
from dolmen.services.transfer.lines import FORMAT, VERSION, memory_line
from dolmen.store.contract import Filter
from dolmen.store.ids import rising
from dolmen.store.opening import open_store

OUT = Path(__file__).resolve().parent / "out"
SMALL, LARGE = "small", "large"
IN_SMALL = 500
ASKED = 100
NEAREST = 10
_FIRST_LARGE = 10_000
"""The large project's statements are numbered from here, the small one's from 0."""
_FRESH = count(50_000_000)


@dataclass(frozen=True, slots=True)
class Row:
    """What was found and what it took. Times are milliseconds of wall time, shares are 0 to 1."""

    engine: EngineName
    size: int
    load: float
    """One memory of an export read in, with its vector, which costs no model time here."""
    store: float
    store_tail: float
    """One memory, median and p95."""
    small: float
    small_tail: float
    """A recall in the small project."""
    large: float
    large_tail: float
    """A recall in the large one."""
    small_nearest: float
    """Of the ten nearest by comparing every vector of the small project, the share that the index gives."""
    large_nearest: float
    same: float
    """Of what a store with the small project alone answers, the share that this one answers too."""


class Desk:
    """A store that is filled and asked through the services, in this process."""

    def __init__(self, url: str, stand_in: StandIn) -> None:
        self._store = open_store(url)
        self.rt = Runtime(self._store, stand_in, JournalBuffer(self._store), Options(inline_embeddings=8))
        self.actor = local_actor(self.rt, agent="bench")
        self._later = Runtime(self._store, stand_in, JournalBuffer(self._store), Options(inline_embeddings=0))

    def fill(self, project: str, numbers: range) -> float:
        """Reads the statements in as from an export, their vectors meanwhile, as a server does; ms a memory."""
        started = time.perf_counter()
        loaded = Event()
        with ThreadPoolExecutor(1) as beside:
            vectors = beside.submit(self._embed, loaded)
            try:
                self._import(project, numbers)
            finally:
                loaded.set()
            vectors.result()
        self._store.tidy()
        return 1000 * (time.perf_counter() - started) / max(1, len(numbers))

    def _import(self, project: str, numbers: range) -> None:
        report = import_(self._later, self.actor, _export(self._later, project, numbers), progress=_told(project))
        stored = report.imported["memory"] + report.same_words
        if stored != len(numbers):
            raise RuntimeError(f"{len(numbers) - stored} statements were refused: {report.refused[:1]}")

    def _embed(self, loaded: Event) -> None:
        last = False
        while not last:
            last = loaded.wait(0.2)
            upkeep.backfill(self._later)

    def one(self, project: str, text: str) -> None:
        remember(self.rt, self.actor, [NewMemory(content=text, project=project)])

    def ask(self, project: str, query: str) -> list[str]:
        """The texts that answer."""
        pack = recall(self.rt, self.actor, Recall(query=query, project=project, limit=NEAREST, record=False))
        return [claim.text for claim in pack.claims]

    def nearest(self, project: str, query: str) -> list[str]:
        """The texts whose vectors the index says are nearest."""
        embedder = self.rt.embedder
        assert embedder is not None
        with self._store.read() as tx:
            model = tx.index.find_model(embedder.model, embedder.dim)
            assert model is not None
            sight = Filter(self.actor.vault, ("user", f"project:{project}"), tx.now)
            hits = tx.index.nearest(sight, model, embedder.embed_query(query), NEAREST)
            memories = tx.memories.many(self.actor.vault, [hit.memory for hit in hits])
            return [memories[hit.memory].text for hit in hits]

    def close(self) -> None:
        self.rt.journal.close()
        self._later.journal.close()
        self._store.close()


def _export(rt: Runtime, project: str, numbers: range) -> Iterator[str]:
    """The lines of an export that holds the statements as facts of the project."""
    yield json.dumps({"format": FORMAT, "version": VERSION})
    with rt.store.read() as tx:
        now = tx.now
    new_id = rising(lambda: time.time_ns() // 1000)
    for number in numbers:
        fact = Memory(
            id=new_id(), vault="", scope=f"project:{project}", kind="fact", text=statement(number),
            trust="agent", created_at=now, updated_at=now,
        )  # fmt: skip
        yield json.dumps(memory_line(fact, []))


def _told(project: str) -> Callable[[int], None]:
    def progress(lines: int) -> None:
        if lines % 50_000 < BATCH:
            print(f"  {project}: {lines:,} read in", file=sys.stderr, flush=True)

    return progress


@contextmanager
def desk(engine: Engine, stand_in: StandIn) -> Iterator[Desk]:
    made = Desk(engine.new(), stand_in)
    try:
        yield made
    finally:
        made.close()


def run(engine: Engine, sizes: Sequence[int], stand_in: StandIn) -> Iterator[Row]:
    """Rows as the vault grows."""
    asked = list(dict.fromkeys(question(number) for number in range(0, IN_SMALL, max(1, IN_SMALL // ASKED))))
    with desk(engine, stand_in) as alone:
        alone.fill(SMALL, range(IN_SMALL))
        expected = [alone.ask(SMALL, query) for query in asked]
    small = Brute([statement(number) for number in range(IN_SMALL)], stand_in)
    large = Brute([], stand_in)
    with desk(engine, stand_in) as vault:
        vault.fill(SMALL, range(IN_SMALL))
        filled = 0
        for size in sizes:
            numbers = range(_FIRST_LARGE + filled, _FIRST_LARGE + size)
            load = vault.fill(LARGE, numbers)
            large.add([statement(number) for number in numbers])
            filled = size
            fresh = [statement(next(_FRESH)) for _ in range(ASKED)]
            large.add(fresh)
            far = [question(_FIRST_LARGE + number) for number in random.Random(size).sample(range(size), ASKED)]
            answers = [vault.ask(SMALL, query) for query in asked]
            yield Row(
                engine.name, size, load,
                *_timed([lambda t=t: vault.one(LARGE, t) for t in fresh]),  # type: ignore[misc]
                *_timed([lambda q=q: vault.ask(SMALL, q) for q in asked]),  # type: ignore[misc]
                *_timed([lambda q=q: vault.ask(LARGE, q) for q in far]),  # type: ignore[misc]
                small_nearest=_mean(_share(small.nearest(q), vault.nearest(SMALL, q)) for q in asked),
                large_nearest=_mean(_share(large.nearest(q), vault.nearest(LARGE, q)) for q in far),
                same=_mean(_share(one, other) for one, other in zip(expected, answers, strict=True)),
            )  # fmt: skip


class Brute:
    """The nearest by comparing every vector."""

    def __init__(self, texts: list[str], stand_in: StandIn) -> None:
        self._texts: list[str] = []
        self._vectors = np.zeros((0, stand_in.dim), np.float32)
        self._stand_in = stand_in
        self.add(texts)

    def add(self, texts: list[str]) -> None:
        self._texts += texts
        parts = [self._stand_in.embed_documents(texts[at : at + 10_000]) for at in range(0, len(texts), 10_000)]
        self._vectors = np.concatenate([self._vectors, *parts])

    def nearest(self, query: str) -> list[str]:
        cosines = self._vectors @ self._stand_in.embed_query(query)
        return [self._texts[at] for at in np.argsort(-cosines)[:NEAREST]]


def _share(right: Sequence[str], given: Sequence[str]) -> float:
    return len(set(right) & set(given)) / len(set(right)) if right else 1.0


def _mean(values: Iterator[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _timed(calls: Sequence[Callable[[], object]]) -> tuple[float, float]:
    took = []
    for call in calls:
        started = time.perf_counter()
        call()
        took.append(1000 * (time.perf_counter() - started))
    return percentile(took, 0.5), percentile(took, 0.95)


def line(row: Row) -> str:
    times = [row.load, row.store, row.store_tail, row.small, row.small_tail, row.large, row.large_tail]
    shares = [row.small_nearest, row.large_nearest, row.same]
    cells = [row.engine, f"{row.size:,}", *(f"{ms:.1f}" for ms in times), *(f"{share:.3f}" for share in shares)]
    return f"| {' | '.join(cells)} |"


_HEAD = (
    "| engine | memories | load | store p50 | p95 | small p50 | p95 | large p50 | p95 | small nearest | large nearest"
    " | same answers |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--sizes", default="10000,50000,200000", help="memories in the large project, comma-separated")
    parser.add_argument("--cache", type=Path, default=user_cache_path("dolmen-bench"), help="folder of cached vectors")
    given = parser.parse_args()
    stand_in = StandIn(choose(EmbedderSettings("auto")).embedder, given.cache)
    rows: list[Row] = []
    for name in given.engines.split(","):
        with opened(name) as engine:
            for row in run(engine, sorted(map(int, given.sizes.split(","))), stand_in):
                rows.append(row)
                print(line(row), file=sys.stderr, flush=True)
                OUT.mkdir(exist_ok=True)
                found = {"machine": machine(), "rows": list(map(asdict, rows))}
                (OUT / "scale.json").write_text(json.dumps(found, indent=1))
    print("\n".join([f"Machine: {machine()}.", "", _HEAD, *map(line, rows)]))


if __name__ == "__main__":
    main()
