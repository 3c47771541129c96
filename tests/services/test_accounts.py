"""Keys, the first run, and who a call stands for."""

from __future__ import annotations

import hashlib
import threading
from dataclasses import replace

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import DAY, MINUTE
from dolmen.services import accounts
from dolmen.services.journal import JournalBuffer
from dolmen.services.runtime import Runtime
from dolmen.store.opening import open_store
from tests.conftest import Engine, NewStore
from tests.services.conftest import House


def refused(house: House, secret: str) -> DolmenError:
    with pytest.raises(DolmenError) as caught:
        accounts.authenticate(house.rt, secret)
    return caught.value


def test_a_key_opens_the_vault_as_the_agent_it_was_made_for(house: House) -> None:
    """C-31: the agent is decided by the key, never by what a call says."""
    connection, secret = accounts.create_key(
        house.rt,
        house.owner,
        agent="Claude Code",
        mode="suggest",
        project="git@github.com:acme/shop.git",
        label="laptop",
    )
    actor = accounts.authenticate(house.rt, secret)
    assert (actor.vault, actor.person, actor.connection) == ("main", "owner", connection.id)
    assert (actor.agent, actor.mode, actor.project) == ("claude-code", "suggest", "github.com/acme/shop")
    assert not actor.human


def test_a_secret_is_random_prefixed_and_never_stored(house: House) -> None:
    _, first = accounts.create_key(house.rt, house.owner, agent="a")
    _, second = accounts.create_key(house.rt, house.owner, agent="a")
    assert first != second
    assert first.startswith("dlm_")
    assert len(first) == len("dlm_") + 43
    listed = repr(accounts.keys(house.rt, house.owner))
    assert first not in listed
    assert hashlib.sha256(first.encode()).hexdigest() not in listed
    assert f"hint='{first[-4:]}'" in listed


def test_unknown_revoked_and_malformed_keys_are_refused_in_the_same_words(house: House) -> None:
    connection, secret = accounts.create_key(house.rt, house.owner, agent="a")
    accounts.revoke(house.rt, house.owner, connection.id)
    answers = [
        refused(house, each).as_dict() for each in (secret, "dlm_" + "x" * 43, "dlm_short", "", "ключ", secret + " ")
    ]
    assert answers[0]["code"] == "unauthorized"
    assert all(answer == answers[0] for answer in answers)


def test_an_expired_key_is_told_its_date(house: House) -> None:
    until = house.clock.now + DAY
    _, secret = accounts.create_key(house.rt, house.owner, agent="a", expires_at=until)
    assert accounts.authenticate(house.rt, secret).agent == "a"
    house.rt.keys.forget(accounts.authenticate(house.rt, secret).connection)
    house.clock.advance(DAY)
    error = refused(house, secret)
    assert error.code == "unauthorized"
    assert "expired on 2026-09-22" in error.message
    assert "dolmen key create" in error.fix


def test_a_key_that_is_about_to_expire_is_not_remembered_past_its_end(house: House) -> None:
    _, secret = accounts.create_key(house.rt, house.owner, agent="a", expires_at=house.clock.now + MINUTE)
    accounts.authenticate(house.rt, secret)
    house.clock.advance(MINUTE)
    assert refused(house, secret).code == "unauthorized"


def test_a_key_cannot_be_made_to_expire_in_the_past(house: House) -> None:
    with pytest.raises(DolmenError) as caught:
        accounts.create_key(house.rt, house.owner, agent="a", expires_at=house.clock.now - 1)
    assert caught.value.code == "invalid-argument"
    assert accounts.keys(house.rt, house.owner) == []


def test_revocation_counts_at_the_next_call(house: House) -> None:
    connection, secret = accounts.create_key(house.rt, house.owner, agent="a")
    accounts.authenticate(house.rt, secret)
    assert accounts.revoke(house.rt, house.owner, connection.id).revoked_at is not None
    assert refused(house, secret).code == "unauthorized"


def test_a_key_that_is_revoked_while_it_is_looked_at_is_not_remembered(house: House) -> None:
    connection, secret = accounts.create_key(house.rt, house.owner, agent="a")

    class Meanwhile(JournalBuffer):
        def used(self, vault: str, connection: str, at: int) -> None:
            accounts.revoke(rt, house.owner, connection)

    rt = replace(house.rt, journal=Meanwhile(house.rt.store))
    assert accounts.authenticate(rt, secret).connection == connection.id  # it held when it was looked at
    with pytest.raises(DolmenError) as caught:
        accounts.authenticate(rt, secret)
    assert caught.value.code == "unauthorized"


