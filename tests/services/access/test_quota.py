"""How many memories a connection may keep, whichever way it writes them and however many it writes at once (C-338)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Actor, Bounds
from dolmen.services import accounts
from dolmen.services.edit import edit
from dolmen.services.forget import forget
from dolmen.services.notes.creating import create_note
from dolmen.services.requests import Edit, Forget, Handoff
from dolmen.services.requests.notes import NewNote
from dolmen.services.sessions import handoff
from tests.services.conftest import House

AT_ONCE = 8


@pytest.fixture
def few(house: House) -> Actor:
    """A connection that may keep three memories."""
    _, secret = accounts.create_key(house.rt, house.owner, agent="few", bounds=Bounds(memories=3))
    return accounts.authenticate(house.rt, secret)


def kept(house: House, actor: Actor) -> int:
    with house.rt.store.read() as tx:
        return tx.memories.written_by(actor.vault, actor.connection)


def refused(error: pytest.ExceptionInfo[DolmenError]) -> bool:
    return error.value.code == "forbidden" and "may keep 3 memories" in error.value.message


def test_writing_at_the_same_time_makes_no_more_room(house: House, few: Actor) -> None:
    together = Barrier(AT_ONCE)

    def write(number: int) -> str:
        together.wait(20)
        try:
            match number % 3:
                case 0:
                    return house.remember(f"Fact number {number} of many", few).outcome
                case 1:
                    return create_note(house.rt, few, NewNote(f"# Note {number}\n\nIt states this.\n")).outcome
                case _:
                    return handoff(house.rt, few, Handoff(f"State {number}", project=f"p{number}")).outcome
        except DolmenError as error:
            return error.code

    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = list(pool.map(write, range(AT_ONCE)))
    assert kept(house, few) == 3, outcomes
    assert outcomes.count("forbidden") == AT_ONCE - 3, outcomes


def test_what_replaces_a_memory_is_one_more(house: House, few: Actor) -> None:
    ref = house.stored("Version 1 of it", few)
    for number in (2, 3):
        ref = edit(house.rt, few, Edit(ref, "supersede", f"Version {number} of it")).new_ref or ""
    with pytest.raises(DolmenError) as error:
        edit(house.rt, few, Edit(ref, "supersede", "Version 4 of it"))
    assert refused(error)
    assert edit(house.rt, house.owner, Edit(ref, "supersede", "A person's words")).outcome == "updated"


def test_what_is_brought_back_needs_room_again(house: House, few: Actor) -> None:
    first = [house.stored(f"First fact, number {number}", few) for number in range(3)]
    for ref in first:
        forget(house.rt, few, Forget(ref=ref))
    for number in range(2):
        house.stored(f"Second fact, number {number}", few)
    edit(house.rt, few, Edit(first[0], "restore"))
    with pytest.raises(DolmenError) as error:
        edit(house.rt, few, Edit(first[1], "restore"))
    assert refused(error)
    assert edit(house.rt, house.owner, Edit(first[1], "restore")).outcome == "updated"
    assert kept(house, few) == 4
