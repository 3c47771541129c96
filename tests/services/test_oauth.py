"""Signing a client in: registration, consent, codes, tokens, and their end."""

from __future__ import annotations

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier
from typing import Any

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import GRACE, Client, OAuthError
from dolmen.domain.values import HOUR, MINUTE, Actor
from dolmen.services.accounts import keys
from dolmen.services.accounts import revoke as revoke_connection
from dolmen.services.keycache import KeyCache
from dolmen.services.oauth import (
    Consent,
    Request,
    Tokens,
    authenticate,
    clients,
    consent,
    document_client,
    redeem,
    refresh,
    register,
    registered_client,
    revoke,
)
from dolmen.services.policy import by_versions, set_policy, under_policy
from tests.services.conftest import House

RESOURCE = "https://memory.example.com/mcp"
BACK = "https://claude.ai/api/mcp/auth_callback"
VERIFIER = "v" * 43
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")


def client(house: House, **metadata: Any) -> Client:
    return register(house.rt, {"client_name": "Claude", "redirect_uris": [BACK, "http://localhost/cb"], **metadata})


def code(house: House, asking: Client, scope: str = "", **chosen: Any) -> str:
    request = Request(asking, BACK, CHALLENGE, RESOURCE, scope)
    return consent(house.rt, house.owner, request, Consent(**{"agent": "claude", "mode": "write"} | chosen))


def tokens(house: House, asking: Client, **chosen: Any) -> Tokens:
    return redeem(house.rt, asking, code(house, asking, **chosen), VERIFIER, BACK, RESOURCE)


def acts(house: House, access: str) -> Actor:
    """By what the store says now, as another process would."""
    return authenticate(replace(house.rt, keys=KeyCache()), access, RESOURCE)


def refused(house: House, access: str) -> bool:
    try:
        acts(house, access)
    except DolmenError as error:
        return error.code == "unauthorized"
    return False


# ------------------------------------------------------------------------------------------------------------- sign-in
def test_a_client_signs_in_and_acts_as_the_person_allowed(house: House) -> None:
    asking = client(house)
    given = tokens(house, asking, agent="Claude Web", mode="suggest", project="github.com/a/b", toolset="kenfold")
    actor = acts(house, given.access)
    assert (actor.vault, actor.person, actor.agent, actor.mode) == ("main", "owner", "claude-web", "suggest")
    assert (actor.project, actor.toolset, actor.human) == ("github.com/a/b", "kenfold", False)
    assert (given.expires_in, given.scope) == (3600, "read suggest")
    [connection] = keys(house.rt, house.owner)
    assert connection.label == "Claude (sign-in)"


def test_a_client_never_gets_more_than_it_asked_for(house: House) -> None:
    """C-320"""
    asking = client(house)
    given = redeem(house.rt, asking, code(house, asking, "memory:read"), VERIFIER, BACK, None)
    assert (given.scope, acts(house, given.access).mode) == ("memory:read", "read")


def test_only_a_person_lets_a_client_in(house: House) -> None:
    request = Request(client(house), BACK, CHALLENGE, RESOURCE)
    with pytest.raises(DolmenError) as error:
        consent(house.rt, house.agent, request, Consent("claude", "read"))
    assert error.value.code == "forbidden"


def test_no_client_is_let_in_to_write_while_agent_writes_are_off(house: House) -> None:
    """C-140, C-310: by the same rule as a new key; whoever has a token already proposes from its next call on."""
    writing = tokens(house, client(house))
    set_policy(house.rt, house.owner, "agent_writes", "off")
    with pytest.raises(DolmenError) as error:
        code(house, client(house), mode="write")
    assert error.value.code == "forbidden"
    assert "agent_writes on" in error.value.fix
    assert code(house, client(house), mode="suggest")
    assert code(house, client(house), "memory:read", mode="write"), "it asked for reading only"
    agent = under_policy(house.rt, acts(house, writing.access), by_versions)
    assert house.remember("Herons are grey.", agent).outcome == "proposed"


@pytest.mark.parametrize(
    "chosen",
    [{"mode": "admin"}, {"agent": " "}, {"toolset": "none"}, {"project": "/home/me/x"}, {"expires_at": 5}],
)
def test_a_consent_that_cannot_hold_makes_nothing(house: House, chosen: dict[str, Any]) -> None:
    with pytest.raises(DolmenError) as error:
        code(house, client(house), **chosen)
    assert error.value.code in ("invalid-argument", "invalid-project")
    assert keys(house.rt, house.owner) == []


def test_a_request_returns_only_where_the_client_said(house: House) -> None:
    asking = client(house)
    Request(asking, "http://127.0.0.1:5123/cb", CHALLENGE, RESOURCE)  # B078
    with pytest.raises(OAuthError) as error:
        Request(asking, "https://evil.example/cb", CHALLENGE, RESOURCE)
    assert error.value.code == "invalid_request"


