"""A store on either engine, with its clock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dolmen.store.ids import rising
from dolmen.store.opening import open_store
from tests.contract.given import Clock, Desk


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desk(engine_url: str, clock: Clock) -> Iterator[Desk]:
    """A fresh store with the vaults `v` and `w`; the test runs once for each engine."""
    store = open_store(engine_url, clock, rising(clock))
    with store.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
        tx.accounts.add_vault("w", "Bert's", "o", "Bert")
    yield Desk(store, clock)
    store.close()
