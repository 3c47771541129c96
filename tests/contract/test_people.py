"""`contract.People`: persons, their secrets, their browsers, their links, and wrong guesses."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from dolmen.domain.access import Connection
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import HOUR, MINUTE
from dolmen.store.contract import Browser, EntryLink, Person
from tests.contract.given import START, Desk

MINA = Person("v", "m", "민아", "member", START + HOUR, login="mina")
BROWSER = Browser("v", "m", START, START)
LINK = EntryLink("v", "m", START, START + HOUR)


@pytest.fixture
def peopled(desk: Desk) -> Desk:
    with desk.store.write() as tx:
        tx.people.add(MINA)
    return desk


def test_persons_are_found_by_login_in_the_whole_store_and_listed_by_vault(peopled: Desk) -> None:
    with peopled.store.read() as tx:
        assert tx.people.get("v", "m") == tx.people.by_login("mina") == MINA
        assert tx.people.get("w", "m") is None
        assert tx.people.by_login("Mina") is None
        assert [person.id for person in tx.people.all("v")] == ["o", "m"]
        assert [person.id for person in tx.people.all("w")] == ["o"]


def test_a_login_is_one_persons_alone(peopled: Desk) -> None:
    with pytest.raises(DolmenError) as refused, peopled.store.write() as tx:
        tx.people.change("w", "o", login="mina")
    assert refused.value.code == "conflict"
    with peopled.store.write() as tx:
        tx.people.change("w", "o", name="Bert B.")
        tx.people.change("v", "m", login="m2")
        assert [(p.name, p.login) for p in (*tx.people.all("w"), *tx.people.all("v"))] == [
            ("Bert B.", None), ("Ada", None), ("민아", "m2"),
        ]  # fmt: skip


def test_a_secret_is_replaced(peopled: Desk) -> None:
    with peopled.store.write() as tx:
        assert tx.people.secret("v", "m", "password") is None
        tx.people.set_secret("v", "m", "password", "one", START)
        tx.people.set_secret("v", "m", "password", "two", START + 1)
        assert tx.people.secret("v", "m", "password") == "two"
        assert tx.people.secret("v", "m", "totp") is None
        assert tx.people.secret("w", "m", "password") is None


def test_a_browser_comes_with_its_person_until_it_is_signed_out(peopled: Desk) -> None:
    with peopled.store.write() as tx:
        tx.people.open(BROWSER, "b")
        tx.people.see("b", START + 5)
        assert tx.people.browser("b") == (replace(BROWSER, seen_at=START + 5), MINA)
        assert tx.people.browser("x") is None
        tx.people.open(BROWSER, "c")
        tx.people.close("b")
        assert tx.people.browser("b") is None
        assert tx.people.close_all("w", "m") == 0
        assert tx.people.close_all("v", "m") == 1


def test_a_person_who_is_removed_is_gone_from_every_door(peopled: Desk) -> None:
    key = Connection(id="k", vault="v", person="m", agent="a", mode="write", created_at=START)
    with peopled.store.write() as tx:
        tx.people.set_secret("v", "m", "password", "one", START)
        tx.people.open(BROWSER, "b")
        tx.people.add_link(LINK, "l")
        tx.accounts.add_connection(key, "k")
        assert tx.people.remove("v", "m", START + 1)
        assert not tx.people.remove("v", "m", START + 2)
        assert tx.people.by_login("mina") is None
        assert tx.people.browser("b") is None
        assert tx.people.link("l") is None
        assert tx.people.secret("v", "m", "password") is None
        assert tx.accounts.by_secret("k") is None
        assert tx.people.get("v", "m") == replace(MINA, removed_at=START + 1, login=None)
        tx.people.add(replace(MINA, id="m2"))


def test_a_link_is_used_once_and_replaces_those_before_it(peopled: Desk) -> None:
    with peopled.store.write() as tx:
        tx.people.add_link(LINK, "old")
        tx.people.add_link(LINK, "new")
        assert tx.people.link("old") is None
        assert tx.people.use_link("new", START + 1) == LINK
        assert tx.people.use_link("new", START + 2) == replace(LINK, used_at=START + 1)
        assert tx.people.use_link("old", START + 2) is None


def test_of_several_who_use_a_link_at_once_one_is_first(peopled: Desk) -> None:
    with peopled.store.write() as tx:
        tx.people.add_link(LINK, "l")

    def use(_: int) -> bool:
        with peopled.store.write() as tx:
            link = tx.people.use_link("l", START + 1)
            return link is not None and link.used_at is None

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(use, range(8))) == 1


def test_guesses_are_counted_until_one_is_right_or_the_last_is_past(desk: Desk) -> None:
    with desk.store.write() as tx:
        row = [tx.people.guess("mina", START + n, START - HOUR, 2) for n in range(4)]
        assert row == [(1, START), (2, START + 1), (3, START + 1), (4, START + 1)]
        assert tx.people.guess("192.0.2.1", START + 2, START - HOUR, 2) == (1, START + 2)
        assert tx.people.guess("mina", START + HOUR, START + 1, 2) == (1, START + HOUR)
        tx.people.succeeded("mina")
        assert tx.people.guess("mina", START + HOUR, START, 2) == (1, START + HOUR)


def test_of_several_guesses_at_once_each_has_its_own_number(desk: Desk) -> None:
    def guess(_: int) -> int:
        with desk.store.write() as tx:
            return tx.people.guess("mina", START, START - HOUR, 99)[0]

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(guess, range(12))) == list(range(1, 13))


def test_old_browsers_failures_and_links_are_trimmed(peopled: Desk) -> None:
    with peopled.store.write() as tx:
        tx.people.open(BROWSER, "silent")
        tx.people.open(replace(BROWSER, seen_at=START + HOUR), "here")
        tx.people.open(replace(BROWSER, created_at=START - HOUR, seen_at=START + HOUR), "long")
        tx.people.guess("a", START, 0, 9)
        tx.people.guess("b", START + HOUR, 0, 9)
        tx.people.add_link(LINK, "l")
        assert tx.people.trim(START + MINUTE, START - MINUTE, START + MINUTE, START + HOUR) == 4
        assert [tx.people.browser(b) is not None for b in ("silent", "here", "long")] == [False, True, False]


def test_a_right_guess_is_taken_off_a_row_that_goes_on(desk: Desk) -> None:
    with desk.store.write() as tx:
        for n in range(3):
            tx.people.guess("192.0.2.1", START + n, START - HOUR, 9)
        tx.people.take_back("192.0.2.1")
        tx.people.take_back("unknown")
        assert tx.people.guess("192.0.2.1", START + 3, START - HOUR, 9) == (3, START + 3)
        assert tx.people.guess("unknown", START + 3, START - HOUR, 9) == (1, START + 3)
