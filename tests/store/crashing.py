"""Killing writers at random moments, and what must be true afterwards. Used by the test and by `bench/crash.py`."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dolmen.domain.text import analyze
from dolmen.store.contract import Filter, Store
from dolmen.store.opening import open_store

ROOT = Path(__file__).parents[2]
STATUSES = ("proposed", "active", "superseded", "deleted")


@dataclass
class Promises:
    """What the writers said: by memory, the last change that was acknowledged and the one that was only tried."""

    done: dict[str, dict[str, Any]] = field(default_factory=dict)
    tried: dict[str, dict[str, Any]] = field(default_factory=dict)
    acknowledged: int = 0

    def hear(self, output: bytes) -> None:
        for text in output.split(b"\n")[:-1]:  # the last one is cut off or empty
            line = json.loads(text)
            if line["say"] == "try":
                self.tried[line["id"]] = line
            else:
                self.done[line["id"]] = self.tried.pop(line["id"])
                self.acknowledged += 1


def crash(url: str, chance: random.Random, promises: Promises, writers: int = 3) -> None:
    """Starts writers on the store, kills each with SIGKILL at a random moment, and notes what they said."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "tests.store.crash_writer", url, f"w{chance.getrandbits(40):x}"],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env=environment,
        )
        for _ in range(writers)
    ]
    outputs = []
    for process in started:
        assert process.stdout is not None
        outputs.append(process.stdout.readline())  # it is at work
    for process in chance.sample(started, len(started)):
        time.sleep(chance.uniform(0, 0.15))  # the random moment is the test
        process.kill()
    for process, first in zip(started, outputs, strict=True):
        rest, _ = process.communicate()
        promises.hear(first + rest)


def check(url: str, promises: Promises) -> int:
    """Opens the store as the next process would, and raises AssertionError unless every promise was kept: each
    acknowledged change is there once, each unacknowledged one is there whole or not at all, and the index has exactly
    the text of the active memories. Returns the number of memories."""
    store = open_store(url)
    with store.read() as tx:
        stored = list(tx.memories.stream("v"))
    by_id = {memory.id: memory for memory in stored}
    assert len(by_id) == len(stored), "a memory is there twice"
    for id in promises.done.keys() | promises.tried.keys():
        allowed = [line for line in (promises.done.get(id), promises.tried.get(id)) if line]
        found = by_id.get(id)
        if found is None:
            gone = id not in promises.done or any(line["version"] == 0 for line in allowed)
            assert gone, f"{id} was acknowledged and is lost"
        else:
            state = (found.version, found.status, found.text)
            assert state in [(line["version"], line["status"], line["text"]) for line in allowed], f"{id}: {state}"
    assert by_id.keys() <= promises.done.keys() | promises.tried.keys(), "there is a memory that nobody announced"
    _check_index(store, by_id)
    # What was heard is now what is there: the next round goes on from it.
    for id, line in promises.tried.items():
        if id in by_id and by_id[id].version == line["version"]:
            promises.done[id] = line
        elif id not in by_id:
            promises.done.pop(id, None)
    promises.done = {id: line for id, line in promises.done.items() if line["version"] != 0}
    promises.tried.clear()
    store.close()
    return len(stored)


def _check_index(store: Store, by_id: dict[str, Any]) -> None:
    everywhere = Filter("v", None, now=0, statuses=STATUSES, include_expired=True)  # type: ignore[arg-type]
    with store.read() as tx:
        active = {id for id, memory in by_id.items() if memory.status == "active"}
        live = Filter("v", None, now=0)
        model = tx.index.find_model("m", 64)
        health = tx.index.health(live, model)
        assert health.passages == health.embedded == len(active), "index and rows differ in number"
        for word in ("heron", "stork"):
            (token,) = analyze(word)
            right = {id: memory for id, memory in by_id.items() if memory.text.startswith(word)}
            hits = tx.index.match(everywhere, [token], len(by_id) + 9)
            assert sorted(hit.memory for hit in hits) == sorted(right), "index and rows differ"
            for hit in hits:
                assert hit.tokens.split(" ") == analyze(right[hit.memory].text)
            hits = tx.index.match(live, [token], len(by_id) + 9)
            assert sorted(hit.memory for hit in hits) == sorted(right.keys() & active)
        if active and model is not None:
            from tests.contract.given import unit

            near = tx.index.nearest(live, model, unit(1), len(active) + 9)
            assert sorted(hit.memory for hit in near) == sorted(active), "vectors and rows differ"
        for id, memory in by_id.items():
            assert [r.memory.version for r in tx.memories.revisions("v", id)] == list(range(1, memory.version))
