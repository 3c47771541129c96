"""`python -m bench.latency`: store and recall through a real client, by size, engine, model and door."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import anyio
from platformdirs import user_cache_path

from bench.engines import ENGINES, opened
from bench.latency import runs, starting, tables
from bench.latency.loading import StandIn, fill
from bench.process import machine
from dolmen.models.choose import EmbedderSettings, choose

OUT = Path(__file__).resolve().parent.parent / "out"


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.latency", description=__doc__)
    parser.add_argument("--sizes", default="1000,10000,100000", help="memories in the store, comma-separated")
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--doors", default="http,stdio", help="http, stdio or both")
    parser.add_argument("--models", default="none,auto", help="settings of the embedder: none, auto or both")
    parser.add_argument("--calls", type=int, default=200, help="of each kind, per row")
    parser.add_argument("--cache", type=Path, default=user_cache_path("dolmen-bench"), help="folder of cached vectors")
    parser.add_argument("--no-peer", action="store_true", help="leave plain FTS5 out")
    return parser.parse_args(given)


def main() -> None:
    given = arguments()
    sizes = sorted(map(int, given.sizes.split(",")))
    doors, models = given.doors.split(","), given.models.split(",")
    peers = [] if given.no_peer else runs.peer(sizes, doors, given.calls)
    rows: list[runs.Row] = []
    starts: list[starting.Start] = []
    embedder = choose(EmbedderSettings("auto")).embedder
    stand_in = StandIn(embedder, given.cache) if "auto" in models else None
    for name in given.engines.split(","):
        with opened(name) as engine:
            url, filled = engine.new(), 0
            for size in sizes:
                loaded = fill(url, filled, size, stand_in)
                print(f"{name}: {size} memories, {loaded:.2f} ms CPU each to load", file=sys.stderr, flush=True)
                filled = size
                for model in models:
                    fill(url, 0, 0, stand_in)  # vectors for what the rows before have stored
                    for door in doors:
                        run = runs.Run(engine, url, size, model, door, given.calls)
                        rows.append(anyio.run(runs.measure, run))
                        print(tables.line(rows[-1]), file=sys.stderr, flush=True)
                        _keep(rows, peers, starts, None)
            starts += [starting.measure(engine, url, sizes[-1], door, models[-1]) for door in doors]
    shares = runs.model_share(embedder, given.calls) if "auto" in models else None
    _keep(rows, peers, starts, shares)
    print(tables.report(machine(), rows, peers, starts, shares))


def _keep(
    rows: Sequence[runs.Row],
    peers: Sequence[runs.Row],
    starts: Sequence[starting.Start],
    shares: dict[str, float] | None,
) -> None:
    """Writes what is there so far: a long run that is broken off has not been for nothing."""
    OUT.mkdir(exist_ok=True)
    found = {"rows": list(map(asdict, rows)), "peers": list(map(asdict, peers)), "starts": list(map(asdict, starts))}
    (OUT / "latency.json").write_text(json.dumps({"machine": machine(), **found, "model": shares}, indent=1))


if __name__ == "__main__":
    main()
