"""The measured rows as Markdown, with what they are held to."""

from __future__ import annotations

from collections.abc import Sequence

from bench.latency.measuring import Timing
from bench.latency.runs import Row
from bench.latency.starting import Start

LIMITS = {"none": (5.0, 4.0), "auto": (35.0, 35.0)}
"""CPU ms of a store and of a recall, without and with the model."""
TAIL, FLAT = 3.0, 2.0
"""p95 over p50, and the largest size over the smallest."""
START_LIMIT, IDLE_LIMIT = 2.0, 150.0
_DOORS = {"none": "no server", "http": "HTTP", "stdio": "stdio"}
_MODELS = {"none": "off", "auto": "on"}


def line(row: Row) -> str:
    cells = [f"{row.size:,}", row.engine, _MODELS[row.model], _DOORS[row.door]]
    for timing in (row.store, row.recall):
        cells += [f"{timing.p50:.1f}", f"{timing.p95:.1f}", _cpu(timing)]
    return f"| {' | '.join([*cells, f'{row.memory:.0f}'])} |"


def report(
    machine: str, rows: Sequence[Row], peers: Sequence[Row], starts: Sequence[Start], model: dict[str, float] | None
) -> str:
    parts = [f"Machine: {machine}.", _rows([*peers, *rows])]
    if model:
        parts.append(f"Of that, the model alone: {model['store']:.1f} ms CPU a store, {model['recall']:.1f} a recall.")
    if starts:
        parts.append(_starts(starts))
    missed = [f"- {miss}" for miss in misses(rows, starts)]
    parts.append("\n".join(["Over the limit:", *missed]) if missed else "Everything is within its limit.")
    return "\n\n".join(parts)


def misses(rows: Sequence[Row], starts: Sequence[Start]) -> list[str]:
    """What does not reach its figure."""
    found = [miss for row in rows for miss in _slow(row)]
    for place in dict.fromkeys((row.engine, row.model, row.door) for row in rows):
        found += _grown(sorted((r for r in rows if (r.engine, r.model, r.door) == place), key=lambda r: r.size))
    found += [f"{s.engine}, {s.door}: first tools/list after {s.tools:.2f} s" for s in starts if s.tools > START_LIMIT]
    return found + [f"{s.engine}, {s.door}: {s.idle:.0f} MB at rest" for s in starts if s.idle > IDLE_LIMIT]


def _slow(row: Row) -> list[str]:
    found = []
    for what, timing, most in zip(("store", "recall"), (row.store, row.recall), LIMITS[row.model], strict=True):
        if timing.all > most:
            found.append(f"{_name(row)}, {row.size:,} memories: {what} takes {timing.all:.1f} ms CPU, limit {most:g}")
        if timing.p95 > TAIL * timing.p50:
            found.append(f"{_name(row)}, {row.size:,} memories: {what} p95 is {timing.p95 / timing.p50:.1f} times p50")
    return found


def _grown(same: Sequence[Row]) -> list[str]:
    least, most = same[0], same[-1]
    found = []
    for what, small, large in (("store", least.store, most.store), ("recall", least.recall, most.recall)):
        times = large.all / max(0.01, small.all)
        if times > FLAT:
            found.append(
                f"{_name(most)}: {what} takes {times:.1f} times the CPU at {most.size:,} than at {least.size:,}"
            )
    return found


def _name(row: Row) -> str:
    return f"{row.engine}, model {_MODELS[row.model]}, {_DOORS[row.door]}"


def _rows(rows: Sequence[Row]) -> str:
    head = (
        "| memories | engine | model | door | store p50 | p95 | CPU | recall p50 | p95 | CPU | MB |\n"
        "|---:|---|---|---|---:|---:|---:|---:|---:|---:|---:|"
    )
    ordered = sorted(rows, key=lambda r: (r.engine != "plain FTS5", r.engine != "sqlite", r.model, r.door, r.size))
    return "\n".join([head, *map(line, ordered)])


def _starts(starts: Sequence[Start]) -> str:
    head = (
        "| engine | memories | door | first tools/list, s | CPU until then, s | MB at rest, model loaded |\n"
        "|---|---:|---|---:|---:|---:|"
    )
    lines = [
        f"| {s.engine} | {s.size:,} | {_DOORS[s.door]} | {s.tools:.2f} | {s.cpu:.2f} | {s.idle:.0f} |" for s in starts
    ]
    return "\n".join([head, *lines])


def _cpu(timing: Timing) -> str:
    return f"{timing.cpu:.1f}" + (f" + {timing.database:.1f}" if timing.database else "")
