"""Stores on PostgreSQL, opened without the detour by their URL's scheme."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from dolmen.store.ids import rising
from dolmen.store.postgres.engine import PostgresStore
from tests.contract.given import Clock, Desk

Open = Callable[..., PostgresStore]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def open_at(clock: Clock) -> Iterator[Open]:
    """Opens a store at a URL, with the engine's own options, and closes it after the test."""
    with ExitStack() as stack:

        def open_at(url: str, **options: float) -> PostgresStore:
            store = PostgresStore(url, clock, rising(clock), **options)  # type: ignore[arg-type]  # size and patience
            stack.callback(store.close)
            return store

        yield open_at


@pytest.fixture
def store(postgres_url: str, open_at: Open) -> PostgresStore:
    """A fresh store with the vaults `v` and `w`."""
    made = open_at(postgres_url)
    with made.write() as tx:
        tx.accounts.add_vault("v", "Ada's", "o", "Ada")
        tx.accounts.add_vault("w", "Bert's", "o", "Bert")
    return made


@pytest.fixture
def desk(store: PostgresStore, clock: Clock) -> Desk:
    return Desk(store, clock)