def test_revoking_again_changes_nothing_and_an_unknown_key_is_not_found(house: House) -> None:
    connection, _ = accounts.create_key(house.rt, house.owner, agent="a")
    first = accounts.revoke(house.rt, house.owner, connection.id)
    assert accounts.revoke(house.rt, house.owner, connection.id).revoked_at == first.revoked_at
    with pytest.raises(DolmenError) as caught:
        accounts.revoke(house.rt, house.owner, "01900000-0000-7000-8000-0000000000ff")
    assert caught.value.code == "not-found"


def test_another_process_notices_a_revocation_within_a_second(house: House) -> None:
    connection, secret = accounts.create_key(house.rt, house.owner, agent="a")
    other = replace(house.rt, keys=type(house.rt.keys)())
    actor = accounts.authenticate(other, secret)
    accounts.revoke(house.rt, house.owner, connection.id)
    hashed = hashlib.sha256(secret.encode()).hexdigest()
    assert other.keys.get(hashed, 0) == actor
    # what the cache holds is forgotten a second later
    other.keys.put(hashed, actor, 0, other.keys.turn)
    assert other.keys.get(hashed, 999_999) == actor
    assert other.keys.get(hashed, 1_000_000) is None
    with pytest.raises(DolmenError):
        accounts.authenticate(other, secret)


def test_an_agent_makes_and_sees_no_keys(house: House) -> None:
    for call in (
        lambda: accounts.create_key(house.rt, house.agent, agent="b"),
        lambda: accounts.keys(house.rt, house.agent),
        lambda: accounts.revoke(house.rt, house.agent, "x"),
    ):
        with pytest.raises(DolmenError) as caught:
            call()
        assert caught.value.code == "forbidden"


def test_using_a_key_is_noted_a_little_later(house: House) -> None:
    _, secret = accounts.create_key(house.rt, house.owner, agent="a")
    accounts.authenticate(house.rt, secret)
    house.rt.journal.flush()
    [connection] = accounts.keys(house.rt, house.owner)
    assert connection.last_used_at is not None
    assert connection.last_used_at >= connection.created_at


def test_making_and_ending_a_key_leaves_audit_rows_without_the_secret(house: House) -> None:
    connection, secret = accounts.create_key(house.rt, house.owner, agent="a")
    accounts.revoke(house.rt, house.owner, connection.id)
    with house.rt.store.read() as tx:
        rows = tx.journal.audited("main")
    assert [row.op for row in rows][:2] == ["key:revoke", "key:create"]
    assert secret not in repr(rows)


def test_the_first_run_makes_one_vault_with_an_owner_however_many_start_at_once(
    engine: Engine, new_store: NewStore
) -> None:
    """B211: one user model, made by the first run, behind every door."""
    url = new_store(engine)
    found: list[str] = []

    def first_run() -> None:
        store = open_store(url)
        rt = Runtime(store, None, JournalBuffer(store))
        found.append(accounts.ensure_vault(rt))
        store.close()

    threads = [threading.Thread(target=first_run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(found) == {accounts.MAIN_VAULT}
    store = open_store(url)
    rt = Runtime(store, None, JournalBuffer(store))
    with store.read() as tx:
        assert tx.accounts.vaults() == [(accounts.MAIN_VAULT, "main")]
    actor = accounts.local_actor(rt, agent="", human=True)
    assert (actor.person, actor.agent, actor.connection) == (accounts.MAIN_OWNER, "unknown", "local")
    store.close()


def test_the_local_user_acts_for_the_owner_in_the_named_project(house: House) -> None:
    actor = accounts.local_actor(house.rt, agent="Codex CLI", mode="write", project="https://github.com/Acme/Shop.git")
    assert (actor.vault, actor.person) == ("main", "owner")
    assert (actor.agent, actor.mode, actor.project) == ("codex-cli", "write", "github.com/acme/shop")
    assert accounts.local_actor(house.rt, agent="x", project="user").project is None
