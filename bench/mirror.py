"""What keeping a folder of notes in step costs, beside `git status` on the same folder.

python -m bench.mirror [--notes 5000] [--runs 10]
python -m bench.mirror --remote [--notes 1000]: a first mirror over HTTP to a server, beside one on the store

Processor time, in a store of its own without a model; git's is that of its process, which starts each time. `--remote`
tells seconds that pass too, with the server on the same machine.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench.process import machine
from dolmen.app import open_app
from dolmen.client.endpoint import Endpoint
from dolmen.client.mirror import Mirror, Vault, open_mirror
from dolmen.client.mirror.served import ServedVault
from dolmen.client.mirror.wire import Wire
from dolmen.interfaces.http.asgi import create_app
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.http.server import server
from dolmen.services.accounts import local_actor
from dolmen.services.notes.editing import edit_note
from dolmen.services.notes.mirroring import Mirroring
from dolmen.services.requests.notes import NoteEdit
from dolmen.settings import Settings

OUT = Path(__file__).resolve().parent / "out"


def fill(root: Path, notes: int) -> None:
    """Notes of six statements in folders of fifty."""
    for number in range(notes):
        file = root / f"folder {number // 50:03d}" / f"note {number:05d}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        lines = [f"- [fact] Service {number} talks to service {number + n} over port {8000 + n} #net" for n in range(5)]
        file.write_text(f"# Note {number}\n\nWhat is known of service {number}.\n\n" + "\n".join(lines) + "\n")


def processor(work: Callable[[], object]) -> float:
    """Milliseconds of this process."""
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def of_git(root: Path) -> float:
    def used() -> float:
        spent = resource.getrusage(resource.RUSAGE_CHILDREN)
        return spent.ru_utime + spent.ru_stime

    before = used()
    subprocess.run(["git", "status", "--short"], cwd=root, check=True, capture_output=True)
    return (used() - before) * 1000


def commit(root: Path) -> None:
    who = ["-c", "user.name=bench", "-c", "user.email=bench@example.org"]
    for words in (["init", "-q"], ["add", "-A"], [*who, "commit", "-q", "-m", "notes"], ["status"]):
        subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


def measure(root: Path, mirror: Mirror, agent: Callable[[int], object], runs: int) -> dict[str, float]:
    first = next(root.rglob("*.md"))
    rows: dict[str, list[float]] = {name: [] for name in ("git", "unchanged", "watching", "file", "note")}
    mirror.step()
    for run in range(runs):
        rows["git"].append(of_git(root))
        rows["unchanged"].append(processor(mirror.sync))
        rows["watching"].append(processor(mirror.step))
        with first.open("a") as stream:
            stream.write(f"\nA person says {run}.\n")
        rows["file"].append(processor(mirror.sync))
        agent(run)
        rows["note"].append(processor(mirror.sync))
    return {name: statistics.median(values) for name, values in rows.items()}


# -------------------------------------------------------------------------------------------------------- over HTTP
@contextmanager
def served(place: str) -> Iterator[ServedVault]:
    """A server in this process, and its vault as another machine has it."""
    ports: list[int] = []
    listening = threading.Event()

    def ready(port: int) -> None:
        ports.append(port)
        listening.set()

    options = HttpOptions()
    with open_app(Settings(database=f"sqlite:///{place}/served.db", embedder="none"), models=False) as app:
        running = server(create_app(app.runtime, options), options.host, 0, ready=ready)
        thread = threading.Thread(target=running.run)
        thread.start()
        listening.wait()
        wire = Counted(Endpoint(f"http://127.0.0.1:{ports[0]}/mcp", agent="mirror"))
        try:
            yield ServedVault(wire, "user")
        finally:
            wire.close()
            running.should_exit = True
            thread.join()


class Counted(Wire):
    asked: int = 0

    def ask(self, path: str, body: str | None = None) -> dict[str, Any]:
        Counted.asked += 1
        return super().ask(path, body)


def first_mirrors(notes: int) -> dict[str, dict[str, float]]:
    """A first mirror of so many files on the store, then over HTTP, and one of the notes into an empty folder."""
    rows: dict[str, dict[str, float]] = {}

    def timed(name: str, root: Path, vault: Vault, id: str) -> None:
        with open_mirror(root, vault, vault_id=id, scope="user") as mirror:
            began, used = time.perf_counter(), time.process_time()
            mirror.sync()
            rows[name] = {"seconds": time.perf_counter() - began, "processor": time.process_time() - used}

    with tempfile.TemporaryDirectory() as place:
        roots = {name: Path(place) / name for name in ("store", "http", "down")}
        for name, root in roots.items():
            root.mkdir()
            if name != "down":
                fill(root, notes)
        with open_app(Settings(database=f"sqlite:///{place}/own.db", embedder="none"), models=False) as app:
            person = local_actor(app.runtime, agent="mirror", human=True)
            timed("store", roots["store"], Mirroring(app.runtime, person, "user"), person.vault)
        with served(place) as vault:
            id, _ = vault.about()
            for name in ("http", "down"):
                Counted.asked = 0
                timed(name, roots[name], vault, id)
                rows[name]["calls"] = Counted.asked
    return rows


def remote(notes: int) -> None:
    rows = first_mirrors(notes)
    base = rows["store"]
    print(f"| {notes:,} notes, the first time | s | times the store | CPU s | calls |\n|---|---:|---:|---:|---:|")
    names = {"store": "on the store", "http": "to a server", "down": "from a server, into an empty folder"}
    for name, row in rows.items():
        times, calls = row["seconds"] / base["seconds"], row.get("calls", 0)
        print(f"| {names[name]} | {row['seconds']:.1f} | {times:.2f} | {row['processor']:.1f} | {calls:.0f} |")
    OUT.mkdir(exist_ok=True)
    (OUT / "mirror-remote.json").write_text(json.dumps({"machine": machine(), "notes": notes, "rows": rows}, indent=2))


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--notes", type=int)
    options.add_argument("--remote", action="store_true")
    options.add_argument("--runs", type=int, default=10)
    given = options.parse_args()
    if given.remote:
        remote(given.notes or 1_000)
        return
    given.notes = given.notes or 5_000
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "vault"
        root.mkdir()
        fill(root, given.notes)
        settings = Settings(database=f"sqlite:///{place}/dolmen.db", embedder="none")
        with open_app(settings, models=False) as app:
            person = local_actor(app.runtime, agent="mirror", human=True)
            agent = replace(person, agent="agent", human=False)
            notes = Mirroring(app.runtime, person, "user")
            with open_mirror(root, notes, vault_id=person.vault, scope="user") as mirror:
                said = sys.stderr
                taken = processor(lambda: mirror.sync(progress=lambda n, of: None if n % 500 else print(n, file=said)))
                commit(root)
                time.sleep(3)  # younger files are read again: a coarse clock could hide a second write
                mirror.sync()
                ref = notes.standing()[-1].id
                edit = lambda run: edit_note(app.runtime, agent, NoteEdit(ref, "append", f"An agent says {run}."))  # noqa: E731
                found = measure(root, mirror, edit, given.runs)
    found["taking in"] = taken / given.notes
    print(table(found, given.notes))
    OUT.mkdir(exist_ok=True)
    (OUT / "mirror.json").write_text(json.dumps({"machine": machine(), "notes": given.notes, "ms": found}, indent=2))


def table(found: dict[str, float], notes: int) -> str:
    rows = [
        ("`git status`", "git"),
        ("a run, nothing changed", "unchanged"),
        ("a look while watching, nothing changed", "watching"),
        ("a run, one file changed", "file"),
        ("a run, one note changed", "note"),
    ]
    lines = [f"| {notes:,} notes | CPU ms | times `git status` |", "|---|---:|---:|"]
    lines += [f"| {what} | {found[name]:.0f} | {found[name] / found['git']:.1f} |" for what, name in rows]
    return "\n".join([*lines, f"| taking a note in for the first time, each | {found['taking in']:.1f} | |"])


if __name__ == "__main__":
    main()
