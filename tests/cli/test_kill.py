"""A killed command leaves nothing half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from dolmen.app import open_app
from dolmen.services.accounts import local_actor
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory
from dolmen.services.scoping import visible
from dolmen.services.transfer import export, import_
from dolmen.settings import Settings
from dolmen.store.opening import open_store
from tests.conftest import Engine, NewStore

COUNT = 1_000


@pytest.mark.slow
def test_an_import_that_was_killed_is_started_again_and_finishes(engine: Engine, new_store: NewStore) -> None:
    source, target = new_store("sqlite"), new_store(engine)
    with open_app(Settings(database=source), models=False) as app:
        owner = local_actor(app.runtime, agent="cli", human=True)
        for start in range(0, COUNT, 200):
            remember(app.runtime, owner, [NewMemory(content=f"Statement number {start + n}") for n in range(200)])
        lines = list(export(app.runtime, owner))
    process = subprocess.Popen(
        [sys.executable, "-m", "dolmen", "import", "-", "--database", target],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "DOLMEN_EMBEDDER": "none"},
    )
    assert process.stdin is not None
    process.stdin.write("".join(line + "\n" for line in lines[:700]).encode())
    process.stdin.flush()
    store = open_store(target)
    arrived = 0
    while arrived < 100:  # it is at work; a hang is ended by the suite's own limit
        with store.read() as tx:
            arrived = sum(len(list(tx.memories.stream(vault))) for vault, _ in tx.accounts.vaults())
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()
    store.close()
    with open_app(Settings(database=target), models=False) as app:
        owner = local_actor(app.runtime, agent="cli", human=True)
        report = import_(app.runtime, owner, lines)
        assert report.complete
        assert report.refusals == 0
        assert report.imported["memory"] + report.present["memory"] == COUNT
        assert report.present["memory"] >= 100
        again = list(export(app.runtime, owner))
        assert again[1:] == lines[1:], "and so is everything that came before the kill"
        with app.runtime.store.read() as tx:
            assert tx.index.health(visible(tx, owner, "*"), None).passages == COUNT
