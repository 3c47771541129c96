"""`contract.Proofs`: one-time codes, recovery codes, passkeys, and what a browser has to bring next."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import HOUR
from dolmen.store.contract import Browser, Passkey, Person, Step
from tests.contract.given import START, Desk

MINA = Person("v", "m", "민아", "member", START + HOUR, login="mina")
KEY = Passkey("v", "m", "credential", "key", 0, "laptop", START)
STEP = Step("code", "v", "m", "", START + HOUR)


@pytest.fixture
def peopled(desk: Desk) -> Desk:
    with desk.store.write() as tx:
        tx.people.add(MINA)
    return desk


def at_once(desk: Desk, attempt: str) -> int:
    """How many of eight that try the same at the same time succeed."""

    def one(_: int) -> bool:
        with desk.store.write() as tx:
            return {
                "code": lambda: tx.proofs.use_code("v", "m", START),
                "recovery": lambda: tx.proofs.use_recovery("v", "m", "a"),
                "step": lambda: tx.proofs.take_step("s", "code") is not None,
                "passkey": lambda: tx.proofs.use_passkey(KEY, 1, START),
            }[attempt]()

    with ThreadPoolExecutor(4) as pool:
        return sum(pool.map(one, range(8)))


@pytest.mark.parametrize("attempt", ["code", "recovery", "step", "passkey"])
def test_of_several_at_once_exactly_one_succeeds(peopled: Desk, attempt: str) -> None:
    with peopled.store.write() as tx:
        tx.people.set_secret("v", "m", "totp", "secret", START)
        tx.proofs.set_recovery("v", "m", ["a", "b"], START)
        tx.proofs.add_step(STEP, "s")
        tx.proofs.add_passkey(KEY)
    assert at_once(peopled, attempt) == 1


def test_a_code_must_be_of_a_later_time_than_the_last(peopled: Desk) -> None:
    with peopled.store.write() as tx:
        assert not tx.proofs.use_code("v", "m", START)
        tx.people.set_secret("v", "m", "totp", "secret", START)
        taken = [tx.proofs.use_code("v", "m", START + at) for at in (0, 0, -1, 30, 29)]
        assert taken == [True, False, False, True, False]
        assert not tx.proofs.use_code("w", "m", START + 60)
        tx.people.set_secret("v", "m", "totp", "another", START)
        assert tx.proofs.use_code("v", "m", START)


def test_recovery_codes_are_used_up_and_replaced(peopled: Desk) -> None:
    with peopled.store.write() as tx:
        tx.proofs.set_recovery("v", "m", ["a", "b"], START)
        assert not tx.proofs.use_recovery("w", "m", "a")
        assert tx.proofs.use_recovery("v", "m", "a")
        assert not tx.proofs.use_recovery("v", "m", "a")
        assert tx.proofs.recovery_left("v", "m") == 1
        tx.proofs.set_recovery("v", "m", ["c", "d", "e"], START)
        assert not tx.proofs.use_recovery("v", "m", "b")
        assert tx.proofs.recovery_left("v", "m") == 3
        assert not tx.proofs.drop_codes("v", "m")
        assert tx.proofs.recovery_left("v", "m") == 0
        tx.people.set_secret("v", "m", "totp", "secret", START)
        assert tx.proofs.drop_codes("v", "m")
        assert tx.people.secret("v", "m", "totp") is None


def test_a_passkey_is_one_persons_in_the_whole_store(peopled: Desk) -> None:
    other = replace(KEY, id="other", created_at=START + 1)
    with peopled.store.write() as tx:
        tx.proofs.add_passkey(other)
        tx.proofs.add_passkey(KEY)
        assert tx.proofs.passkeys("v", "m") == [KEY, other]
        assert tx.proofs.passkeys("w", "o") == []
        assert tx.proofs.passkey("credential") == (KEY, MINA)
        assert tx.proofs.passkey("Credential") is None
    with pytest.raises(DolmenError) as refused, peopled.store.write() as tx:
        tx.proofs.add_passkey(replace(KEY, vault="w", person="o"))
    assert refused.value.code == "conflict"
    with peopled.store.write() as tx:
        assert not tx.proofs.drop_passkey("w", "o", "other")
        assert tx.proofs.drop_passkey("v", "m", "other")
        assert tx.proofs.passkey("other") is None


def test_a_passkey_is_used_as_it_was_read(peopled: Desk) -> None:
    with peopled.store.write() as tx:
        tx.proofs.add_passkey(KEY)
        assert tx.proofs.use_passkey(KEY, 7, START + 5)
        assert not tx.proofs.use_passkey(KEY, 8, START + 6)
        assert tx.proofs.passkeys("v", "m") == [replace(KEY, counter=7, used_at=START + 5)]


def test_a_step_is_taken_once_and_replaces_one_of_its_kind(peopled: Desk) -> None:
    challenged = Step("passkey", "", "", "challenge", START + HOUR)
    with peopled.store.write() as tx:
        tx.proofs.add_step(STEP, "s")
        tx.proofs.add_step(challenged, "s")
        tx.proofs.add_step(replace(challenged, data="again"), "s")
        assert tx.proofs.step("s", "code") == STEP
        assert tx.proofs.take_step("s", "passkey") == replace(challenged, data="again")
        assert tx.proofs.take_step("s", "passkey") is None
        assert tx.proofs.step("t", "code") is None
        assert tx.proofs.trim(START) == 0
        assert tx.proofs.trim(START + HOUR) == 1
        assert tx.proofs.step("s", "code") is None


def test_a_person_who_is_removed_proves_nothing_any_more(peopled: Desk) -> None:
    with peopled.store.write() as tx:
        tx.people.set_secret("v", "m", "totp", "secret", START)
        tx.proofs.set_recovery("v", "m", ["a"], START)
        tx.proofs.add_passkey(KEY)
        tx.proofs.add_step(STEP, "s")
        assert tx.people.remove("v", "m", START)
        assert tx.proofs.passkey("credential") is None
        assert tx.proofs.step("s", "code") is None
        assert tx.proofs.recovery_left("v", "m") == 0
        assert not tx.proofs.use_code("v", "m", START + 60)


def test_the_browsers_of_a_person_are_listed_and_ended_but_for_one(peopled: Desk) -> None:
    first = Browser("v", "m", START, START, "Firefox · Linux")
    with peopled.store.write() as tx:
        tx.people.open(first, "a")
        tx.people.open(replace(first, seen_at=START + 1, device=""), "b")
        tx.people.open(replace(first, vault="w", person="o"), "c")
        assert tx.people.browsers("v", "m") == [("b", replace(first, seen_at=START + 1, device="")), ("a", first)]
        assert tx.people.close_all("v", "m", but="a") == 1
        assert [hash for hash, _ in tx.people.browsers("v", "m")] == ["a"]
        assert tx.people.browser("c") is not None


def test_who_is_signed_out_everywhere_is_out_of_the_first_step_too(peopled: Desk) -> None:
    with peopled.store.write() as tx:
        tx.proofs.add_step(STEP, "s")
        tx.proofs.add_step(replace(STEP, kind="new-code"), "a")
        assert tx.people.close_all("v", "m", but="a") == 0
        assert tx.proofs.step("s", "code") is None
        assert tx.proofs.step("a", "new-code") is not None


def test_a_password_can_go(peopled: Desk) -> None:
    with peopled.store.write() as tx:
        assert not tx.proofs.drop_password("v", "m")
        tx.people.set_secret("v", "m", "password", "hash", START)
        assert tx.proofs.drop_password("v", "m")
        assert tx.people.secret("v", "m", "password") is None
