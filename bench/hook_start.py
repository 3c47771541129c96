"""What a session hook costs: each event as a process of its own, beside a Python that does nothing.

python -m bench.hook_start [--runs 30]

SessionStart asks a server that runs beside it, which is also measured; the other events use no network. The runs of the
lines alternate, so that a busy machine slows them all.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.process import machine
from bench.servers import environment, http_server

OUT = Path(__file__).resolve().parent / "out"
EVENTS: Mapping[str, Mapping[str, str]] = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": "Make the client retry three times"},
    "Stop": {"last_assistant_message": "Done: it waits 200 ms between attempts."},
    "an event that is not known": {},
}


@dataclass
class Series:
    """Of one line of the table, in milliseconds."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def add(self, words: list[str], payload: bytes, variables: Mapping[str, str], folder: Path) -> None:
        before, began = _used(), time.perf_counter()
        subprocess.run(
            [sys.executable, *words], input=payload, env=variables, cwd=folder, capture_output=True, check=True
        )
        self.wall.append((time.perf_counter() - began) * 1000)
        self.processor.append((_used() - before) * 1000)


def _used() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def measure(runs: int, folder: Path) -> dict[str, Series]:
    repository = folder / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    subprocess.run(
        ["git", "-C", str(repository), "remote", "add", "origin", "git@github.com:acme/shop.git"], check=True
    )
    name = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    subprocess.run(["git", "-C", str(repository), *name, "commit", "-qm", "Begin", "--allow-empty"], check=True)
    found: dict[str, Series] = {name: Series() for name in ("python -c pass", *EVENTS)}
    database = f"sqlite:///{folder}/store.db"
    with http_server(database, embedder="none") as server:
        homes = {f"XDG_{kind}_HOME": str(folder / kind.lower()) for kind in ("DATA", "CONFIG")}
        variables = {**environment(database, "none", URL=server.address), **homes}
        del variables["DOLMEN_PROJECT"]  # so that git is asked, as it is by users
        # Compiled once, as an installation is, also where the environment says to compile each time.
        variables |= {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
        for turn in range(runs + 2):
            series = found if turn > 1 else {name: Series() for name in found}  # the first two compile and warm up
            series["python -c pass"].add(["-c", "pass"], b"", variables, repository)
            for name, facts in EVENTS.items():
                payload = {"session_id": f"session {turn}", "cwd": str(repository), "hook_event_name": name, **facts}
                series[name].add(
                    ["-m", "dolmen", "hook", "claude-code"], json.dumps(payload).encode(), variables, repository
                )
    return found


def table(found: Mapping[str, Series]) -> str:
    base = found["python -c pass"]
    lines = [
        "| | wall, least ms | wall, median ms | beside `python -c pass` | processor, median ms |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, series in found.items():
        middle, processor = statistics.median(series.wall), statistics.median(series.processor)
        ratio = middle / statistics.median(base.wall)
        lines.append(f"| {name} | {min(series.wall):.0f} | {middle:.0f} | {ratio:.1f} × | {processor:.0f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=30)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        found = measure(runs, Path(folder))
    OUT.mkdir(exist_ok=True)
    figures = {name: {"wall": series.wall, "processor": series.processor} for name, series in found.items()}
    (OUT / "hook_start.json").write_text(json.dumps(figures))
    print(f"{machine()}, load {os.getloadavg()[0]:.1f}, {runs} runs\n\n{table(found)}")


if __name__ == "__main__":
    main()
