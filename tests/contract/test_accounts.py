"""`contract.Accounts`, `Journal`, `Keys` and `Leases`."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from dolmen.domain.access import Connection
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Bounds
from dolmen.store.contract import AuditEntry, Feedback, RecallEvent
from tests.contract.given import START, Desk

KEY = Connection(
    id="k1",
    vault="v",
    person="o",
    agent="codex",
    mode="suggest",
    toolset="kmem",
    project="project:a",
    label="laptop",
    created_at=START,
    expires_at=START + 9,
    revoked_at=None,
    last_used_at=START + 1,
    hint="abcd",
)


def test_a_vault_is_made_once_with_its_owner(desk: Desk) -> None:
    with desk.store.write() as tx:
        assert tx.accounts.vaults() == [("v", "Ada's"), ("w", "Bert's")]
        tx.accounts.add_vault("v", "renamed", "p", "Eve")
        assert tx.accounts.vaults() == [("v", "Ada's"), ("w", "Bert's")]
        assert tx.accounts.owner("v") == "o"
        assert tx.accounts.owner("x") == ""
        assert tx.accounts.made_at("v") == tx.people.get("v", "o").created_at  # type: ignore[union-attr]  # it is there
        assert tx.accounts.made_at("x") == 0


def test_a_credential_opens_its_vault(desk: Desk) -> None:
    with desk.store.write() as tx:
        tx.accounts.add_connection(KEY, "hash-1")
    with desk.store.read() as tx:
        assert tx.accounts.by_secret("hash-1") == KEY
        assert tx.accounts.by_secret("hash-2") is None
        assert tx.accounts.by_secret("") is None
        assert tx.accounts.connections("v") == [KEY]
        assert tx.accounts.connections("w") == []


def test_the_limits_and_the_policy_of_a_connection_are_its_own_and_can_be_changed(desk: Desk) -> None:
    """C-338, C-342: 0 is a limit of none, nothing said is the default of the door."""
    made = replace(KEY, bounds=Bounds(per_minute=5, memories=0), write_policy="review")
    with desk.store.write() as tx:
        tx.accounts.add_connection(made, "hash-1")
        tx.accounts.add_connection(replace(KEY, id="k2"), "hash-2")
    with desk.store.write() as tx:
        assert tx.accounts.by_secret("hash-1") == made
        changed = Bounds(per_hour=1_000, per_day=9, at_once=4)
        assert not tx.accounts.bound("w", "k1", changed, None)
        assert tx.accounts.bound("v", "k1", changed, "direct")
        assert tx.accounts.by_secret("hash-1") == replace(KEY, bounds=changed, write_policy="direct")
        assert tx.accounts.by_secret("hash-2") == replace(KEY, id="k2")


@pytest.mark.parametrize("again", [{"id": "k2"}, {"vault": "w", "id": "k2"}])
def test_two_connections_never_share_a_secret(desk: Desk, again: dict[str, str]) -> None:
    with desk.store.write() as tx:
        tx.accounts.add_connection(KEY, "hash-1")
    with pytest.raises(DolmenError) as refused, desk.store.write() as tx:
        tx.accounts.add_connection(replace(KEY, **again), "hash-1")
    assert refused.value.code == "conflict"


def test_a_connection_needs_its_person(desk: Desk) -> None:
    with pytest.raises(DolmenError) as refused, desk.store.write() as tx:
        tx.accounts.add_connection(replace(KEY, person="nobody"), "hash")
    assert refused.value.code == "conflict"


def test_a_connection_is_revoked_once_and_stays_known(desk: Desk) -> None:
    with desk.store.write() as tx:
        tx.accounts.add_connection(KEY, "hash-1")
        assert not tx.accounts.revoke("w", "k1", START + 2)
        assert tx.accounts.revoke("v", "k1", START + 2)
        assert not tx.accounts.revoke("v", "k1", START + 3)
        tx.accounts.touch("v", "k1", START + 4)
        tx.accounts.touch("w", "k1", START + 5)
        known = tx.accounts.by_secret("hash-1")
    assert known is not None
    assert (known.revoked_at, known.last_used_at) == (START + 2, START + 4)


def test_settings_are_of_a_vault(desk: Desk) -> None:
    with desk.store.write() as tx:
        tx.accounts.set("v", "policy", "a")
        tx.accounts.set("v", "policy", "b\n한글")
        tx.accounts.set("w", "policy", "c")
        assert tx.accounts.setting("v", "policy") == "b\n한글"
        assert tx.accounts.setting("v", "other") is None
        assert tx.accounts.settings("v") == {"policy": "b\n한글"}


def test_recalls_are_kept_once_and_forgotten_when_old_and_never_judged(desk: Desk) -> None:
    events = [RecallEvent(f"e{n}", "v", START + n, "c", "codex", f"query {n}", ("m1", "m2")) for n in range(4)]
    with desk.store.write() as tx:
        tx.journal.events(events)
        tx.journal.events([events[0], RecallEvent("e9", "w", START, "c", "codex", "", ())])
        tx.journal.events([])
        assert tx.journal.event("v", "e1") == events[1]
        assert tx.journal.event("w", "e1") is None
        tx.journal.feedback(Feedback("f1", "v", START, "c", "a", "e1", (), True, None))
        assert tx.journal.trim("v", START + 2) == 1
        assert [tx.journal.event("v", f"e{n}") is not None for n in range(4)] == [False, True, True, True]
        assert tx.journal.event("w", "e9") is not None


def test_recalls_and_feedback_are_listed_and_destroyed_by_their_ids(desk: Desk) -> None:
    events = [RecallEvent(f"e{n}", "v", START + n, "c", "codex", f"query {n}", ("m1",)) for n in range(3)]
    with desk.store.write() as tx:
        tx.journal.events([*reversed(events), RecallEvent("e0", "w", START, "c", "codex", "", ())])
        for id in ("f1", "f2"):
            tx.journal.feedback(Feedback(id, "v", START, "c", "a", None, ("m1",), True, None))
        assert list(tx.journal.recalled("v")) == events
        tx.journal.remove("v", ["e0", "e2", "not-here"], ["f1"])
        tx.journal.remove("v", [], [])
        assert list(tx.journal.recalled("v")) == [events[1]]
        assert [f.id for f in tx.journal.feedbacks("v")] == ["f2"]
        assert tx.journal.event("w", "e0") is not None


def test_feedback_keeps_yes_no_and_silence_apart(desk: Desk) -> None:
    entries = [
        Feedback("f1", "v", START, "c", "a", "e1", ("m1",), True, False, "because"),
        Feedback("f2", "v", START + 1, "c", "a", None, (), None, None),
    ]
    with desk.store.write() as tx:
        for entry in (*entries, Feedback("f1", "v", START, "c", "a", None, (), False, True)):
            tx.journal.feedback(entry)
        assert list(tx.journal.feedbacks("v")) == entries
        assert list(tx.journal.feedbacks("w")) == []


def test_the_audit_is_read_newest_first(desk: Desk) -> None:
    entries = [AuditEntry(f"a{n}", "v", START + n, "c", "codex", "recall", "detail", "http") for n in range(5)]
    with desk.store.write() as tx:
        tx.journal.audit(entries)
        tx.journal.audit(entries[:1])
        assert tx.journal.audited("v") == entries[::-1]
        assert tx.journal.audited("v", 2) == entries[:2:-1]
        assert tx.journal.audited("w") == []


def test_an_idempotency_key_keeps_its_first_memory(desk: Desk) -> None:
    """B152."""
    desk.known("m1", "m2", "m3")
    desk.known("m4", vault="w")
    with desk.store.write() as tx:
        assert tx.keys.find("v", "c", "k") is None
        assert tx.keys.put("v", "c", "k", "m1", START)
        assert not tx.keys.put("v", "c", "k", "m2", START)
        assert tx.keys.put("v", "d", "k", "m3", START)
        assert tx.keys.put("w", "c", "k", "m4", START)
        assert [tx.keys.find(*key) for key in (("v", "c", "k"), ("v", "d", "k"), ("w", "c", "k"))] == ["m1", "m3", "m4"]


def test_a_key_may_come_before_its_memory_and_is_free_when_that_was_not_stored(desk: Desk) -> None:
    memory, other = desk.memory("one"), desk.memory("two")
    with desk.store.write() as tx:
        assert tx.keys.put("v", "c", "k", memory.id, START)
        assert tx.keys.put("v", "c", "k", other.id, START)
        assert tx.memories.add(other, "two")
        assert not tx.keys.put("v", "c", "k", memory.id, START)
    with desk.store.read() as tx:
        assert tx.keys.find("v", "c", "k") == other.id


def test_a_lease_has_one_owner_until_it_runs_out(desk: Desk) -> None:
    with desk.store.write() as tx:
        assert tx.leases.take("backfill", "a", 10, 20)
        assert not tx.leases.take("backfill", "b", 19, 29)
        assert tx.leases.take("backfill", "a", 15, 25)
        assert not tx.leases.take("backfill", "b", 24, 34)
        assert tx.leases.take("backfill", "b", 25, 35)
        tx.leases.release("backfill", "a")
        assert not tx.leases.take("backfill", "a", 26, 36)
        tx.leases.release("backfill", "b")
        assert tx.leases.take("backfill", "a", 26, 36)
        assert tx.leases.take("other", "b", 26, 36)


def test_of_two_that_hold_a_connection_the_second_sees_what_the_first_did(desk: Desk) -> None:
    with desk.store.write() as tx:
        tx.accounts.add_connection(KEY, "hash-1")

    def once(number: int) -> None:
        with desk.store.write() as tx:
            assert tx.accounts.hold("v", "k1")
            found = tx.accounts.setting("v", "number") or "0"
            tx.accounts.set("v", "number", str(int(found) + 1))

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(once, range(12)))
    with desk.store.write() as tx:
        assert tx.accounts.setting("v", "number") == "12"
        assert not tx.accounts.hold("w", "k1")
        tx.accounts.revoke("v", "k1", tx.now)
        assert not tx.accounts.hold("v", "k1")
