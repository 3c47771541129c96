"""`contract.Memories.places`: what was written before a memory in its session."""

from __future__ import annotations

from dolmen.domain.ranking import SHARES, Place
from tests.contract.given import Desk


def test_the_places_of_a_session_name_the_memories_before_nearest_first(desk: Desk) -> None:
    first, second, third, fourth = (desk.add(f"turn {n}", session="s") for n in range(4))
    with desk.store.read() as tx:
        places = tx.memories.places("v", [m.id for m in (first, second, third, fourth)])
    assert places == {
        first.id: Place("s", 6),
        second.id: Place("s", 6, (first.id,)),
        third.id: Place("s", 6, (second.id, first.id)),
        fourth.id: Place("s", 6, (third.id, second.id)),
    }
    assert len(places[fourth.id].before) == len(SHARES)


def test_another_session_and_another_vault_are_not_before(desk: Desk) -> None:
    mine = desk.add("mine", session="s")
    desk.add("other session", session="t")
    desk.add("other vault", session="s", vault="w")
    desk.add("no session")
    last = desk.add("last", session="s")
    with desk.store.read() as tx:
        assert tx.memories.places("v", [last.id]) == {last.id: Place("s", 4, (mine.id,))}


def test_memories_without_a_session_have_no_place(desk: Desk) -> None:
    plain = desk.add("plain")
    with desk.store.read() as tx:
        assert tx.memories.places("v", [plain.id]) == {}
    spoken = desk.add("spoken", session="s")
    with desk.store.read() as tx:
        assert tx.memories.places("v", [plain.id, spoken.id, "unknown"]) == {spoken.id: Place("s", 6)}
        assert tx.memories.places("v", []) == {}


def test_any_number_of_memories_is_placed_at_once(desk: Desk) -> None:
    ids = [desk.add(f"turn {n}", session="s").id for n in range(120)]
    with desk.store.read() as tx:
        places = tx.memories.places("v", ids * 5)
    assert [places[id].before[:1] for id in ids[1:]] == [(id,) for id in ids[:-1]]
