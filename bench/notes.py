"""What reading, changing and asking notes takes, beside plain files and plain full-text search in the same run.

python -m bench.notes [--notes 5000] [--calls 200] [--engine sqlite|postgres]

The notes are the same on both sides. Dolmen answers as kmem's tools do, to the JSON text that an agent gets, in this
process: what a transport adds is measured by `bench.latency`. The plain side is what anybody would write in an hour: a
file for each note, and one FTS5 table over whole files, whose change is durable too. Calls of both sides alternate, so
that a busy machine slows both. Without a model: search by words alone.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from bench.corpus import question, statement
from bench.engines import opened
from bench.process import machine
from dolmen.app import open_app
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp.dispatch import call
from dolmen.interfaces.mcp.registry import face
from dolmen.services.accounts import local_actor
from dolmen.services.notes.creating import create_note
from dolmen.services.requests.notes import NewNote
from dolmen.services.runtime import Runtime
from dolmen.settings import Settings

OUT = Path(__file__).resolve().parent / "out"
KMEM = face("kmem")
BLOCKS = 12
"""Statements of a note."""
TOP, FOLDERS = 100, 60
"""Notes that lie in no folder, and folders for the others, in six top folders."""
WARM = 20


# ------------------------------------------------------------------------------------------------------------ the notes
def path_of(number: int) -> str:
    """The address of a note: the first ones at the top, the others in two levels of folders."""
    if number < TOP:
        return f"note-{number}"
    folder = number % FOLDERS
    return f"area-{folder % 6}/part-{folder}/note-{number}"


def source_of(number: int) -> str:
    """A note as people write them: front matter, two headings, paragraphs and statements."""
    said = [statement(number * BLOCKS + n) for n in range(BLOCKS)]
    lines = [f"- [decision] {text}" if n % 3 else text for n, text in enumerate(said)]
    half = BLOCKS // 2
    parts = (f"---\ntype: note\nowner: ada\n---\n# Note {number}", *lines[:half], "## Details", *lines[half:])
    return "\n\n".join(parts) + "\n"


# ------------------------------------------------------------------------------------------------------------ two sides
@dataclass(frozen=True)
class Dolmen:
    """kmem's tools over a store."""

    rt: Runtime
    actor: Actor

    def load(self, number: int) -> None:
        create_note(self.rt, self.actor, NewNote(source_of(number), permalink=path_of(number)))

    def read(self, number: int) -> int:
        return self._ask("read", ref=path_of(number))

    def edit(self, number: int, words: str) -> int:
        return self._ask("edit", ref=path_of(number), op="append", content=words)

    def recall(self, words: str) -> int:
        return self._ask("recall", query=words)

    def browse(self) -> int:
        return self._ask("browse")

    def _ask(self, tool: str, **args: object) -> int:
        answer = call(self.rt, self.actor, KMEM, tool, args)
        assert answer is not None
        assert not answer.failed, answer.text
        return len(answer.text)


@dataclass(frozen=True)
class Plain:
    """Files, and an FTS5 table over them."""

    folder: Path
    base: apsw.Connection

    def __post_init__(self) -> None:
        self.base.execute("PRAGMA journal_mode = wal")
        self.base.execute("PRAGMA synchronous = full")
        self.base.execute("CREATE VIRTUAL TABLE words USING fts5(path UNINDEXED, source)")

    def load(self, number: int) -> None:
        file = self._file(number)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(source_of(number), encoding="utf-8")
        given = (number, path_of(number), source_of(number))
        self.base.execute("INSERT INTO words(rowid, path, source) VALUES (?, ?, ?)", given)

    def read(self, number: int) -> int:
        return len(self._file(number).read_text(encoding="utf-8"))

    def edit(self, number: int, words: str) -> int:
        file = self._file(number)
        source = file.read_text(encoding="utf-8") + words + "\n"
        draft = file.with_suffix(".part")
        with draft.open("w", encoding="utf-8") as written:
            written.write(source)
            written.flush()
            os.fsync(written.fileno())
        draft.replace(file)
        with self.base:
            self.base.execute("UPDATE words SET source = ? WHERE rowid = ?", (source, number))
        return len(source)

    def recall(self, words: str) -> int:
        query = " OR ".join(f'"{word}"' for word in words.replace('"', " ").split())
        rows = self.base.execute(
            "SELECT path, snippet(words, 1, '', '', ' ', 60) FROM words WHERE words MATCH ? ORDER BY rank LIMIT 10",
            (query,),
        )
        return sum(len(path) + len(text) for path, text in rows)

    def browse(self) -> int:
        return sum(len(entry.name) for entry in os.scandir(self.folder))

    def _file(self, number: int) -> Path:
        return self.folder / f"{path_of(number)}.md"


