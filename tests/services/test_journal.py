"""Records that reads leave: buffered, found before they are written, never a secret, never why a call fails."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from dolmen.domain.errors import DolmenError
from dolmen.services.journal import JournalBuffer
from dolmen.store.contract import AuditEntry, RecallEvent
from dolmen.store.opening import open_store
from tests.services.conftest import House


def event(number: int, query: str = "how to deploy") -> RecallEvent:
    return RecallEvent(
        f"01900000-0000-7000-8000-{number:012x}", "main", 1_000 + number, "key-1", "codex", query, ("a", "b")
    )


def audit(number: int) -> AuditEntry:
    return AuditEntry(f"01900000-0000-7000-9000-{number:012x}", "main", 1_000 + number, "key-1", "codex", "recall")


@pytest.fixture
def buffer(house: House) -> Iterator[JournalBuffer]:
    """One that writes only when it is told to."""
    made = JournalBuffer(house.rt.store, every=3600.0)
    yield made
    made.close()


def test_an_event_is_found_before_and_after_it_is_written(house: House, buffer: JournalBuffer) -> None:
    buffer.event(event(1))
    assert buffer.find("main", event(1).id) == event(1)
    with house.rt.store.read() as tx:
        assert tx.journal.event("main", event(1).id) is None
    assert buffer.flush() == 1
    assert buffer.find("main", event(1).id) == event(1)
    assert buffer.flush() == 0


def test_another_vaults_event_is_not_found(buffer: JournalBuffer) -> None:
    buffer.event(event(1))
    assert buffer.find("other", event(1).id) is None


def test_secrets_in_a_query_are_redacted_before_they_are_kept(house: House, buffer: JournalBuffer) -> None:
    """C-300."""
    secret = "ghp_" + "a1B2" * 9
    buffer.event(event(1, f"why does {secret} not work"))
    buffer.flush()
    found = buffer.find("main", event(1).id)
    assert found is not None
    assert secret not in found.query
    assert found.query == "why does [redacted GitHub token] not work"


def test_many_records_are_written_without_anybody_asking(house: House) -> None:
    before = set(threading.enumerate())
    buffer = JournalBuffer(house.rt.store, every=3600.0, enough=5)
    for number in range(5):
        buffer.audit(audit(number))
    for writer in set(threading.enumerate()) - before:
        if writer.name == "dolmen-journal":  # a pool of connections may have been replaced, too: its threads stay
            writer.join()  # it ends when nothing is left to write
    with house.rt.store.read() as tx:
        assert len([row for row in tx.journal.audited("main") if row.op == "recall"]) == 5


def test_closing_writes_what_waits_and_what_still_comes(house: House, buffer: JournalBuffer) -> None:
    buffer.event(event(1))
    buffer.close()
    buffer.event(event(2))
    buffer.close()
    with house.rt.store.read() as tx:
        assert tx.journal.event("main", event(1).id) is not None
        assert tx.journal.event("main", event(2).id) is not None


def test_what_could_not_be_written_waits_on(sqlite_url: str) -> None:
    store = open_store(sqlite_url)
    buffer = JournalBuffer(store, every=3600.0)
    buffer.event(event(1))
    store.close()
    with pytest.raises(DolmenError):
        buffer.flush()
    assert buffer.find("main", event(1).id) == event(1)
    buffer.close()


def test_a_buffer_that_cannot_be_written_stays_bounded_and_counts_what_it_lost(house: House) -> None:
    buffer = JournalBuffer(house.rt.store, every=3600.0, enough=1000, bound=10)
    for number in range(25):
        buffer.event(event(number))
    assert buffer.lost == 15
    assert buffer.find("main", event(0).id) is None
    assert buffer.find("main", event(24).id) is not None
    assert buffer.flush() == 10
    buffer.close()
