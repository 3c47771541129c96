"""Notes that are made, moved and brought back by transactions that really overlap."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.store.contract import Tx
from tests.contract.given import Desk, by
from tests.contract.test_notes import added, note


def while_it_moves(desk: Desk, moving: Callable[[Tx], None], other: Callable[[Tx], Any]) -> Any:
    """What becomes of OTHER, which begins to write after MOVING has written and before that commits."""
    written, result = threading.Event(), []

    def second() -> None:
        assert written.wait(20)
        try:
            with desk.store.write() as tx:
                started.set()
                result.append(other(tx))
        except DolmenError as error:
            result.append(error.code)

    started = threading.Event()
    thread = threading.Thread(target=second)
    thread.start()
    with desk.store.write() as tx:
        moving(tx)
        written.set()
        assert started.wait(20)
        thread.join(0.3)  # it waits for this transaction now, or has been refused
    thread.join(20)
    return result[0]


def moved(tx: Tx, before: Any, permalink: str) -> None:
    after = before.with_(permalink=permalink, version=before.version + 1, updated_at=tx.now)
    tx.notes.update(before, after, by(tx.now, "move"))


@pytest.mark.parametrize("taker", ["a new note", "a moved note", "an imported note"])
def test_nobody_gets_the_address_that_a_note_is_just_leaving(desk: Desk, taker: str) -> None:
    """C-97: refs that name it still lead to the note that had it."""
    first, other = added(desk, "old"), added(desk, "elsewhere")
    fresh = note(desk, "old")

    def take(tx: Tx) -> Any:
        if taker == "a new note":
            return tx.notes.add(fresh)
        if taker == "an imported note":
            return tx.notes.restore(fresh, ())
        return moved(tx, other, "old")

    refused = while_it_moves(desk, lambda tx: moved(tx, first, "new"), take)
    assert refused == ("conflict" if taker == "a moved note" else False)
    with desk.store.read() as tx:
        assert tx.notes.get("v", fresh.id) is None
        there = tx.notes.at_address("v", "old")
        assert there is not None
        assert (there.id, there.permalink) == (first.id, "new")
        assert tx.notes.get("v", other.id) == other


def test_of_two_notes_that_move_to_one_address_one_arrives(desk: Desk) -> None:
    first, other = added(desk, "one"), added(desk, "two")
    refused = while_it_moves(desk, lambda tx: moved(tx, first, "both"), lambda tx: moved(tx, other, "both"))
    assert refused == "conflict"
    with desk.store.read() as tx:
        assert tx.notes.get("v", other.id) == other


def test_a_new_note_may_have_the_address_of_one_that_is_just_deleted(desk: Desk) -> None:
    first, fresh = added(desk, "old"), note(desk, "old")

    def delete(tx: Tx) -> None:
        after = first.with_(status="deleted", version=2, updated_at=tx.now)
        tx.notes.update(first, after, by(tx.now, "delete"))

    assert while_it_moves(desk, delete, lambda tx: tx.notes.add(fresh)) is True
