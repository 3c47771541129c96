"""Signing in: links, passwords, browsers, wrong guesses, members who go."""

from __future__ import annotations

import unicodedata
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import Barrier
from typing import Literal

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import MINUTE
from dolmen.services import own_account, passwords
from dolmen.services.accounts import authenticate, create_key
from dolmen.services.people import (
    GUESSES,
    IDLE,
    LINK_LIFE,
    LOCKED_FOR,
    LONGEST,
    Visitor,
    at_browser,
    choose_password,
    entry_link,
    invite,
    link_of,
    needs_setup,
    people,
    remove,
    sign_in,
    sign_out,
)
from tests.services.conftest import House

pytestmark = pytest.mark.usefixtures("cheap_passwords")

PASSWORD = "four words without sense"
HERE = "192.0.2.7"


def code_of(error: pytest.ExceptionInfo[DolmenError]) -> str:
    return error.value.code


def owner_enters(house: House, login: str = "Ada") -> str:
    return choose_password(house.rt, entry_link(house.rt, house.owner, "owner"), login, PASSWORD).secret


def test_the_owner_chooses_a_password_by_the_first_link_and_is_signed_in(house: House) -> None:
    waiting = needs_setup(house.rt)
    assert waiting is not None
    secret = entry_link(house.rt, house.owner, waiting.id)
    assert link_of(house.rt, secret).name == "Ada"
    here = at_browser(house.rt, choose_password(house.rt, secret, "Ada", PASSWORD).secret)
    assert here is not None
    assert (here.actor.vault, here.actor.person, here.actor.mode, here.actor.human) == ("main", "owner", "admin", True)
    assert needs_setup(house.rt) is None


def test_a_link_holds_once_and_for_a_day(house: House) -> None:
    secret = entry_link(house.rt, house.owner, "owner")
    choose_password(house.rt, secret, "ada", PASSWORD)
    with pytest.raises(DolmenError) as again:
        choose_password(house.rt, secret, "ada", PASSWORD)
    late = entry_link(house.rt, house.owner, "owner")
    house.clock.advance(LINK_LIFE)
    with pytest.raises(DolmenError) as old:
        choose_password(house.rt, late, "ada", PASSWORD)
    with pytest.raises(DolmenError) as unknown:
        link_of(house.rt, "x")
    assert {code_of(again), code_of(old), code_of(unknown)} == {"gone"}


def test_a_password_that_is_tried_first_is_refused_whoever_chooses_it_where(house: House) -> None:
    """NIST SP 800-63B §3.1.1.2: common ones, and those made of the login."""
    secret = entry_link(house.rt, house.owner, "owner")
    for easy in ("password123", "Lovelace1815", "Ada-2026-ada"):
        with pytest.raises(DolmenError) as refused:
            choose_password(house.rt, secret, "lovelace", easy)
        assert refused.value.message == "The password is one of those that are tried first."
    here = at_browser(house.rt, choose_password(house.rt, secret, "lovelace", PASSWORD).secret)
    assert here is not None
    with pytest.raises(DolmenError) as refused:
        own_account.change_password(house.rt, here, PASSWORD, "lovelace-1234", Visitor(HERE))
    assert refused.value.message == "The password is one of those that are tried first."


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_password_fits_from_whichever_keyboard_it_comes(house: House, form: Literal["NFC", "NFD"]) -> None:
    password = "나는 오늘 산에 갔다 왔다, é"
    other: Literal["NFC", "NFD"] = "NFD" if form == "NFC" else "NFC"
    chosen, typed = unicodedata.normalize(form, password), unicodedata.normalize(other, password)
    assert chosen != typed
    choose_password(house.rt, entry_link(house.rt, house.owner, "owner"), "ada", chosen)
    assert sign_in(house.rt, "ada", typed, Visitor(HERE)).complete
    assert sign_in(house.rt, "ada", chosen, Visitor(HERE)).complete


