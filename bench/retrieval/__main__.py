"""`python -m bench.retrieval`: how well the right memory is found, per data set and leg (bench/README.md)."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from platformdirs import user_cache_path

from bench.engines import ENGINES, Engine, opened
from bench.retrieval import sets, tables
from bench.retrieval.backend import LEGS, CachedEmbedder, Leg, Services
from bench.retrieval.scoring import Backend, Scored, score
from dolmen.models.choose import EmbedderSettings, choose
from dolmen.models.contract import Embedder

ROOT = Path(__file__).resolve().parent.parent.parent
DATA = ROOT.parent / "shared" / "bench" / "data"
OUT = ROOT / "bench" / "out"
PEERS = ("fts5", "wrrf3")
"""Of baselines.py: FTS5 alone, and the fusion to beat (FTS5 words, trigrams and static vectors)."""


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval", description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the sets; membench.py stands above it")
    parser.add_argument("--tasks", default="", help="sets, comma-separated; all but the largest unless named")
    parser.add_argument("--engine", choices=ENGINES, default="sqlite")
    parser.add_argument("--through", choices=("service", "mcp"), default="service")
    parser.add_argument("--legs", default=",".join(LEGS), help="of words, meaning and fused")
    parser.add_argument("--peers", default=",".join(PEERS), help="of baselines.py; those whose packages are there")
    parser.add_argument("--cache", type=Path, default=user_cache_path("dolmen-bench"), help="folder of cached vectors")
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the figures as JSON")
    parsed = parser.parse_args(given)
    if parsed.through == "mcp":
        parsed.legs = "fused"  # the door has no switch for its parts
    return parsed


def main() -> None:
    given = arguments()
    names = sets.named(given.data, given.tasks)
    membench = sets.load(given.data.parent / "membench.py")
    peers = _peers(given)
    legs: list[Leg] = [leg for leg in LEGS if leg in given.legs.split(",")]
    with opened(given.engine, durable=False) as engine, _backends(engine, given) as ours:
        measured = [
            score(name, sets.goal(name), sets.corpora(membench, given.data, name), membench, ours, legs, peers)
            for name in names
        ]
    print(tables.report(measured, list(peers), legs))
    given.out.mkdir(parents=True, exist_ok=True)
    file = given.out / f"retrieval-{given.engine}-{given.through}.json"
    file.write_text(json.dumps({each.name: _figures(each) for each in measured}, indent=1))


@contextmanager
def _backends(engine: Engine, given: argparse.Namespace) -> Iterator[Callable[[], Backend]]:
    """What makes a backend over a fresh store; the store before is deleted."""
    used: list[str] = []

    def fresh() -> str:
        while used:
            engine.drop(used.pop())
        used.append(engine.new())
        return used[0]

    if given.through == "mcp":
        from bench.retrieval.through_mcp import ThroughMcp

        yield lambda: ThroughMcp(fresh(), "auto")
        return
    embedder: Embedder = CachedEmbedder(choose(EmbedderSettings("auto")).embedder, given.cache)
    yield lambda: Services(fresh(), embedder)


def _peers(given: argparse.Namespace) -> dict[str, Callable[[], Any]]:
    """The baselines whose packages are installed."""
    if not given.peers:
        return {}
    baselines: ModuleType = sets.load(given.data.parent / "baselines.py")
    given.cache.mkdir(parents=True, exist_ok=True)
    vars(baselines)["HERE"] = given.cache  # it keeps its vectors beside itself otherwise
    found = {}
    for name in given.peers.split(","):
        try:
            getattr(baselines, name)()
            found[name] = getattr(baselines, name)
        except ImportError as missing:
            print(f"{name} is left out: {missing}")
    return found


def _figures(scored: Scored) -> dict[str, Any]:
    names = ("R@1", "R@5", "R@10", "any@5", "NDCG@10", "MRR@10", "P_ret", "n_ret")
    return {
        "documents": scored.documents,
        "questions": scored.questions,
        "refused": dict(scored.refused),
        "stages": {stage: {m: round(kept.mean(m), 4) for m in names} for stage, kept in scored.stages.items()},
    }


if __name__ == "__main__":
    main()
