"""A machine without a browser waits for its person (RFC 8628), and clients that were registered with a key (C-306)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import DEVICE_GRANT, DEVICE_LIFE, INTERVAL, Client, OAuthError
from dolmen.domain.values import HOUR, Bounds
from dolmen.services import people
from dolmen.services.accounts import authenticate as authenticate_key
from dolmen.services.accounts import create_key, keys, revoke
from dolmen.services.oauth import (
    Consent,
    Request,
    Tokens,
    Wishes,
    allow_device,
    authenticate,
    consent,
    deny_device,
    redeem,
    redeem_device,
    refresh,
    register,
    register_with_key,
    registered_client,
    start_device,
    waiting_device,
    widest,
)
from tests.services.conftest import House
from tests.services.test_oauth import BACK, CHALLENGE, RESOURCE, VERIFIER, acts, refused


def machine(house: House) -> Client:
    return register(house.rt, {"client_name": "Dolmen on box", "grant_types": [DEVICE_GRANT, "refresh_token"]})


def started(house: House, client: Client, scope: str = "", **wishes: str) -> tuple[str, str]:
    return start_device(house.rt, client, RESOURCE, scope, Wishes(**wishes))


def allowed(house: House, client: Client, code: str, **chosen: Any) -> None:
    device = waiting_device(house.rt, code)
    allow_device(house.rt, house.owner, device, client, Consent(**{"agent": "box", "mode": "write"} | chosen))


def said(house: House, client: Client, secret: str) -> str:
    """What a machine that asks is told."""
    with pytest.raises(OAuthError) as error:
        redeem_device(house.rt, client, secret)
    return error.value.code


def test_a_machine_is_let_in_as_its_person_chose(house: House) -> None:
    client = machine(house)
    assert client.redirects == ()
    secret, code = started(house, client, "read suggest", project="shop", toolset="kenfold")
    device = waiting_device(house.rt, code.lower().replace("-", " "))
    assert (device.project, device.toolset) == ("shop", "kenfold")
    assert said(house, client, secret) == "authorization_pending"
    allowed(house, client, code, project="github.com/a/b")
    given: Tokens = redeem_device(house.rt, client, secret)
    assert given.scope == "read suggest"
    actor = acts(house, given.access)
    assert (actor.agent, actor.mode, actor.project, actor.toolset) == ("box", "suggest", "github.com/a/b", "core")
    assert not refused(house, refresh(house.rt, client, given.refresh, "", None).access)
    [connection] = keys(house.rt, house.owner)
    assert connection.label == "Dolmen on box (sign-in)"


def test_a_machine_that_asks_too_often_is_slowed_down(house: House) -> None:
    client = machine(house)
    secret, _ = started(house, client)
    assert said(house, client, secret) == "authorization_pending"
    assert said(house, client, secret) == "slow_down"
    house.clock.advance(INTERVAL)
    assert said(house, client, secret) == "authorization_pending"


def test_a_machine_learns_that_its_person_said_no(house: House) -> None:
    client = machine(house)
    secret, code = started(house, client)
    deny_device(house.rt, house.owner, waiting_device(house.rt, code))
    assert said(house, client, secret) == "access_denied"
    assert keys(house.rt, house.owner) == []
    with pytest.raises(DolmenError):
        allowed(house, client, code)


def test_a_machine_gets_nothing_when_its_access_ended_before_it_came(house: House) -> None:
    client = machine(house)
    secret, code = started(house, client)
    allowed(house, client, code)
    [connection] = keys(house.rt, house.owner)
    revoke(house.rt, house.owner, connection.id)
    assert said(house, client, secret) == "access_denied"


def test_a_machine_of_a_person_who_was_removed_gets_nothing(house: House) -> None:
    client = machine(house)
    secret, code = started(house, client)
    member, _ = people.invite(house.rt, house.owner, "Mina")
    device = waiting_device(house.rt, code)
    allow_device(house.rt, people.actor_of(member), device, client, Consent("box", "read"))
    people.remove(house.rt, house.owner, member.id)
    assert said(house, client, secret) == "access_denied"


@pytest.mark.parametrize("decided", [False, True])
def test_a_code_ends(house: House, decided: bool) -> None:
    client = machine(house)
    secret, code = started(house, client)
    device = waiting_device(house.rt, code)
    if decided:
        allowed(house, client, code)
    house.clock.advance(DEVICE_LIFE)
    assert said(house, client, secret) == "expired_token"
    with pytest.raises(DolmenError) as error:
        waiting_device(house.rt, code)
    assert error.value.code == "not-found"
    with pytest.raises(DolmenError):
        allow_device(house.rt, house.owner, device, client, Consent("box", "read"))
    house.clock.advance(HOUR)
    started(house, client)
    assert said(house, client, secret) == "invalid_grant"


def test_a_machines_code_is_for_the_client_that_asked_for_it_alone(house: House) -> None:
    client, other = machine(house), machine(house)
    secret, code = started(house, client)
    allowed(house, client, code)
    assert said(house, other, secret) == "invalid_grant"
    assert said(house, client, "dld_unknown") == "invalid_grant"
    assert not refused(house, redeem_device(house.rt, client, secret).access)


def test_a_machines_code_that_comes_again_ends_what_the_first_got(house: House) -> None:
    client = machine(house)
    secret, code = started(house, client)
    allowed(house, client, code)
    given = redeem_device(house.rt, client, secret)
    assert said(house, client, secret) == "invalid_grant"
    assert refused(house, given.access)


def test_of_many_that_show_a_machines_code_at_the_same_time_none_keeps_what_it_got(house: House) -> None:
    client = machine(house)
    for _ in range(4):
        secret, code = started(house, client)
        allowed(house, client, code)
        together = Barrier(6)

        def come(secret: str = secret, together: Barrier = together) -> str:
            together.wait(20)
            try:
                return redeem_device(house.rt, client, secret).access
            except OAuthError as error:
                return error.code

        with ThreadPoolExecutor(6) as pool:
            answers = [each.result() for each in [pool.submit(come) for _ in range(6)]]
        [access] = [answer for answer in answers if answer != "invalid_grant"]
        assert refused(house, access)


def test_only_a_person_lets_a_machine_in_and_only_once(house: House) -> None:
    client = machine(house)
    _, code = started(house, client)
    device = waiting_device(house.rt, code)
    with pytest.raises(DolmenError) as error:
        allow_device(house.rt, house.agent, device, client, Consent("box", "read"))
    assert error.value.code == "forbidden"
    allowed(house, client, code)
    with pytest.raises(DolmenError):
        allow_device(house.rt, house.owner, device, client, Consent("box", "read"))
    with pytest.raises(DolmenError):
        deny_device(house.rt, house.owner, device)
    assert len(keys(house.rt, house.owner)) == 1


@pytest.mark.parametrize(
    ("scope", "wishes", "why"),
    [("all", {}, "invalid_scope"), ("", {"project": "x" * 301}, "invalid_request")],
)
def test_a_machine_cannot_ask_for_what_is_not_there(house: House, scope: str, wishes: dict[str, str], why: str) -> None:
    with pytest.raises(OAuthError) as error:
        started(house, machine(house), scope, **wishes)
    assert error.value.code == why


@pytest.mark.parametrize("entered", ["", "x", "WDJB-MJH", "WDJB-MJHTT", "AEIO-UAEI", "1234-5678", "ＷＤＪＢ-ＭＪＨＴ"])
def test_what_is_no_code_is_answered_like_one_that_nobody_waits_with(house: House, entered: str) -> None:
    with pytest.raises(DolmenError) as error:
        waiting_device(house.rt, entered)
    with pytest.raises(DolmenError) as absent:
        waiting_device(house.rt, "BBBB-BBBB")
    assert error.value.as_dict() == absent.value.as_dict()


# --------------------------------------------------------------------------------------- clients registered with a key
def bound(house: House, **key: Any) -> tuple[Client, str]:
    """A client that was registered with a key, and the key's id."""
    connection, secret = create_key(house.rt, house.owner, agent="chatgpt", **key)
    return register_with_key(
        house.rt, authenticate_key(house.rt, secret), {"client_name": "My App", **BACK_HOME}
    ), connection.id


