"""`contract.OAuth`: clients, codes, tokens and devices."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import pytest

from dolmen.domain.access import Connection
from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import Client, Code, DeviceCode, Token
from dolmen.domain.values import HOUR, MINUTE
from tests.contract import workers
from tests.contract.given import START, Desk

CLIENT = Client("c1", "Claude", ("https://claude.ai/cb", "http://localhost/cb"), scope="read write", created_at=START)
GRANT = Connection(id="k1", vault="v", person="o", agent="claude", mode="write", created_at=START)
CODE = Code(
    client="c1",
    redirect="https://claude.ai/cb",
    challenge="x" * 43,
    vault="v",
    connection="k1",
    resource="https://here/mcp",
    scope="read",
    created_at=START,
    expires_at=START + MINUTE,
)
ACCESS = Token("access", "c1", "v", "k1", "https://here/mcp", "read", START, START + MINUTE)
REFRESH = replace(ACCESS, kind="refresh", expires_at=START + 2 * MINUTE)
DEVICE = DeviceCode(
    "BCDF-GHJK", "c1", "https://here/mcp", "read", START, START + MINUTE, project="shop", toolset="kenfold"
)


@pytest.fixture
def granted(desk: Desk) -> Desk:
    with desk.store.write() as tx:
        tx.accounts.add_connection(GRANT, "hash of nothing")
    return desk


def test_a_client_is_kept_as_it_said_and_can_say_it_anew(desk: Desk) -> None:
    keys = {"keys": [{"kty": "EC", "kid": "한"}]}
    document = replace(CLIENT, id="https://a.example/c", method="private_key_jwt", jwks=keys)
    with desk.store.write() as tx:
        tx.oauth.put_client(CLIENT, "registered")
        tx.oauth.put_client(document, "document")
    with desk.store.write() as tx:
        assert tx.oauth.client("c1") == CLIENT
        assert tx.oauth.client("https://a.example/c") == document
        assert tx.oauth.client("c2") is None
        tx.oauth.put_client(replace(document, name="B", jwks=None, created_at=START + 9), "document")
        assert tx.oauth.client("https://a.example/c") == replace(document, name="B", jwks=None)


def test_clients_that_nobody_let_in_are_counted_and_forgotten(desk: Desk) -> None:
    with desk.store.write() as tx:
        for id in ("c1", "c2", "c3"):
            tx.oauth.put_client(replace(CLIENT, id=id, created_at=START + int(id[1])), "registered")
        tx.oauth.approve_client("c1", START + 5)
        tx.oauth.put_client(CLIENT, "registered")
        assert tx.oauth.unapproved() == 2
        assert tx.oauth.trim(START, START + 3) == 1
        assert [tx.oauth.client(id) is not None for id in ("c1", "c2", "c3")] == [True, False, True]


def test_the_oldest_clients_that_nobody_let_in_make_room(desk: Desk) -> None:
    with desk.store.write() as tx:
        for n in range(5):
            tx.oauth.put_client(replace(CLIENT, id=f"c{n}", created_at=START + n), "registered")
        tx.oauth.approve_client("c0", START + 9)
        assert tx.oauth.evict_unapproved(2) == 2
        kept = [tx.oauth.client(f"c{n}") is not None for n in range(5)]
        assert kept == [True, False, False, True, True]


def test_a_key_knows_what_its_clients_were_let_in_as(granted: Desk) -> None:
    with granted.store.write() as tx:
        for id in ("k2", "k3", "k4", "k5"):
            tx.accounts.add_connection(replace(GRANT, id=id), f"hash of {id}")
        bound = replace(CLIENT, id="b", vault="v", key="k1")
        tx.oauth.put_client(CLIENT, "registered")
        tx.oauth.put_client(bound, "registered")
        assert tx.oauth.client("b") == bound
        tx.oauth.add_token(replace(ACCESS, client="b", connection="k2"), "a")
        tx.oauth.add_code(replace(CODE, client="b", connection="k3"), "c")
        tx.oauth.add_token(replace(REFRESH, connection="k4"), "r")
        tx.oauth.add_token(replace(REFRESH, client="b", connection="k5"), "e")
        tx.accounts.revoke("v", "k5", START)
        assert sorted(tx.oauth.bound_to("v", "k1")) == ["k2", "k3"]
        assert tx.oauth.bound_to("w", "k1") == []


def test_a_code_shows_a_second_use(granted: Desk) -> None:
    with granted.store.write() as tx:
        tx.oauth.add_code(CODE, "h")
        assert tx.oauth.use_code("h", START + 1) == CODE
        assert tx.oauth.use_code("h", START + 2) == replace(CODE, used_at=START + 1)
        assert tx.oauth.use_code("other", START + 2) is None


def test_a_token_comes_with_its_connection_and_is_of_one_kind(granted: Desk) -> None:
    with granted.store.write() as tx:
        tx.oauth.add_token(ACCESS, "a")
        tx.oauth.add_token(REFRESH, "r")
    with granted.store.read() as tx:
        assert tx.oauth.token("access", "a") == (ACCESS, GRANT)
        assert tx.oauth.token("refresh", "r") == (REFRESH, GRANT)
        assert tx.oauth.token("access", "r") is None
        assert tx.oauth.token("refresh", "a") is None
        assert tx.oauth.token("access", "") is None


def test_a_token_shows_that_its_connection_has_ended(granted: Desk) -> None:
    with granted.store.write() as tx:
        tx.oauth.add_token(ACCESS, "a")
        tx.accounts.revoke("v", "k1", START + 3)
        assert tx.oauth.token("access", "a") == (ACCESS, replace(GRANT, revoked_at=START + 3))


def test_two_tokens_never_share_a_secret(granted: Desk) -> None:
    with granted.store.write() as tx:
        tx.oauth.add_token(ACCESS, "a")
    with pytest.raises(DolmenError) as refused, granted.store.write() as tx:
        tx.oauth.add_token(REFRESH, "a")
    assert refused.value.code == "conflict"


def test_a_token_needs_its_connection(desk: Desk) -> None:
    with pytest.raises(DolmenError), desk.store.write() as tx:
        tx.oauth.add_token(ACCESS, "a")


def test_ending_a_connection_forgets_its_codes_and_tokens_only(granted: Desk) -> None:
    with granted.store.write() as tx:
        tx.accounts.add_connection(replace(GRANT, id="k2"), "hash of another")
        tx.oauth.add_code(CODE, "c")
        tx.oauth.add_token(ACCESS, "a")
        tx.oauth.add_token(REFRESH, "r")
        tx.oauth.add_token(replace(ACCESS, connection="k2"), "b")
        assert tx.oauth.drop_tokens("w", "k1") == 0
        assert tx.oauth.drop_tokens("v", "k1") == 2
        assert tx.oauth.use_code("c", START) is None
        assert tx.oauth.token("access", "a") is None
        assert tx.oauth.token("access", "b") is not None


def test_ending_a_connection_denies_its_machine_that_has_not_come(granted: Desk) -> None:
    with granted.store.write() as tx:
        tx.accounts.add_connection(replace(GRANT, id="k2"), "hash of another")
        for id, secret in (("k1", "BBBB-BBBB"), ("k1", "CCCC-CCCC"), ("k2", "DDDD-DDDD")):
            tx.oauth.add_device(replace(DEVICE, user_code=secret), secret)
            tx.oauth.decide_device(secret, "allowed", "v", id, "read")
        assert tx.oauth.redeem_device("CCCC-CCCC")
        tx.oauth.drop_tokens("w", "k1")
        assert tx.oauth.redeem_device("DDDD-DDDD")
        tx.oauth.drop_tokens("v", "k1")
        said = {each: tx.oauth.device(each) for each in ("BBBB-BBBB", "CCCC-CCCC", "DDDD-DDDD")}
        assert [each and each.decision for each in said.values()] == ["denied", "redeemed", "redeemed"]


def test_what_nobody_came_for_ends(granted: Desk) -> None:
    """C-311"""
    with granted.store.write() as tx:
        for id in ("k2", "k3", "k4"):
            tx.accounts.add_connection(replace(GRANT, id=id), f"hash of {id}")
        tx.oauth.add_code(CODE, "c")
        tx.oauth.add_code(replace(CODE, connection="k2"), "d")
        tx.oauth.use_code("d", START + 1)
        for n, id in enumerate(("k3", "k4")):
            tx.oauth.add_device(replace(DEVICE, user_code=f"BBBB-BBB{n}"), id)
            tx.oauth.decide_device(f"BBBB-BBB{n}", "allowed", "v", id, "read")
        tx.oauth.redeem_device("k4")
        tx.oauth.trim(START + MINUTE - 1, START)
        assert not [each.id for each in tx.accounts.connections("v") if each.revoked_at is not None]
        tx.oauth.trim(START + MINUTE, START)
        ended = {each.id: each.revoked_at for each in tx.accounts.connections("v") if each.revoked_at is not None}
        assert ended == {"k1": START + MINUTE, "k3": START + MINUTE}


def test_what_has_expired_stays_until_it_is_trimmed(granted: Desk) -> None:
    with granted.store.write() as tx:
        tx.oauth.add_code(CODE, "c")
        tx.oauth.add_token(ACCESS, "a")
        tx.oauth.add_token(REFRESH, "r")
        tx.oauth.add_device(DEVICE, "d")
        assert tx.oauth.trim(START + MINUTE - 1, START) == 0
        assert tx.oauth.trim(START + MINUTE, START) == 2
        assert tx.oauth.token("refresh", "r") is not None
        assert tx.oauth.device("d") is not None
        assert tx.oauth.trim(START + MINUTE + HOUR, START) == 2
        assert tx.oauth.device("d") is None


def test_a_device_waits_for_its_person_and_is_redeemed_once(desk: Desk) -> None:
    with desk.store.write() as tx:
        assert tx.oauth.add_device(DEVICE, "d")
        assert not tx.oauth.add_device(DEVICE, "e")
        tx.oauth.poll_device("d", START + 5)
        assert tx.oauth.device("d") == tx.oauth.device_of("BCDF-GHJK") == replace(DEVICE, polled_at=START + 5)
        assert not tx.oauth.redeem_device("d")
        assert tx.oauth.decide_device("BCDF-GHJK", "allowed", "v", "k1", "write")
        assert not tx.oauth.decide_device("BCDF-GHJK", "denied", "", "", "")
        assert tx.oauth.redeem_device("d")
        assert not tx.oauth.redeem_device("d")
        device = tx.oauth.device("d")
        assert device is not None
        assert (device.decision, device.vault, device.connection) == ("redeemed", "v", "k1")
        assert (device.scope, device.project, device.toolset) == ("write", "shop", "kenfold")


def test_of_several_processes_that_use_a_token_at_once_one_is_first(granted: Desk, engine_url: str) -> None:
    """B082"""
    with granted.store.write() as tx:
        tx.oauth.add_token(REFRESH, "r")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        first = sum(pool.map(workers.use_refresh, [engine_url] * 4, ["r"] * 4))
    assert first == 1


def test_of_several_threads_that_use_a_code_at_once_one_is_first(granted: Desk) -> None:
    with granted.store.write() as tx:
        tx.oauth.add_code(CODE, "c")

    def use(_: int) -> bool:
        with granted.store.write() as tx:
            code = tx.oauth.use_code("c", START + 1)
            return code is not None and code.used_at is None

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(use, range(8))) == 1
