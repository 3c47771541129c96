"""Is "stale" true, and what does a look take? `python -m bench.refs REPOSITORY [--back 500] [--steps 20]`

Symbols of an old commit become memories; then the history is walked forward, and after each step one round of
`client.refs.sync` against a store is held against an independent judge. The repository itself is not touched.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.refs.judging import STALE, VERDICTS, Snapshot, Symbol, Verdict, snapshot
from dolmen.app import open_app
from dolmen.client.refs import sync
from dolmen.domain.values import Actor
from dolmen.interfaces.desk import LocalDesk
from dolmen.services.accounts import local_actor
from dolmen.services.code.views import code_refs
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory
from dolmen.services.runtime import Runtime
from dolmen.settings import Settings
from dolmen.store.contract import Filter

PROJECT = "bench/refs"
OUT = Path(__file__).resolve().parent.parent / "out" / "refs.json"
States = Mapping[tuple[str, str], str]


def git(place: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(place), *words], check=True, capture_output=True, text=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path, help="a git repository with Python in it; bare or not")
    parser.add_argument("--back", type=int, default=500, help="commits of the first parent to go back")
    parser.add_argument("--steps", type=int, default=20, help="how often to look on the way")
    parser.add_argument("--symbols", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "clone"
        subprocess.run(["git", "clone", "-q", "--shared", str(arguments.repository), str(place)], check=True)
        found = walk(place, Path(folder), arguments)
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(found, indent=2))
    print(tables(found))
    return 0


def walk(place: Path, folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    history = git(place, "rev-list", "--first-parent", "HEAD").split()[::-1]
    start = max(0, len(history) - 1 - arguments.back)
    stops = sorted(
        {start + round((len(history) - 1 - start) * n / arguments.steps) for n in range(arguments.steps + 1)}
    )
    git(place, "checkout", "-q", history[stops[0]])
    with open_app(Settings(database=f"sqlite:///{folder}/dolmen.db", embedder="none"), models=False) as app:
        actor = local_actor(app.runtime, agent="bench", human=True)
        desk = LocalDesk(app.runtime, actor)
        chosen = choose(snapshot(place), arguments.symbols, arguments.seed)
        for at in range(0, len(chosen), 200):
            items = [NewMemory(f"`{each.name}` in {each.path}", project=PROJECT) for each in chosen[at : at + 200]]
            remember(app.runtime, actor, items)
        files = {each.path: (place / each.path).read_bytes() for each in chosen}
        seconds = [timed(desk, place)]
        verdicts: list[tuple[Verdict, str, bool]] = []
        for n, stop in enumerate(stops[1:], 1):
            git(place, "checkout", "-q", history[stop])
            seconds.append(timed(desk, place))
            now = snapshot(place)
            states = by_symbol(app.runtime, actor)
            verdicts += [entry for each in chosen if (entry := compared(now, each, states, place, files[each.path]))]
            print(f"step {n} of {len(stops) - 1}: {seconds[-1][0]:.2f} s", file=sys.stderr)
        targets = (
            len(desk.targets(PROJECT, 0, 9)) + len(desk.targets(PROJECT, 500, 9)) + len(desk.targets(PROJECT, 1000, 9))
        )
    counts: Counter[tuple[str, str]] = Counter((verdict, state) for verdict, state, _ in verdicts)
    by_file: Counter[tuple[bool, bool]] = Counter((verdict in STALE, file) for verdict, _, file in verdicts)
    return {
        "repository": arguments.repository.name, "commits": stops[-1] - stops[0], "steps": len(stops) - 1,
        "symbols": len(chosen), "targets": targets, "seconds": seconds,
        "counts": [[*key, value] for key, value in counts.items()],
        "by_file": [[*key, value] for key, value in by_file.items()],
    }  # fmt: skip


def choose(found: Snapshot, most: int, seed: int) -> list[Symbol]:
    """Symbols whose memory is read as one reference: the name is no part of the path, and stands once in the file."""
    fit = [
        each for each in found.symbols.values()
        if each.name.rpartition(".")[2] not in each.path and each.name.count(".") <= 1 and len(each.name) > 3
        and not each.name.rpartition(".")[2].startswith("__")
    ]  # fmt: skip
    random.Random(seed).shuffle(fit)
    distinct = {f"{each.path} {each.name}".casefold(): each for each in fit}  # others are the same statement
    return list(distinct.values())[:most]


def timed(desk: LocalDesk, place: Path) -> tuple[float, float]:
    """Seconds of wall time and of processor time, git's included."""
    began, used = time.perf_counter(), sum(os.times()[:4])
    sync(desk, place, PROJECT)
    return time.perf_counter() - began, sum(os.times()[:4]) - used


def by_symbol(rt: Runtime, actor: Actor) -> States:
    """The state of every symbol reference."""
    with rt.store.read() as tx:
        memories = tx.memories.select(Filter(actor.vault, None, tx.now), limit=10_000)
    shown = code_refs(rt, actor, [memory.id for memory in memories])
    return {(view.path, view.symbol): view.state for views in shown.values() for view in views if view.symbol}


def compared(
    now: Snapshot, symbol: Symbol, states: States, place: Path, before: bytes
) -> tuple[Verdict, str, bool] | None:
    """(what the judge says, what the reference says, whether the file at the path differs)."""
    verdict = now.judge(symbol)
    if verdict is None:
        return None
    file = place / symbol.path
    state = states.get((symbol.path, symbol.name), "none")
    return verdict, state, not file.is_file() or file.read_bytes() != before


def tables(found: Mapping[str, Any]) -> str:
    counts = Counter({(verdict, state): value for verdict, state, value in found["counts"]})  # type: ignore[attr-defined]
    states = [
        state for state in ("current", "changed", "missing", "pending", "none") if any(s == state for _, s in counts)
    ]
    lines = [
        f"{found['repository']}: {found['symbols']} symbols, {found['commits']} commits in {found['steps']} steps",
        "",
        "| by the judge | symbol × step | " + " | ".join(f"said {state}" for state in states) + " |",
        "|---|---:|" + "---:|" * len(states),
    ]
    for verdict in VERDICTS:
        row = [counts[verdict, state] for state in states]
        if sum(row):
            lines.append(f"| {verdict} | {sum(row):,} | " + " | ".join(f"{value:,}" for value in row) + " |")
    said = {(v, s): n for (v, s), n in counts.items() if s in ("current", "changed", "missing")}
    right = sum(n for (v, s), n in said.items() if v in STALE and s != "current")
    told = sum(n for (_, s), n in said.items() if s != "current")
    true = sum(n for (v, _), n in said.items() if v in STALE)
    files = Counter({(stale, differs): value for stale, differs, value in found["by_file"]})
    wall, cpu = (sorted(pair[n] for pair in found["seconds"]) for n in (0, 1))
    lines += [
        "",
        f"stale: precision {share(right, told)}, recall {share(right, true)}; "
        f"`the file changed` as the sign: {share(files[True, True], files[True, True] + files[False, True])}, "
        f"{share(files[True, True], files[True, True] + files[True, False])}",
        f"a sync of {found['targets']} targets: median {statistics.median(wall):.2f} s "
        f"({statistics.median(cpu):.2f} s CPU), longest {wall[-1]:.2f} s ({cpu[-1]:.2f} s CPU)",
    ]
    return "\n".join(lines)


def share(part: int, whole: int) -> str:
    return f"{part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    sys.exit(main())