def test_a_link_that_was_refused_for_its_password_can_be_used_again(house: House) -> None:
    secret = entry_link(house.rt, house.owner, "owner")
    with pytest.raises(DolmenError):
        choose_password(house.rt, secret, "ada", "short")
    with pytest.raises(DolmenError):
        choose_password(house.rt, secret, "a b", PASSWORD)
    choose_password(house.rt, secret, "ada", PASSWORD)


def test_only_an_admin_makes_links(house: House) -> None:
    with pytest.raises(DolmenError) as error:
        entry_link(house.rt, house.agent, "owner")
    assert code_of(error) == "forbidden"
    with pytest.raises(DolmenError) as error:
        entry_link(house.rt, house.owner, "stranger")
    assert code_of(error) == "not-found"


@pytest.mark.parametrize("login", ["ada", "ADA", " Ada "])
def test_a_name_is_the_same_in_any_case(house: House, login: str) -> None:
    owner_enters(house)
    assert at_browser(house.rt, sign_in(house.rt, login, PASSWORD, Visitor(HERE)).secret) is not None


@pytest.mark.parametrize(
    ("login", "password"),
    [("ada", "four words without sens"), ("ada", ""), ("eve", PASSWORD), ("", ""), ("ada", "x" * 100_000)],
)
def test_a_wrong_name_and_a_wrong_password_are_told_alike(house: House, login: str, password: str) -> None:
    owner_enters(house)
    with pytest.raises(DolmenError) as error:
        sign_in(house.rt, login, password, Visitor(HERE))
    assert (code_of(error), error.value.message) == ("unauthorized", "The name or the password is wrong.")


def test_guessing_locks_the_name_for_a_while_also_for_the_right_password(house: House) -> None:
    owner_enters(house)
    for number in range(GUESSES):
        with pytest.raises(DolmenError):
            sign_in(house.rt, "ada", f"wrong {number}", Visitor(f"192.0.2.{number}"))
    with pytest.raises(DolmenError) as error:
        sign_in(house.rt, "ada", PASSWORD, Visitor("198.51.100.1"))
    assert code_of(error) == "rate-limited"
    house.clock.advance(LOCKED_FOR)
    sign_in(house.rt, "ada", PASSWORD, Visitor("198.51.100.1"))
    for number in range(GUESSES - 1):
        with pytest.raises(DolmenError):
            sign_in(house.rt, "ada", f"wrong {number}", Visitor(HERE))
    sign_in(house.rt, "ada", PASSWORD, Visitor(HERE))


def locked_by_strangers(house: House, login: str = "ada") -> None:
    for number in range(GUESSES + 1):
        with pytest.raises(DolmenError) as error:
            sign_in(house.rt, login, f"wrong {number}", Visitor(f"192.0.2.{number}"))
    assert code_of(error) == "rate-limited"


def mark_of(house: House) -> str:
    return sign_in(house.rt, "ada", PASSWORD, Visitor(HERE)).mark


def test_strangers_who_guess_do_not_lock_a_name_for_a_browser_that_signed_in_before(house: House) -> None:
    owner_enters(house)
    known = Visitor(HERE, mark=mark_of(house))
    locked_by_strangers(house)
    for number in range(21):  # from the same address at that, which is closed too
        with suppress(DolmenError):
            sign_in(house.rt, f"name{number}", "wrong", Visitor(HERE))
    assert sign_in(house.rt, "ada", PASSWORD, known).mark == known.mark
    with pytest.raises(DolmenError) as error:
        sign_in(house.rt, "ada", PASSWORD, Visitor("198.51.100.1"))
    assert code_of(error) == "rate-limited", "that somebody came in gives strangers no more guesses"


def test_a_known_browser_has_no_more_guesses_than_others(house: House) -> None:
    owner_enters(house)
    known = Visitor(HERE, mark=mark_of(house))
    codes = []
    for number in range(GUESSES + 1):
        with pytest.raises(DolmenError) as error:
            sign_in(house.rt, "ada", f"wrong {number}", replace(known, address=f"192.0.2.{number}"))
        codes.append(error.value.code)
    assert codes == ["unauthorized"] * GUESSES + ["rate-limited"]
    with pytest.raises(DolmenError):
        sign_in(house.rt, "ada", PASSWORD, known)
    assert sign_in(house.rt, "ada", PASSWORD, Visitor("198.51.100.1")).complete, "its row is its own"


