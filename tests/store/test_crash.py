"""An acknowledged write survives a killed process (DESIGN rule 1). The long run is `bench/crash.py`."""

from __future__ import annotations

import random

import pytest

from dolmen.store.opening import open_store
from tests.store.crashing import Promises, check, crash

ROUNDS = 5


@pytest.mark.slow
def test_what_was_acknowledged_is_there_after_writers_are_killed(engine_url: str) -> None:
    store = open_store(engine_url)
    with store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
    store.close()
    chance, promises = random.Random(7), Promises()
    for _ in range(ROUNDS):
        crash(engine_url, chance, promises)
        check(engine_url, promises)
    assert promises.acknowledged >= ROUNDS