# --------------------------------------------------------------------------------------------------------------- codes
@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"verifier": "w" * 43}, "invalid_grant"),
        ({"redirect": "http://localhost/cb"}, "invalid_grant"),
        ({"code": "dlo_unknown"}, "invalid_grant"),
        ({"resource": "https://memory.example.com/mcp/kenfold"}, "invalid_target"),
    ],
)
def test_a_code_is_redeemed_by_who_asked_for_it_alone(house: House, change: dict[str, str], why: str) -> None:
    asking = client(house)
    right = {"code": code(house, asking), "verifier": VERIFIER, "redirect": BACK, "resource": RESOURCE}
    with pytest.raises(OAuthError) as error:
        redeem(house.rt, asking, **right | change)
    assert error.value.code == why


def test_another_clients_code_is_worth_nothing(house: House) -> None:
    asking = client(house)
    with pytest.raises(OAuthError):
        redeem(house.rt, client(house), code(house, asking), VERIFIER, BACK, RESOURCE)


def test_a_code_holds_for_a_minute(house: House) -> None:
    asking = client(house)
    made = code(house, asking)
    house.clock.advance(MINUTE)
    with pytest.raises(OAuthError):
        redeem(house.rt, asking, made, VERIFIER, BACK, RESOURCE)


def test_a_code_that_comes_twice_ends_what_the_first_got(house: House) -> None:
    asking = client(house)
    made = code(house, asking)
    given = redeem(house.rt, asking, made, VERIFIER, BACK, RESOURCE)
    assert not refused(house, given.access)
    with pytest.raises(OAuthError):
        redeem(house.rt, asking, made, VERIFIER, BACK, RESOURCE)
    assert refused(house, given.access)
    with pytest.raises(OAuthError):
        refresh(house.rt, asking, given.refresh, "", None)


def test_of_many_that_show_a_code_at_the_same_time_one_gets_tokens_that_hold_no_more_and_none_waits_in_vain(
    house: House,
) -> None:
    """On PostgreSQL they held what the others waited for, and were told that the store was busy."""
    asking = client(house)
    for _ in range(6):
        made, together = code(house, asking), Barrier(8)

        def come(made: str = made, together: Barrier = together) -> str:
            together.wait(20)
            try:
                return redeem(house.rt, asking, made, VERIFIER, BACK, RESOURCE).access
            except OAuthError as error:
                return error.code

        with ThreadPoolExecutor(8) as pool:
            answers = [each.result() for each in [pool.submit(come) for _ in range(8)]]
        [access] = [answer for answer in answers if answer != "invalid_grant"]
        assert refused(house, access)


# -------------------------------------------------------------------------------------------------------------- tokens
def test_an_access_token_holds_for_an_hour_and_for_this_server(house: House) -> None:
    """C-297, C-298"""
    given = tokens(house, client(house))
    with pytest.raises(DolmenError):
        authenticate(house.rt, given.access, "https://other.example/mcp")
    authenticate(house.rt, given.access, f"{RESOURCE}/kenfold")
    assert refused(house, given.refresh)
    house.clock.advance(HOUR)
    assert refused(house, given.access)


def test_a_remembered_token_still_opens_its_own_resource_alone(house: House) -> None:
    asking = client(house)
    request = Request(asking, BACK, CHALLENGE, f"{RESOURCE}/kenfold")
    made = consent(house.rt, house.owner, request, Consent("claude", "read"))
    given = redeem(house.rt, asking, made, VERIFIER, BACK, None)
    authenticate(house.rt, given.access, f"{RESOURCE}/kenfold")
    with pytest.raises(DolmenError):
        authenticate(house.rt, given.access, RESOURCE)


def test_a_refresh_token_is_replaced_and_the_new_ones_work(house: House) -> None:
    asking = client(house)
    first = tokens(house, asking)
    house.clock.advance(2 * HOUR)
    second = refresh(house.rt, asking, first.refresh, "", RESOURCE)
    assert {first.access, first.refresh}.isdisjoint({second.access, second.refresh})
    assert refused(house, first.access)
    assert acts(house, second.access).agent == "claude"


def test_a_retry_within_seconds_is_answered_again(house: House) -> None:
    """B082"""
    asking = client(house)
    first = tokens(house, asking)
    second = refresh(house.rt, asking, first.refresh, "", None)
    third = refresh(house.rt, asking, first.refresh, "", None)
    assert not refused(house, second.access)
    assert not refused(house, third.access)


def test_two_refreshes_at_once_both_get_tokens_that_work(house: House) -> None:
    """B082"""
    asking = client(house)
    first = tokens(house, asking)
    with ThreadPoolExecutor(2) as pool:
        given = list(pool.map(lambda _: refresh(house.rt, asking, first.refresh, "", None), range(4)))
    assert not any(refused(house, each.access) for each in given)


