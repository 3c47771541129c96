"""Passkeys: added, asked for, refused, counted, removed, on both engines."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from dolmen.domain.errors import DolmenError
from dolmen.domain.passkeys import base64url
from dolmen.services import own_account, passkeys, second_factor, vaults
from dolmen.services.passkeys import MOST, Answer, Site
from dolmen.services.people import (
    GUESSES,
    STEP_LIFE,
    SignedIn,
    Visitor,
    at_browser,
    choose_password,
    entry_link,
    invite,
    needs_setup,
    remove,
    sign_in,
)
from dolmen.services.second_factor import FRESH
from tests.authenticator import ORIGIN, RP, Authenticator
from tests.services.conftest import House
from tests.services.test_people import HERE, PASSWORD
from tests.services.test_second_factor import at, enter, turn_on

pytestmark = pytest.mark.usefixtures("cheap_passwords")

SITE = Site(ORIGIN, RP)
VISITOR = Visitor(HERE, "Firefox · Linux")


@pytest.fixture
def here(house: House) -> SignedIn:
    return enter(house)


def added(house: House, here: SignedIn, key: Authenticator, label: str = "laptop") -> str:
    """Keeps the passkey; returns the handle that the authenticator keeps beside it."""
    asked = passkeys.begin(house.rt, here)
    passkeys.add(house.rt, here, SITE, *key.make(asked.challenge), label)
    return asked.handle


def enter_with(house: House, key: Authenticator, handle: str, **changes: Any) -> SignedIn:
    secret, challenge = passkeys.challenge(house.rt)
    client, data, signature = key.sign(challenge)
    answer = {"id": key.name, "handle": handle, "client_data": client, "authenticator_data": data}
    return at(
        house, passkeys.enter(house.rt, secret, SITE, Answer(**{**answer, "signature": signature, **changes}), VISITOR)
    )


def refused(house: House, key: Authenticator, handle: str, **changes: Any) -> DolmenError:
    with pytest.raises(DolmenError) as error:
        enter_with(house, key, handle, **changes)
    assert (error.value.code, error.value.message) == ("unauthorized", "That passkey does not open this server.")
    return error.value


@pytest.mark.parametrize(
    "key",
    [
        ec.generate_private_key(ec.SECP256R1()),
        ed25519.Ed25519PrivateKey.generate(),
        rsa.generate_private_key(65537, 2048),
    ],
    ids=["ES256", "EdDSA", "RS256"],
)
def test_a_passkey_of_each_kind_signs_in_without_a_name(house: House, here: SignedIn, key: Any) -> None:
    made = Authenticator(key)
    handle = added(house, here, made)
    entered = enter_with(house, made.but(counter=2), handle)
    assert entered.person.id == "owner"
    assert entered.browser.device == "Firefox · Linux"
    [kept] = own_account.account(house.rt, entered).passkeys
    assert (kept.label, kept.counter, kept.used_at is not None) == ("laptop", 2, True)


def test_a_passkey_is_proof_enough_where_codes_are_on(house: House, here: SignedIn) -> None:
    """The authenticator has verified its owner, which is the second factor."""
    handle = added(house, here, key := Authenticator())
    turn_on(house, here)
    assert enter_with(house, key.but(counter=2), handle).person.id == "owner"


@pytest.mark.parametrize(
    ("reason", "bend"),
    [
        ("challenge", lambda key: {"client_data": key.client_data("webauthn.get", base64url(b"x" * 32))}),
        (
            "signature",
            lambda key: {"signature": key.but(key=ec.generate_private_key(ec.SECP256R1())).sign("")[2]},
        ),
        ("signature", lambda key: {"signature": b""}),
        ("signature", lambda key: {"authenticator_data": key.but(counter=99).data()}),
        ("unknown", lambda key: {"id": "bm9ib2R5"}),
        ("owner", lambda key: {"handle": base64url(b"somebody else")}),
        ("owner", lambda key: {"handle": ""}),
        ("counter", lambda key: {}),
    ],
)
def test_what_does_not_hold_is_refused_in_the_same_words(
    house: House, here: SignedIn, reason: str, bend: Any, caplog: pytest.LogCaptureFixture
) -> None:
    """§7.2, steps 6, 7, 12, 20 and 21: a stranger learns nothing, the log tells which."""
    handle = added(house, here, key := Authenticator())
    given = key if reason == "counter" else key.but(counter=2)
    bent = {"handle": handle, **bend(given)}
    error = refused(house, given, **bent)
    line = caplog.records[-1].getMessage()
    assert line.startswith(f"refused id={error.data['reference']} reason=passkey-{reason}")
    assert f"from={HERE}" in line


def test_a_challenge_is_for_one_answer_of_one_browser(house: House, here: SignedIn) -> None:
    handle = added(house, here, key := Authenticator())
    secret, challenge = passkeys.challenge(house.rt)
    stranger, _ = passkeys.challenge(house.rt)
    client, data, signature = key.but(counter=2).sign(challenge)
    answer = Answer(key.name, handle, client, data, signature)
    for wrong in (stranger, "", "x"):
        with pytest.raises(DolmenError):
            passkeys.enter(house.rt, wrong, SITE, answer, VISITOR)
    assert passkeys.enter(house.rt, secret, SITE, answer, VISITOR).complete
    with pytest.raises(DolmenError):
        passkeys.enter(house.rt, secret, SITE, answer, VISITOR)


def test_a_challenge_holds_for_five_minutes(house: House, here: SignedIn) -> None:
    handle = added(house, here, key := Authenticator())
    secret, challenge = passkeys.challenge(house.rt)
    client, data, signature = key.but(counter=2).sign(challenge)
    asked = passkeys.begin(house.rt, here)
    house.clock.advance(STEP_LIFE)
    with pytest.raises(DolmenError):
        passkeys.enter(house.rt, secret, SITE, Answer(key.name, handle, client, data, signature), VISITOR)
    with pytest.raises(DolmenError) as error:
        passkeys.add(house.rt, here, SITE, *key.but(id=b"2").make(asked.challenge), "late")
    assert error.value.code == "invalid-argument"


def test_a_challenge_for_a_new_passkey_belongs_to_the_session_that_asked(house: House, here: SignedIn) -> None:
    other = at(house, sign_in(house.rt, "ada", PASSWORD, VISITOR))
    asked = passkeys.begin(house.rt, here)
    with pytest.raises(DolmenError) as error:
        passkeys.add(house.rt, other, SITE, *Authenticator().make(asked.challenge), "mine")
    assert error.value.code == "invalid-argument"
    assert own_account.account(house.rt, here).passkeys == []


def test_a_passkey_is_known_once(house: House, here: SignedIn) -> None:
    """§7.1, step 22."""
    mina, _ = invite(house.rt, house.owner, "Mina")
    added(house, here, key := Authenticator())
    assert passkeys.begin(house.rt, here).exclude == (key.name,)
    with pytest.raises(DolmenError) as error:
        added(house, enter(house, mina.id, "mina"), key)
    assert error.value.code == "conflict"


def test_a_key_that_is_no_point_of_the_curve_is_refused(house: House, here: SignedIn) -> None:
    asked = passkeys.begin(house.rt, here)
    made = Authenticator().make(asked.challenge, cose={1: 2, 3: -7, -1: 1, -2: bytes(32), -3: b"\1" * 32})
    with pytest.raises(DolmenError) as error:
        passkeys.add(house.rt, here, SITE, *made, "bent")
    assert error.value.code == "invalid-argument"


def test_several_have_names_and_one_can_go(house: House, here: SignedIn) -> None:
    laptop, phone = Authenticator(), Authenticator(id=b"phone")
    handle = added(house, here, laptop, " lap\u202etop ")
    added(house, here, phone, "phone")
    assert [each.label for each in own_account.account(house.rt, here).passkeys] == ["laptop", "phone"]
    passkeys.remove(house.rt, here, laptop.name)
    refused(house, laptop.but(counter=2), handle)
    enter_with(house, phone.but(counter=2), handle)
    with pytest.raises(DolmenError) as error:
        passkeys.remove(house.rt, here, laptop.name)
    assert error.value.code == "not-found"
    with pytest.raises(DolmenError):
        added(house, here, Authenticator(id=b"3"), " ")


def test_the_last_way_in_stays(house: House, here: SignedIn) -> None:
    with pytest.raises(DolmenError) as error:
        passkeys.drop_password(house.rt, here)
    assert error.value.code == "conflict"
    handle = added(house, here, key := Authenticator())
    passkeys.drop_password(house.rt, here)
    assert needs_setup(house.rt) is None
    with pytest.raises(DolmenError) as error:
        passkeys.remove(house.rt, here, key.name)
    assert error.value.code == "conflict"
    with pytest.raises(DolmenError) as error:
        sign_in(house.rt, "ada", PASSWORD, VISITOR)
    assert error.value.message == "The name or the password is wrong."
    enter_with(house, key.but(counter=2), handle)
    choose_password(house.rt, entry_link(house.rt, house.owner, "owner"), "ada", PASSWORD)
    assert sign_in(house.rt, "ada", PASSWORD, VISITOR).complete


def test_codes_are_turned_off_without_a_password_just_after_signing_in(house: House, here: SignedIn) -> None:
    added(house, here, Authenticator())
    _, codes = turn_on(house, here)
    passkeys.drop_password(house.rt, here)
    with pytest.raises(DolmenError):
        second_factor.turn_off(house.rt, here, "", "000000", VISITOR)
    second_factor.turn_off(house.rt, here, "", codes[0], VISITOR)
    assert not own_account.account(house.rt, here).codes


def test_signing_in_with_a_passkey_gives_nobody_more_guesses_of_the_password(house: House, here: SignedIn) -> None:
    handle = added(house, here, key := Authenticator())
    for number in range(GUESSES):
        with pytest.raises(DolmenError):
            sign_in(house.rt, "ada", f"wrong {number}", Visitor(f"192.0.2.{number}"))
    enter_with(house, key.but(counter=2), handle)
    with pytest.raises(DolmenError) as error:
        sign_in(house.rt, "ada", PASSWORD, VISITOR)
    assert error.value.code == "rate-limited"


def test_a_browser_that_has_been_open_for_long_changes_no_way_in(house: House, here: SignedIn) -> None:
    added(house, here, key := Authenticator())
    asked = passkeys.begin(house.rt, here)
    house.clock.advance(FRESH)
    for attempt in (
        lambda: passkeys.begin(house.rt, here),
        lambda: passkeys.add(house.rt, here, SITE, *key.but(id=b"2").make(asked.challenge), "2"),
        lambda: passkeys.remove(house.rt, here, key.name),
        lambda: passkeys.drop_password(house.rt, here),
    ):
        with pytest.raises(DolmenError) as error:
            attempt()
        assert error.value.code == "forbidden"


def test_there_are_not_endless_passkeys(house: House, here: SignedIn) -> None:
    key = Authenticator()
    for number in range(MOST):
        added(house, here, key.but(id=b"%d" % number), f"{number}")
    with pytest.raises(DolmenError) as error:
        passkeys.begin(house.rt, here)
    assert error.value.code == "conflict"


def test_a_passkey_of_a_member_who_was_removed_opens_nothing(house: House, here: SignedIn) -> None:
    mina, _ = invite(house.rt, house.owner, "Mina")
    handle = added(house, enter(house, mina.id, "mina"), key := Authenticator())
    entered = enter_with(house, key.but(counter=2), handle)
    remove(house.rt, house.owner, mina.id)
    refused(house, key.but(counter=3), handle)
    assert at_browser(house.rt, entered.session) is None


def test_a_person_who_leaves_a_vault_takes_their_passkeys_to_the_other(house: House) -> None:
    bob, link = invite(house.rt, house.owner, "Bob")
    here = at(house, choose_password(house.rt, link, "bob", PASSWORD))
    key = Authenticator()
    handle = added(house, here, key)
    passkeys.drop_password(house.rt, here)
    work = vaults.add_vault(house.rt, house.owner, "Work")
    vaults.admit(house.rt, replace(house.owner, vault=work.id), "bob")
    remove(house.rt, house.owner, bob.id)
    assert enter_with(house, key.but(counter=5), handle).person.vault == work.id