def test_a_browser_is_known_for_the_name_and_the_password_that_it_signed_in_with_alone(house: House) -> None:
    here = at_browser(house.rt, owner_enters(house))
    assert here is not None
    _, link = invite(house.rt, house.owner, "Mina")
    mina = choose_password(house.rt, link, "mina", PASSWORD).mark
    mark = mark_of(house)
    new = own_account.change_password(house.rt, here, PASSWORD, "other words without sense", Visitor(HERE, mark=mark))
    locked_by_strangers(house)
    name, _, proof = new.partition(".")
    for shown in (
        mina,
        mark,
        "",
        ".",
        "x",
        f"{name}x.{proof}",
        f"{name}.{proof[:-1]}",
        f"{name}.é",
        passwords.mark(""),
    ):
        with pytest.raises(DolmenError) as error:
            sign_in(house.rt, "ada", "other words without sense", Visitor("198.51.100.1", mark=shown))
        assert code_of(error) == "rate-limited"
    assert sign_in(house.rt, "ada", "other words without sense", Visitor("198.51.100.1", mark=new)).complete
    locked_by_strangers(house, "nobody")
    with pytest.raises(DolmenError) as error:
        sign_in(house.rt, "nobody", PASSWORD, Visitor(HERE, mark=passwords.mark("somebody who is not here")))
    assert code_of(error) == "rate-limited", "nobody has that name"


def test_many_guesses_at_once_are_no_more_than_one_after_the_other(house: House) -> None:
    owner_enters(house)

    def guess(number: int) -> str:
        with pytest.raises(DolmenError) as error:
            sign_in(house.rt, "ada", f"wrong {number}", Visitor(f"192.0.2.{number}"))
        return error.value.code

    with ThreadPoolExecutor(4) as pool:
        codes = list(pool.map(guess, range(GUESSES + 3)))
    assert codes.count("unauthorized") == GUESSES
    assert codes.count("rate-limited") == 3


def test_guessing_many_names_locks_the_address(house: House) -> None:
    owner_enters(house)
    codes = []
    for number in range(21):
        with pytest.raises(DolmenError) as error:
            sign_in(house.rt, f"name{number}", "wrong", Visitor(HERE))
        codes.append(error.value.code)
    assert codes == ["unauthorized"] * 20 + ["rate-limited"]
    sign_in(house.rt, "ada", PASSWORD, Visitor("198.51.100.1"))


def test_a_password_of_ones_own_gives_nobody_more_guesses_at_others(house: House) -> None:
    owner_enters(house)
    codes = []
    for number in range(21):
        if number % 5 == 0:
            with suppress(DolmenError):
                sign_in(house.rt, "ada", PASSWORD, Visitor(HERE))
        with pytest.raises(DolmenError) as error:
            sign_in(house.rt, f"name{number}", "wrong", Visitor(HERE))
        codes.append(error.value.code)
    assert codes == ["unauthorized"] * 20 + ["rate-limited"]


def test_signing_in_well_from_one_address_locks_nobody_there(house: House) -> None:
    owner_enters(house)
    for _ in range(25):
        sign_in(house.rt, "ada", PASSWORD, Visitor(HERE))