def test_a_refresh_token_that_turns_up_later_ends_the_whole_grant(house: House) -> None:
    """C-298"""
    asking = client(house)
    first = tokens(house, asking)
    second = refresh(house.rt, asking, first.refresh, "", None)
    house.clock.advance(GRACE + MINUTE)
    with pytest.raises(OAuthError):
        refresh(house.rt, asking, first.refresh, "", None)
    assert refused(house, second.access)
    with pytest.raises(OAuthError):
        refresh(house.rt, asking, second.refresh, "", None)


@pytest.mark.parametrize(
    ("scope", "resource", "why"),
    [("write", None, "invalid_scope"), ("", "https://x.example/mcp", "invalid_target"), ("all", None, "invalid_scope")],
)
def test_a_refresh_never_widens(house: House, scope: str, resource: str | None, why: str) -> None:
    asking = client(house)
    given = tokens(house, asking, mode="read")
    with pytest.raises(OAuthError) as error:
        refresh(house.rt, asking, given.refresh, scope, resource)
    assert error.value.code == why
    assert not refused(house, refresh(house.rt, asking, given.refresh, "read", RESOURCE).access)


def test_another_client_cannot_use_a_refresh_token_nor_end_it(house: House) -> None:
    asking, other = client(house), client(house)
    given = tokens(house, asking)
    with pytest.raises(OAuthError):
        refresh(house.rt, other, given.refresh, "", None)
    revoke(house.rt, other, given.refresh)
    assert not refused(house, given.access)


# ---------------------------------------------------------------------------------------------------------------- ends
@pytest.mark.parametrize("which", ["access", "refresh"])
def test_a_revoked_token_takes_its_whole_grant_along(house: House, which: str) -> None:
    asking = client(house)
    given = tokens(house, asking)
    revoke(house.rt, asking, getattr(given, which))
    revoke(house.rt, asking, "dlr_unknown")
    assert refused(house, given.access)
    with pytest.raises(OAuthError):
        refresh(house.rt, asking, given.refresh, "", None)


def test_a_connection_that_the_owner_ends_stops_at_the_next_call(house: House) -> None:
    """C-311"""
    asking = client(house)
    given = tokens(house, asking)
    authenticate(house.rt, given.access, RESOURCE)
    [connection] = keys(house.rt, house.owner)
    revoke_connection(house.rt, house.owner, connection.id)
    with pytest.raises(DolmenError):
        authenticate(house.rt, given.access, RESOURCE)
    with pytest.raises(OAuthError):
        refresh(house.rt, asking, given.refresh, "", None)


def test_a_grant_ends_on_the_day_that_the_person_chose(house: House) -> None:
    asking = client(house)
    given = tokens(house, asking, expires_at=house.clock.now + HOUR // 2)
    assert not refused(house, given.access)
    house.clock.advance(HOUR // 2)
    assert refused(house, given.access)
    with pytest.raises(OAuthError):
        refresh(house.rt, asking, given.refresh, "", None)


# ------------------------------------------------------------------------------------------------------------- clients
def test_a_registration_that_nobody_lets_in_is_forgotten_after_hours(house: House) -> None:
    """B084"""
    left, used = client(house), client(house)
    code(house, used)
    house.clock.advance(4 * HOUR + MINUTE)
    client(house)
    assert registered_client(house.rt, used.id) == used
    with pytest.raises(OAuthError) as error:
        registered_client(house.rt, left.id)
    assert error.value.code == "invalid_client"


def test_strangers_neither_fill_the_store_with_registrations_nor_close_it(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B084"""
    monkeypatch.setattr(clients, "MOST_UNAPPROVED", 3)
    used = client(house)
    code(house, used)
    waiting = []
    for _ in range(5):
        waiting.append(client(house).id)
        house.clock.advance(MINUTE)
    with house.rt.store.read() as tx:
        assert tx.oauth.unapproved() == 3
        assert [tx.oauth.client(id) is not None for id in waiting] == [False, False, True, True, True]
        assert tx.oauth.client(used.id) is not None


def test_strangers_cannot_fill_the_store_with_documents(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """B084"""
    monkeypatch.setattr(clients, "MOST_UNAPPROVED", 3)
    for n in range(6):
        url = f"https://client{n}.example/c.json"
        assert document_client(house.rt, url, {"client_id": url, "redirect_uris": [BACK]}).id == url
    with house.rt.store.read() as tx:
        assert tx.oauth.unapproved() == 3


def test_a_document_speaks_for_its_own_address_alone(house: House) -> None:
    url = "https://client.example/c.json"
    document = {"client_id": url, "client_name": "C", "redirect_uris": [BACK]}
    known = document_client(house.rt, url, document)
    assert registered_client(house.rt, url) == known
    changed = document_client(house.rt, url, {**document, "client_name": "D"})
    assert registered_client(house.rt, url) == replace(changed, created_at=known.created_at)
    with pytest.raises(OAuthError) as error:
        document_client(house.rt, "https://evil.example/c.json", document)
    assert error.value.code == "invalid_client"