# ------------------------------------------------------------------------------------------------------------ measuring
@dataclass
class Series:
    """Calls of one kind on one side, in milliseconds."""

    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)

    def time(self, work: Callable[[], object]) -> None:
        used, began = time.process_time(), time.perf_counter()
        work()
        self.wall.append((time.perf_counter() - began) * 1000)
        self.processor.append((time.process_time() - used) * 1000)

    def p50(self) -> float:
        return statistics.median(self.wall)

    def p95(self) -> float:
        return statistics.quantiles(self.wall, n=20)[-1]

    def cpu(self) -> float:
        return statistics.fmean(self.processor)


Works = Mapping[str, tuple[Callable[[], object], Callable[[], object]]]


def works(dolmen: Dolmen, plain: Plain, notes: int, turn: int) -> Works:
    """What is done in one turn: each operation on both sides, on the same note or question."""
    chance = random.Random(f"turn/{turn}")
    number, asked = chance.randrange(notes), chance.randrange(notes * BLOCKS)
    words, new = question(asked), f"- [note] {statement(10_000_000 + turn)}"
    return {
        "read": (lambda: dolmen.read(number), lambda: plain.read(number)),
        "edit": (lambda: dolmen.edit(number, new), lambda: plain.edit(number, new)),
        "recall": (lambda: dolmen.recall(words), lambda: plain.recall(words)),
        "browse": (dolmen.browse, plain.browse),
    }


def measure(dolmen: Dolmen, plain: Plain, notes: int, calls: int) -> dict[str, tuple[Series, Series]]:
    found = {name: (Series(), Series()) for name in works(dolmen, plain, notes, 0)}
    for turn in range(WARM + calls):
        for name, sides in works(dolmen, plain, notes, turn).items():
            for series, work in zip(found[name], sides, strict=True):
                (series if turn >= WARM else Series()).time(work)
    return found


def rows(found: Mapping[str, tuple[Series, Series]]) -> Iterator[tuple[str, ...]]:
    for name, (ours, theirs) in found.items():
        figures = (ours.p50(), ours.p95(), ours.cpu(), theirs.p50(), theirs.p95(), theirs.cpu())
        ratios = (ours.p50() / theirs.p50(), ours.cpu() / theirs.cpu())
        yield (name, *(f"{each:.2f}" for each in figures), *(f"{each:.1f}" for each in ratios))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=5000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--engine", choices=("sqlite", "postgres"), default="sqlite")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place, opened(given.engine) as engine:
        base = apsw.Connection(f"{place}/plain.db")
        plain = Plain(Path(place) / "files", base)
        with open_app(Settings(database=engine.new(), embedder="none"), models=False) as app:
            dolmen = Dolmen(app.runtime, local_actor(app.runtime, agent="bench"))
            began = time.process_time()
            for number in range(given.notes):
                dolmen.load(number)
                if number % 500 == 499:
                    print(f"{number + 1} notes", file=sys.stderr)
            loaded = (time.process_time() - began) * 1000 / given.notes
            with base:
                for number in range(given.notes):
                    plain.load(number)
            found = measure(dolmen, plain, given.notes, given.calls)
        base.close()
    head = ("call", "p50", "p95", "CPU", "plain p50", "plain p95", "plain CPU", "p50, ratio", "CPU, ratio")
    lines = [head, ("---", *["---:"] * (len(head) - 1)), *rows(found)]
    print(f"{given.notes} notes of {BLOCKS} statements, {given.engine}, {given.calls} calls each; {machine()}")
    print(f"load: {loaded:.1f} CPU ms a note\n")
    print("\n".join("| " + " | ".join(line) + " |" for line in lines))
    OUT.mkdir(exist_ok=True)
    kept = {name: [vars(side) for side in sides] for name, sides in found.items()}
    (OUT / "notes.json").write_text(json.dumps(kept))


if __name__ == "__main__":
    main()
