"""Kills three writers at random moments, many times over, and checks each time that no acknowledged write was lost.

python -m bench.crash --rounds 200 --engine sqlite
python -m bench.crash --rounds 200 --engine postgres
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from contextlib import ExitStack

from dolmen.store.opening import open_store
from tests.postgres import private_server
from tests.store.crashing import Promises, check, crash


def run(url: str, rounds: int, seed: int) -> None:
    store = open_store(url)
    with store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
    store.close()
    chance, promises = random.Random(seed), Promises()
    began = time.monotonic()
    memories = 0
    for number in range(1, rounds + 1):
        crash(url, chance, promises)
        memories = check(url, promises)
        if number % 10 == 0 or number == rounds:
            print(f"{number} rounds, {promises.acknowledged} acknowledged changes, {memories} memories", flush=True)
    print(f"{rounds} rounds in {time.monotonic() - began:.0f} s: nothing lost, nothing doubled, index consistent")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=200)
    options.add_argument("--engine", choices=["sqlite", "postgres"], default="sqlite")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    with ExitStack() as stack:
        if given.engine == "sqlite":
            url = f"sqlite:///{stack.enter_context(tempfile.TemporaryDirectory())}/crash.db"
        else:
            url = stack.enter_context(private_server()).create_database()
        run(url, given.rounds, given.seed)


if __name__ == "__main__":
    main()