BACK_HOME = {"redirect_uris": [BACK]}


def let_in(house: House, client: Client, **chosen: Any) -> Tokens:
    request = Request(client, BACK, CHALLENGE, RESOURCE)
    code = consent(house.rt, house.owner, request, Consent(**{"agent": "app", "mode": "write"} | chosen))
    return redeem(house.rt, client, code, VERIFIER, BACK, None)


def test_a_client_of_a_key_stays_within_the_key(house: House) -> None:
    """C-306"""
    ends = house.clock.now + HOUR // 2
    client, key = bound(house, mode="suggest", project="github.com/a/b", toolset="kenfold", expires_at=ends)
    assert client.id == f"my-app_{key.replace('-', '')[-8:]}"
    assert widest(house.rt, client) == "suggest"
    given = let_in(house, client, project="other", toolset="core", expires_at=ends + HOUR)
    actor = acts(house, given.access)
    assert (actor.mode, actor.project, actor.toolset) == ("suggest", "github.com/a/b", "kenfold")
    house.clock.advance(HOUR // 2)
    assert refused(house, given.access)
    assert widest(house.rt, client) == "read"


def test_a_client_of_a_wide_key_is_what_the_person_chose(house: House) -> None:
    client, _ = bound(house, mode="admin")
    actor = acts(house, let_in(house, client, project="shop", toolset="kmem").access)
    assert (actor.mode, actor.project, actor.toolset) == ("write", "shop", "kmem")


def test_a_client_of_a_key_has_the_limits_and_the_write_policy_of_the_key(house: House) -> None:
    """C-306: else a key whose writes wait for a person makes itself a client whose writes do not."""
    limits = Bounds(per_minute=3, per_day=50, memories=2)
    client, _ = bound(house, bounds=limits, write_policy="review")
    actor = acts(house, let_in(house, client).access)
    assert (actor.mode, actor.bounds, actor.policy) == ("write", limits, "review")


def test_what_was_let_in_through_a_key_ends_with_it_at_once(house: House) -> None:
    """C-306"""
    client, key = bound(house)
    given, other = let_in(house, client), let_in(house, register(house.rt, BACK_HOME))
    authenticate(house.rt, given.access, RESOURCE)
    revoke(house.rt, house.owner, key)
    with pytest.raises(DolmenError):
        authenticate(house.rt, given.access, RESOURCE)
    with pytest.raises(OAuthError):
        refresh(house.rt, client, given.refresh, "", None)
    assert not refused(house, other.access)
    with pytest.raises(DolmenError) as error:
        let_in(house, client)
    assert error.value.code == "forbidden"


def test_a_client_of_somebody_elses_key_is_not_let_in(house: House) -> None:
    client, _ = bound(house)
    request = Request(client, BACK, CHALLENGE, RESOURCE)
    with pytest.raises(DolmenError) as error:
        consent(house.rt, replace(house.owner, person="somebody"), request, Consent("app", "read"))
    assert error.value.code == "forbidden"
    assert "somebody else's key" in error.value.message


def test_the_same_name_with_the_same_key_is_the_same_client(house: House) -> None:
    _, secret = create_key(house.rt, house.owner, agent="chatgpt")
    key = authenticate_key(house.rt, secret)
    first = register_with_key(house.rt, key, {"client_name": "My App", **BACK_HOME})
    again = register_with_key(house.rt, key, {"client_name": "my app", "redirect_uris": ["http://localhost/cb"]})
    assert again.id == first.id
    assert registered_client(house.rt, first.id).redirects == ("http://localhost/cb",)
    foreign = register_with_key(house.rt, replace(key, vault="other"), {"client_name": "My App", **BACK_HOME})
    assert foreign.id.startswith(f"{first.id}_")
    house.clock.advance(48 * HOUR)
    register(house.rt, BACK_HOME)
    assert registered_client(house.rt, first.id).key == key.connection
