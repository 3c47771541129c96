"""Several vaults on one server, groups of keys, and how access ends everywhere at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import Barrier

import pytest

from dolmen.domain import totp
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Actor, Bounds
from dolmen.services import accounts, groups, own_account, people, second_factor, vaults
from dolmen.services.bounds import limit_key
from dolmen.services.notes.creating import create_note
from dolmen.services.oauth import Consent, Request, authenticate, consent, redeem, register
from dolmen.services.oauth.clients import register_with_key
from dolmen.services.requests.notes import NewNote
from dolmen.store.contract import Tx
from dolmen.store.repositories.accounts import OF_A_VAULT
from tests.services.conftest import House
from tests.services.test_oauth import BACK, CHALLENGE, RESOURCE, VERIFIER
from tests.services.test_people import PASSWORD


def key(house: House, agent: str, **more: object) -> tuple[Actor, str]:
    _, secret = accounts.create_key(house.rt, house.owner, agent=agent, **more)  # type: ignore[arg-type]  # by name
    return accounts.authenticate(house.rt, secret), secret


def test_a_vault_is_made_named_and_found(house: House) -> None:
    made = vaults.add_vault(house.rt, house.owner, "Work")
    assert {each.name for each in vaults.vaults(house.rt, house.owner)} == {"Main", "Other", "Work"}
    with pytest.raises(DolmenError) as error:
        vaults.add_vault(house.rt, house.owner, "work")
    assert error.value.code == "conflict"
    vaults.rename_vault(house.rt, house.owner, "Work", "Office")
    assert vaults.own_vaults(house.rt, house.owner) == [("main", "Main"), (made.id, "Office")]


def test_only_who_runs_the_store_manages_vaults(house: House) -> None:
    admin_key = Actor("main", "owner", "codex", "admin", "key-9")
    at_browser = Actor("main", "owner", "web", "admin", "web", human=True)
    for somebody in (house.agent, admin_key, at_browser):
        for attempt in (
            lambda who=somebody: vaults.vaults(house.rt, who),
            lambda who=somebody: vaults.add_vault(house.rt, who, "Mine"),
            lambda who=somebody: vaults.rename_vault(house.rt, who, "Other", "Mine"),
            lambda who=somebody: vaults.remove_vault(house.rt, who, "Other"),
            lambda who=somebody: vaults.admit(house.rt, who, "Eve"),
        ):
            with pytest.raises(DolmenError) as error:
                attempt()
            assert error.value.code in ("forbidden", "read-only")


def _rows(tx: Tx, vault: str) -> dict[str, int]:
    session = tx.memories._session  # type: ignore[attr-defined]  # what is left is asked of the engine itself
    tables = [*OF_A_VAULT, "passage"]
    return {table: number for table in tables if (number := session.one(_count(table), {"vault": vault})[0])}


def _count(table: str) -> object:
    from dolmen.store.sql import Query

    return Query(f"count.{table}", f"SELECT COUNT(*) FROM {table} WHERE vault_id = :vault")


def test_removing_a_vault_destroys_everything_of_it_and_nothing_else(house: House) -> None:
    there = Actor("other", "stranger", "cli", "admin", "local", human=True)
    house.stored("Of the other vault: Marzipan", there, tags=("tea",))
    create_note(house.rt, there, NewNote("# Note of the other\n\nMarzipan too.\n"))
    accounts.create_key(house.rt, there, agent="codex", groups=(groups.add_group(house.rt, there, "pair").name,))
    people.invite(house.rt, there, "Mallory")
    kept = house.stored("Of the main vault")
    would = vaults.remove_vault(house.rt, house.owner, "Other", dry_run=True)
    assert (would.memories, would.notes, would.keys, would.people) == (2, 1, 1, 2)
    with house.rt.store.read() as tx:
        assert _rows(tx, "other")["memory"] == 2
    vaults.remove_vault(house.rt, house.owner, "Other")
    with house.rt.store.read() as tx:
        assert _rows(tx, "other") == {}
        assert [id for id, _ in tx.accounts.vaults()] == ["main"]
    assert house.refs("main vault") == [kept]
    with pytest.raises(DolmenError) as error:
        vaults.remove_vault(house.rt, house.owner, "Main")
    assert error.value.code == "conflict"


def test_a_person_can_be_in_several_vaults_and_leaves_each_alone(house: House) -> None:
    member, secret = people.invite(house.rt, house.owner, "Bob")
    people.choose_password(house.rt, secret, "bob", "correct horse battery staple")
    there = Actor("other", "stranger", "cli", "admin", "local", human=True)
    vaults.admit(house.rt, there, "bob")
    in_other = Actor("other", member.id, "web", "write", "web", human=True)
    assert vaults.own_vaults(house.rt, in_other) == [("main", "Main"), ("other", "Other")]
    people.remove(house.rt, house.owner, member.id)
    assert vaults.own_vaults(house.rt, in_other) == [("other", "Other")]
    browser = people.sign_in(house.rt, "bob", "correct horse battery staple", people.Visitor("127.0.0.1"))
    assert browser is not None
    with house.rt.store.read() as tx:
        found = tx.people.by_login("bob")
    assert found is not None
    assert found.vault == "other"


def test_keys_that_are_kept_apart_see_their_own_and_those_of_a_group_each_others(house: House) -> None:
    # C-37, C-38
    shared = house.stored("Everybody's tea is green")
    groups.add_group(house.rt, house.owner, "pair")
    one, _ = key(house, "one", groups=("pair",))
    two, _ = key(house, "two", groups=("pair",))
    alone, _ = key(house, "three", apart=True)
    ref = house.stored("The tea of the pair is black", one)
    lonely = house.stored("The tea of the third is white", alone)
    assert house.refs("tea", one) == house.refs("tea", two) == [ref]
    assert house.refs("tea", alone) == [lonely]
    assert house.refs("tea", house.agent) == [shared]
    assert set(house.refs("tea", house.owner)) == {shared, ref, lonely}  # the owner sees all
    groups.leave(house.rt, house.owner, "pair", one.connection)
    [again] = [each for each in accounts.keys(house.rt, house.owner) if each.id == two.connection]
    with house.rt.store.read() as tx:
        assert tx.accounts.with_mates(again).mates == (two.connection,)


def test_a_change_of_a_group_holds_for_the_next_request(house: House) -> None:
    groups.add_group(house.rt, house.owner, "pair")
    one, _ = key(house, "one", groups=("pair",))
    _, secret = key(house, "two", groups=("pair",))
    ref = house.stored("Tea of the first", one)
    assert house.refs("tea", accounts.authenticate(house.rt, secret)) == [ref]
    groups.remove_group(house.rt, house.owner, "pair")
    assert house.refs("tea", accounts.authenticate(house.rt, secret)) == []


def test_a_removed_member_is_out_with_everything_at_once(house: House) -> None:
    # C-44
    member, _ = people.invite(house.rt, house.owner, "Bob")
    bob = Actor("main", member.id, "cli", "admin", "local", human=True)
    _, secret = accounts.create_key(house.rt, bob, agent="codex")
    assert accounts.authenticate(house.rt, secret).person == member.id
    people.remove(house.rt, house.owner, member.id)
    with pytest.raises(DolmenError) as error:
        accounts.authenticate(house.rt, secret)
    assert error.value.code == "unauthorized"


def test_a_person_lets_a_client_into_the_vault_that_they_choose_and_into_no_other(house: House) -> None:
    made = vaults.add_vault(house.rt, house.owner, "Work")
    at_browser = replace(house.owner, agent="web", connection="web")
    asking = register(house.rt, {"client_name": "Claude", "redirect_uris": [BACK]})

    def let_in(vault: str) -> Actor:
        request = Request(asking, BACK, CHALLENGE, RESOURCE)
        code = consent(house.rt, at_browser, request, Consent(agent="claude", mode="write", vault=vault))
        return authenticate(house.rt, redeem(house.rt, asking, code, VERIFIER, BACK, RESOURCE).access, RESOURCE)

    inside = let_in(made.id)
    assert (inside.vault, let_in("").vault) == (made.id, "main")
    ref = house.stored("Said in the vault Work", inside)
    assert house.refs("said in the vault work", house.agent) == []
    assert house.refs("said in the vault work", inside) == [ref]
    for foreign in ("other", "nowhere"):
        with pytest.raises(DolmenError, match="no vault of yours"):
            let_in(foreign)


def test_a_client_that_was_registered_with_a_key_kept_apart_sees_what_that_key_sees(house: House) -> None:
    # C-306
    shared = house.stored("Everybody's tea is green")
    own, secret = key(house, "one", apart=True)
    ref = house.stored("The tea of the key is black", own)
    metadata = {"client_name": "Claude", "redirect_uris": [BACK]}
    asking = register_with_key(house.rt, own, metadata)
    at_browser = replace(house.owner, agent="web", connection="web")
    code = consent(house.rt, at_browser, Request(asking, BACK, CHALLENGE, RESOURCE), Consent("claude", "write"))
    inside = authenticate(house.rt, redeem(house.rt, asking, code, VERIFIER, BACK, RESOURCE).access, RESOURCE)
    assert house.refs("tea", inside) == [ref]
    house.stored("The tea of the client is white", inside)
    assert len(house.refs("tea", accounts.authenticate(house.rt, secret))) == 2
    assert house.refs("tea", house.agent) == [shared]


def test_a_client_of_a_key_goes_where_the_key_goes(house: House) -> None:
    # C-306: out of a group with it, and under limits that it gets later.
    groups.add_group(house.rt, house.owner, "pair")
    own, secret = key(house, "one", groups=("pair",))
    other, _ = key(house, "two", groups=("pair",))
    theirs = house.stored("The tea of the other is black", other)
    asking = register_with_key(house.rt, own, {"client_name": "Claude", "redirect_uris": [BACK]})
    at_browser = replace(house.owner, agent="web", connection="web")
    code = consent(house.rt, at_browser, Request(asking, BACK, CHALLENGE, RESOURCE), Consent("claude", "write"))
    access = redeem(house.rt, asking, code, VERIFIER, BACK, RESOURCE).access

    def client() -> Actor:
        return authenticate(house.rt, access, RESOURCE)

    mine = house.stored("The tea of the client is white", client())
    assert set(house.refs("tea", client())) == {theirs, mine}
    groups.leave(house.rt, house.owner, "pair", own.connection)
    assert house.refs("tea", client()) == [mine]
    assert house.refs("tea", accounts.authenticate(house.rt, secret)) == [mine], "the key sees what its client wrote"
    assert house.refs("tea", other) == [theirs]
    groups.join(house.rt, house.owner, "pair", own.connection)
    assert set(house.refs("tea", client())) == {theirs, mine}
    limit_key(house.rt, house.owner, own.connection, Bounds(memories=1), "review")
    assert (client().bounds.memories, client().policy) == (1, "review")


def test_a_key_that_ends_while_its_client_is_let_in_leaves_nothing_behind(house: House) -> None:
    # C-306: whichever of the two comes first.
    at_browser = replace(house.owner, agent="web", connection="web")
    for _ in range(6):
        own, _ = key(house, "one")
        asking = register_with_key(house.rt, own, {"client_name": "Claude", "redirect_uris": [BACK]})
        request, together = Request(asking, BACK, CHALLENGE, RESOURCE), Barrier(2)

        def let_in(request: Request = request, together: Barrier = together) -> None:
            together.wait(20)
            with suppress(DolmenError):
                consent(house.rt, at_browser, request, Consent("claude", "write"))

        def end(own: Actor = own, together: Barrier = together) -> None:
            together.wait(20)
            accounts.revoke(house.rt, house.owner, own.connection)

        with ThreadPoolExecutor(2) as pool:
            for each in [pool.submit(let_in), pool.submit(end)]:
                each.result()
    with house.rt.store.read() as tx:
        left = [each for each in tx.accounts.connections("main") if each.revoked_at is None]
    assert left == []


def test_a_key_that_leaves_its_group_while_its_client_is_let_in_leaves_nobody_behind(house: House) -> None:
    # C-306: whichever of the two comes first.
    at_browser = replace(house.owner, agent="web", connection="web")
    for number in range(6):
        name = f"pair {number}"
        groups.add_group(house.rt, house.owner, name)
        own, _ = key(house, "one", groups=[name])
        asking = register_with_key(house.rt, own, {"client_name": "Claude", "redirect_uris": [BACK]})
        request, together = Request(asking, BACK, CHALLENGE, RESOURCE), Barrier(2)

        def let_in(request: Request = request, together: Barrier = together) -> None:
            together.wait(20)
            consent(house.rt, at_browser, request, Consent("claude", "write"))

        def leave(own: Actor = own, name: str = name, together: Barrier = together) -> None:
            together.wait(20)
            groups.leave(house.rt, house.owner, name, own.connection)

        with ThreadPoolExecutor(2) as pool:
            for each in [pool.submit(let_in), pool.submit(leave)]:
                each.result()
    assert [each.keys for each in groups.groups(house.rt, house.owner) if each.name.startswith("pair")] == [()] * 6


def test_a_key_that_is_kept_apart_makes_none_that_is_not(house: House) -> None:
    own, _ = key(house, "one", apart=True, mode="admin")
    with pytest.raises(DolmenError) as error:
        accounts.create_key(house.rt, own, agent="two")
    assert error.value.code == "forbidden"


def test_a_link_for_a_member_of_two_vaults_leads_to_where_they_sign_in(house: House) -> None:
    bob, link = people.invite(house.rt, house.owner, "Bob")
    here = people.at_browser(house.rt, people.choose_password(house.rt, link, "bob", PASSWORD).secret)
    assert here is not None
    secret = totp.from_text(second_factor.offer(house.rt, here, "x").text.replace(" ", ""))
    second_factor.confirm(house.rt, here, totp.code_at(secret, house.clock.now))
    work = replace(house.owner, vault=vaults.add_vault(house.rt, house.owner, "Work").id)
    vaults.admit(house.rt, work, "bob")
    entry = people.choose_password(house.rt, people.entry_link(house.rt, work, bob.id), "bobby", PASSWORD + "!")
    assert not entry.complete, "the codes are asked for"
    assert people.at_browser(house.rt, entry.secret) is None
    with house.rt.store.read() as tx:
        found = tx.people.by_login("bobby")
        assert found is not None
        assert (found.vault, tx.people.by_login("bob")) == ("main", None)
    assert second_factor.reset(house.rt, work, bob.id), "wherever they sign in"


def test_a_person_sees_and_ends_what_they_let_into_any_vault_of_theirs(house: House) -> None:
    link = people.entry_link(house.rt, house.owner, "owner")
    here = people.at_browser(house.rt, people.choose_password(house.rt, link, "ada", PASSWORD).secret)
    assert here is not None
    work = vaults.add_vault(house.rt, house.owner, "Work")
    asking = register(house.rt, {"client_name": "Claude", "redirect_uris": [BACK]})
    request = Request(asking, BACK, CHALLENGE, RESOURCE)
    code = consent(house.rt, here.actor, request, Consent("claude", "write", vault=work.id))
    tokens = redeem(house.rt, asking, code, VERIFIER, BACK, RESOURCE)
    [line] = own_account.account(house.rt, here).connections
    assert line.vault == work.id
    assert own_account.account(house.rt, here).vaults == {"main": "Main", work.id: "Work"}
    held = [(each.name, each.role, each.connections) for each in own_account.vaults(house.rt, here)]
    assert held == [("Main", "owner", 0), ("Work", "owner", 1)]
    own_account.end_connection(house.rt, here, line.id)
    with pytest.raises(DolmenError):
        authenticate(house.rt, tokens.access, RESOURCE)
    assert own_account.account(house.rt, here).connections == []
    assert [each.connections for each in own_account.vaults(house.rt, here)] == [0, 0]


def test_a_member_sees_the_vaults_that_they_are_in_and_no_other(house: House) -> None:
    bob = people.invite(house.rt, house.owner, "Bob")[0]
    link = people.entry_link(house.rt, house.owner, bob.id)
    here = people.at_browser(house.rt, people.choose_password(house.rt, link, "bob", PASSWORD).secret)
    assert here is not None
    work = replace(house.owner, vault=vaults.add_vault(house.rt, house.owner, "Work").id)
    assert [each.name for each in own_account.vaults(house.rt, here)] == ["Main"]
    vaults.admit(house.rt, work, "bob")
    assert [(each.name, each.role) for each in own_account.vaults(house.rt, here)] == [
        ("Main", "member"),
        ("Work", "member"),
    ]
    people.remove(house.rt, work, bob.id)
    assert [each.name for each in own_account.vaults(house.rt, here)] == ["Main"]


def test_a_key_that_is_ended_on_the_account_page_ends_the_clients_that_were_registered_with_it(house: House) -> None:
    # C-306
    link = people.entry_link(house.rt, house.owner, "owner")
    here = people.at_browser(house.rt, people.choose_password(house.rt, link, "ada", PASSWORD).secret)
    assert here is not None
    own, secret = key(house, "one")
    asking = register_with_key(house.rt, own, {"client_name": "Claude", "redirect_uris": [BACK]})
    code = consent(house.rt, here.actor, Request(asking, BACK, CHALLENGE, RESOURCE), Consent("claude", "write"))
    tokens = redeem(house.rt, asking, code, VERIFIER, BACK, RESOURCE)
    authenticate(house.rt, tokens.access, RESOURCE)
    own_account.end_connection(house.rt, here, own.connection)
    with pytest.raises(DolmenError):
        authenticate(house.rt, tokens.access, RESOURCE)
    with pytest.raises(DolmenError):
        accounts.authenticate(house.rt, secret)
