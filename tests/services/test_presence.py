"""A browser that is signed out while its request is still on the way changes nothing any more."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.services import own_account, passkeys, people, second_factor
from dolmen.services.accounts import create_key, keys
from dolmen.services.oauth import Consent, Request, Wishes, allow_device, consent, start_device, waiting_device
from dolmen.services.people import SignedIn, Visitor, at_browser, choose_password, entry_link, sign_in
from dolmen.store.contract import Passkey
from tests.services.conftest import House
from tests.services.test_oauth import BACK, CHALLENGE, RESOURCE, client

pytestmark = pytest.mark.usefixtures("cheap_passwords")

PASSWORD = "four words without sense"
HERE = Visitor("192.0.2.7")


def at(house: House, secret: str) -> SignedIn:
    found = at_browser(house.rt, secret)
    assert found is not None
    return found


def entered(house: House) -> SignedIn:
    return at(house, choose_password(house.rt, entry_link(house.rt, house.owner, "owner"), "ada", PASSWORD).secret)


def a_passkey(house: House, name: str = "key") -> None:
    with house.rt.store.write() as tx:
        tx.proofs.add_passkey(Passkey("main", "owner", name, "x", 0, name, tx.now))


def let_in(house: House, thief: SignedIn) -> None:
    consent(
        house.rt, thief.actor, Request(client(house), BACK, CHALLENGE, RESOURCE), Consent("x", "write"), thief.session
    )


def let_a_machine_in(house: House, thief: SignedIn) -> None:
    asking = client(house)
    _, code = start_device(house.rt, asking, RESOURCE, "", Wishes())
    allow_device(house.rt, thief.actor, waiting_device(house.rt, code), asking, Consent("x", "write"), thief.session)


Action = Callable[[House, SignedIn], object]
ACTIONS: dict[str, Action] = {
    "name": lambda house, thief: own_account.rename(house.rt, thief, "Eve"),
    "password": lambda house, thief: own_account.change_password(house.rt, thief, PASSWORD, "words of a thief", HERE),
    "browsers": lambda house, thief: own_account.end_browser(house.rt, thief, "others"),
    "connection": lambda house, thief: own_account.end_connection(house.rt, thief, keys(house.rt, house.owner)[0].id),
    "codes": lambda house, thief: second_factor.offer(house.rt, thief, "m"),
    "first code": lambda house, thief: second_factor.confirm(house.rt, thief, "000000"),
    "passkey": lambda house, thief: passkeys.begin(house.rt, thief),
    "remove passkey": lambda house, thief: passkeys.remove(house.rt, thief, "key"),
    "no password": lambda house, thief: passkeys.drop_password(house.rt, thief),
    "client": let_in,
    "machine": let_a_machine_in,
}


@pytest.mark.parametrize("action", ACTIONS)
def test_what_a_browser_asked_for_before_it_was_signed_out_is_not_done_after_it(house: House, action: str) -> None:
    owner = entered(house)
    create_key(house.rt, house.owner, agent="codex")
    a_passkey(house)
    thief = at(house, sign_in(house.rt, "ada", PASSWORD, HERE).secret)
    own_account.end_browser(house.rt, owner, "others")
    before = own_account.account(house.rt, owner)
    with pytest.raises(DolmenError) as error:
        ACTIONS[action](house, thief)
    assert (error.value.code, error.value.message) == ("forbidden", "You are not signed in any more.")
    assert own_account.account(house.rt, at(house, sign_in(house.rt, "ada", PASSWORD, HERE).secret)).password
    assert own_account.account(house.rt, owner).connections == before.connections
    assert own_account.account(house.rt, owner).passkeys == before.passkeys
    assert [each.name for each in people.people(house.rt, house.owner)] == ["Ada"]


def test_of_two_ways_in_that_are_taken_away_at_the_same_time_one_stays(house: House) -> None:
    """On PostgreSQL each saw the other one still there."""
    for number in range(4):
        here = entered(house)
        for each in own_account.account(house.rt, here).passkeys:
            passkeys.remove(house.rt, here, each.id)
        a_passkey(house, f"key{number}")
        together = Barrier(2)

        def take(action: Callable[[], object], together: Barrier = together) -> str:
            together.wait(20)
            try:
                action()
            except DolmenError as error:
                return error.code
            return "taken"

        def no_password(here: SignedIn = here) -> None:
            passkeys.drop_password(house.rt, here)

        def no_passkey(here: SignedIn = here, id: str = f"key{number}") -> None:
            passkeys.remove(house.rt, here, id)

        with ThreadPoolExecutor(2) as pool:
            answers = [each.result() for each in [pool.submit(take, no_password), pool.submit(take, no_passkey)]]
        assert sorted(answers) == ["conflict", "taken"]
        found = own_account.account(house.rt, here)
        assert found.password or found.passkeys
