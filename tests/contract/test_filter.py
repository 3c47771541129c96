"""The one scope filter (DESIGN rule 2): what does not pass it is seen by no read, by no way of searching."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dolmen.domain.memory import Case, Memory
from dolmen.store.contract import Filter
from tests.contract.given import START, Desk, unit

Look = Callable[[Desk, Filter], set[str]]


def listed(desk: Desk, filter: Filter) -> set[str]:
    return set(desk.ids(filter))


def by_words(desk: Desk, filter: Filter) -> set[str]:
    return set(desk.found(filter, "heron"))


def by_meaning(desk: Desk, filter: Filter) -> set[str]:
    with desk.store.write() as tx:
        model = tx.index.model("m", 64, 0)
        for pending in tx.index.pending(model, 999):
            tx.index.set_vectors(pending.vault, model, [(pending.passage, unit(pending.passage))])
    return set(desk.nearest(filter, model, unit(1)))


def counted(desk: Desk, filter: Filter) -> set[str]:
    """Not which, but that there are as many as are listed."""
    found = listed(desk, filter)
    with desk.store.read() as tx:
        assert tx.memories.count(filter)[""] == len(found)
        assert sum(tx.memories.count(filter, "kind").values()) == len(found)
    return found


@pytest.fixture(params=[listed, by_words, by_meaning, counted])
def look(request: pytest.FixtureRequest) -> Look:
    """Each way to see memories; the right answers are the same for all."""
    way: Look = request.param
    return way


def heron(desk: Desk, n: int, **fields: Any) -> Memory:
    return desk.add(f"heron number {n}", **fields)


def test_only_the_vault_and_its_scopes_are_seen(desk: Desk, look: Look) -> None:
    user, mine = heron(desk, 1), heron(desk, 2, scope="project:a")
    other = heron(desk, 3, scope="project:b")
    heron(desk, 4, vault="w")
    heron(desk, 5, vault="w", scope="project:a")
    assert look(desk, desk.sight("user")) == {user.id}
    assert look(desk, desk.sight("user", "project:a")) == {user.id, mine.id}
    assert look(desk, desk.sight("project:none")) == set()
    assert look(desk, desk.sight(scopes=())) == set()
    assert look(desk, desk.sight(scopes=None)) == {user.id, mine.id, other.id}


def test_only_the_asked_statuses_are_seen(desk: Desk, look: Look) -> None:
    active, proposed = heron(desk, 1), heron(desk, 2, status="proposed")
    superseded = desk.change(heron(desk, 3), status="superseded")
    deleted = desk.change(heron(desk, 4), status="deleted")
    back = desk.change(desk.change(heron(desk, 5), status="deleted"), status="active")
    assert look(desk, desk.sight()) == {active.id, back.id}
    assert look(desk, desk.sight(statuses=("proposed",))) == {proposed.id}
    assert look(desk, desk.sight(statuses=("superseded", "deleted"))) == {superseded.id, deleted.id}
    assert len(look(desk, desk.sight(statuses=("proposed", "active", "superseded", "deleted")))) == 5


def test_expired_memories_are_not_seen_unless_asked_for(desk: Desk, look: Look) -> None:
    past, now = heron(desk, 1, expires_at=START - 1), heron(desk, 2, expires_at=START)
    future, never = heron(desk, 3, expires_at=START + 1), heron(desk, 4)
    assert look(desk, desk.sight()) == {future.id, never.id}
    assert look(desk, desk.sight(include_expired=True)) == {past.id, now.id, future.id, never.id}
    desk.clock.now = START + 1
    assert look(desk, desk.sight()) == {never.id}


def test_kinds_labels_cases_sessions_and_bounds_narrow_what_is_seen(desk: Desk, look: Look) -> None:
    plain = heron(desk, 1, created_at=START - 10)
    rich = heron(desk, 2, kind="decision", label="choice", case=Case("c1"), session="s1", created_at=START - 5)
    more = heron(desk, 3, kind="error", label="bug", case=Case("c2"), session="s2", created_at=START)
    for narrow, right in [
        ({"kinds": ("decision",)}, {rich.id}),
        ({"kinds": ("decision", "error")}, {rich.id, more.id}),
        ({"labels": ("bug", "choice")}, {rich.id, more.id}),
        ({"labels": ("bug",), "kinds": ("decision",)}, set()),
        ({"case": "c1"}, {rich.id}),
        ({"session": "s2"}, {more.id}),
        ({"since": START - 5}, {rich.id, more.id}),
        ({"until": START - 5}, {plain.id}),
        ({"since": START - 5, "until": START}, {rich.id}),
        ({"ids": (plain.id, more.id)}, {plain.id, more.id}),
        ({"ids": (plain.id, more.id, "unknown"), "kinds": ("error",)}, {more.id}),
        ({"ids": ()}, set()),
    ]:
        assert look(desk, desk.sight(**narrow)) == right, narrow  # type: ignore[arg-type]


@pytest.mark.parametrize("tag", ["plain", 'a "b', "100%", "_", "it's", "back\\slash", "c,d", ",", "한글 태그", "UPPER"])
def test_all_of_the_tags_must_be_there(desk: Desk, look: Look, tag: str) -> None:
    both, one = heron(desk, 1, tags=("x", tag)), heron(desk, 2, tags=(tag,))
    heron(desk, 3, tags=("a", "b,", "upper", f"{tag}{tag}"))
    assert look(desk, desk.sight(tags=(tag,))) == {both.id, one.id}
    assert look(desk, desk.sight(tags=(tag, "x"))) == {both.id}
    assert look(desk, desk.sight(tags=(tag, "y"))) == set()
    desk.clock.pass_()
    assert look(desk, desk.sight(tags=(tag, "x"), as_of=START)) == {both.id}
    desk.change(both, tags=())
    desk.change(one, tags=("x",))
    assert look(desk, desk.sight(tags=(tag,))) == set()
    assert look(desk, desk.sight(tags=(tag,), as_of=START)) == {both.id, one.id}


def test_a_folder_is_seen_with_all_below_it(desk: Desk, look: Look) -> None:
    top, below = heron(desk, 1, folder="notes/웹"), heron(desk, 2, folder="notes/웹/a_b")
    heron(desk, 3, folder="notes/웹사이트")
    alike = heron(desk, 4, folder="notes/웹/axb")
    heron(desk, 5)
    assert look(desk, desk.sight(folder="notes/웹")) == {top.id, below.id, alike.id}
    assert look(desk, desk.sight(folder="notes/웹/")) == {top.id, below.id, alike.id}
    assert look(desk, desk.sight(folder="notes/웹/a_b")) == {below.id}
    assert look(desk, desk.sight(folder="no")) == set()
    assert len(look(desk, desk.sight(folder=""))) == 5


def test_the_past_is_seen_as_it_was(desk: Desk, look: Look) -> None:
    gone, kept = heron(desk, 1, kind="error", session="s"), heron(desk, 2)
    waiting = heron(desk, 3, status="proposed")
    before = desk.clock.now
    at = desk.clock.pass_()
    gone = desk.change(gone, status="deleted", kind="fact", session="")
    kept = desk.change(kept, folder="moved")
    desk.change(waiting, status="active")
    young = heron(desk, 4)
    now = desk.clock.pass_()

    def then(time: int, **more: Any) -> set[str]:
        return look(desk, desk.sight(as_of=time, **more))

    assert then(before - 1) == set()
    assert then(before) == {gone.id, kept.id}
    assert then(at - 1, kinds=("error",)) == {gone.id}
    assert then(at - 1, session="s") == {gone.id}
    assert then(at, kinds=("error",)) == set()
    assert then(at) == {kept.id, waiting.id, young.id}
    assert then(now, folder="moved") == {kept.id}
    assert then(before, folder="moved") == set()
    assert then(before, statuses=("proposed",)) == {waiting.id}
    assert then(now, statuses=("deleted",)) == {gone.id}


def test_expiry_in_the_past_is_judged_by_that_time(desk: Desk, look: Look) -> None:
    memory = heron(desk, 1, expires_at=START + 5)
    desk.clock.pass_()
    assert look(desk, desk.sight()) == set()
    assert look(desk, desk.sight(as_of=START + 4)) == {memory.id}
    assert look(desk, desk.sight(as_of=START + 5)) == set()
    desk.change(memory, expires_at=None)
    assert look(desk, desk.sight(as_of=START + 5)) == set()
    assert look(desk, desk.sight(as_of=desk.clock.now)) == {memory.id}


def test_a_memory_that_moved_is_seen_where_it_was_then(desk: Desk, look: Look) -> None:
    memory = heron(desk, 1, scope="project:a")
    desk.clock.pass_()
    desk.change(memory, scope="project:b")
    assert look(desk, desk.sight("project:a")) == set()
    assert look(desk, desk.sight("project:b")) == {memory.id}
    assert look(desk, desk.sight("project:a", as_of=START)) == {memory.id}
    assert look(desk, desk.sight("project:b", as_of=START)) == set()


def test_text_of_the_past_is_found_by_its_own_words(desk: Desk) -> None:
    memory = desk.add("the heron nests in reeds")
    desk.clock.pass_()
    desk.change(memory, text="the stork nests on chimneys")
    now = desk.clock.pass_()
    assert desk.found(desk.sight(), "heron") == []
    assert desk.found(desk.sight(), "stork") == [memory.id]
    assert desk.found(desk.sight(as_of=START), "heron") == [memory.id]
    assert desk.found(desk.sight(as_of=START), "stork") == []
    assert desk.found(desk.sight(as_of=now), "heron") == []
    assert desk.found(desk.sight(as_of=now), "stork") == [memory.id]


def test_a_page_of_the_past_has_the_order_of_the_past(desk: Desk) -> None:
    one, two = heron(desk, 1, importance=0.9), heron(desk, 2, importance=0.1)
    desk.clock.pass_()
    desk.change(two, importance=1.0)
    past = desk.sight(as_of=START)
    assert desk.ids(past, order="importance") == [one.id, two.id]
    assert desk.ids(past, order="importance", limit=1, after=one.id) == [two.id]
    assert desk.ids(desk.sight(), order="importance") == [two.id, one.id]