def test_a_browser_is_signed_out_by_its_person_by_rest_and_by_age(house: House) -> None:
    first = owner_enters(house)
    sign_out(house.rt, first)
    assert at_browser(house.rt, first) is None
    idle = sign_in(house.rt, "ada", PASSWORD, Visitor(HERE)).secret
    house.clock.advance(IDLE - MINUTE)
    assert at_browser(house.rt, idle) is not None
    house.clock.advance(IDLE)
    assert at_browser(house.rt, idle) is None
    old = sign_in(house.rt, "ada", PASSWORD, Visitor(HERE)).secret
    for _ in range(LONGEST // (IDLE // 2)):
        house.clock.advance(IDLE // 2)
        at_browser(house.rt, old)
    assert at_browser(house.rt, old) is None
    assert at_browser(house.rt, "") is None


def test_another_password_signs_every_browser_out(house: House) -> None:
    first = owner_enters(house)
    second = owner_enters(house)
    assert at_browser(house.rt, first) is None
    assert at_browser(house.rt, second) is not None


def test_a_member_writes_but_does_not_rule(house: House) -> None:
    person, secret = invite(house.rt, house.owner, "  Mina\u202e Kim ")
    assert person.name == "Mina Kim"
    here = at_browser(house.rt, choose_password(house.rt, secret, "mina", PASSWORD).secret)
    assert here is not None
    assert (here.actor.mode, here.actor.person) == ("write", person.id)
    with pytest.raises(DolmenError):
        people(house.rt, here.actor)


def test_a_login_is_one_persons(house: House) -> None:
    owner_enters(house)
    _, secret = invite(house.rt, house.owner, "Mina")
    with pytest.raises(DolmenError) as error:
        choose_password(house.rt, secret, "ADA", PASSWORD)
    assert code_of(error) == "conflict"
    choose_password(house.rt, secret, "mina", PASSWORD)


def test_a_member_who_is_removed_stops_at_once_with_everything_of_theirs(house: House) -> None:
    person, link = invite(house.rt, house.owner, "Mina")
    browser = choose_password(house.rt, link, "mina", PASSWORD).secret
    here = at_browser(house.rt, browser)
    assert here is not None
    admin = house.actor(person=person.id, mode="admin", human=True)
    connection, key = create_key(house.rt, admin, agent="codex")
    assert connection.person == person.id
    authenticate(house.rt, key)
    remove(house.rt, house.owner, person.id)
    assert at_browser(house.rt, browser) is None
    with pytest.raises(DolmenError):
        authenticate(house.rt, key)
    with pytest.raises(DolmenError):
        sign_in(house.rt, "mina", PASSWORD, Visitor(HERE))
    assert [each.removed_at is None for each in people(house.rt, house.owner)] == [True, False]


def test_a_vault_keeps_its_owner(house: House) -> None:
    with pytest.raises(DolmenError) as error:
        remove(house.rt, house.owner, "owner")
    assert code_of(error) == "conflict"


def test_who_signs_in_while_the_password_changes_is_signed_out_with_the_others(house: House) -> None:
    current, here = PASSWORD, at_browser(house.rt, owner_enters(house))
    assert here is not None
    for number in range(5):
        old, current, together = current, f"{PASSWORD} {number}", Barrier(4)

        def enter(address: str, old: str = old, together: Barrier = together) -> None:
            together.wait(20)
            with suppress(DolmenError):
                sign_in(house.rt, "ada", old, Visitor(address))

        def change(old: str = old, new: str = current, together: Barrier = together) -> None:
            together.wait(20)
            own_account.change_password(house.rt, here, old, new, Visitor(HERE))

        with ThreadPoolExecutor(4) as pool:
            running = [pool.submit(enter, f"192.0.2.{n}") for n in range(3)]
            for each in (pool.submit(change), *running):
                each.result()
        assert [browser.here for browser in own_account.account(house.rt, here).browsers] == [True]
        house.clock.advance(LOCKED_FOR)


def test_what_is_kept_of_a_password_tells_it_to_nobody() -> None:
    kept = passwords.hash_of(PASSWORD)
    assert kept.startswith("$argon2id$")
    assert PASSWORD not in kept
    assert kept != passwords.hash_of(PASSWORD)
    assert passwords.fits(PASSWORD, kept)
    assert not passwords.fits(PASSWORD, None)
    assert not passwords.fits(PASSWORD, "no hash")
    assert not passwords.fits("somebody who is not here", None)
