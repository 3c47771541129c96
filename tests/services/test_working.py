"""The thread that works with the chat model, and a process that is killed while it waits for it."""

from __future__ import annotations

import logging
import multiprocessing
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from dolmen.app import open_app
from dolmen.domain.memory import SUMMARY
from dolmen.models.chat import ChatEndpoint, HttpChat
from dolmen.services import extraction
from dolmen.services.jobs import lease_for, work
from dolmen.services.journal import JournalBuffer
from dolmen.services.runtime import Runtime
from dolmen.services.upkeep import Upkeep
from dolmen.services.working import Worker
from dolmen.settings import Settings
from dolmen.store.opening import open_store
from tests.models.chatting import ChatServer
from tests.services.conftest import House
from tests.services.modelling import modelled, read_sessions, statement

SESSION = "Result: we decided that deploys happen on Tuesday only."
ANSWER = {"memories": [statement("Deploys happen on Tuesday only.", "deploys happen on Tuesday only")]}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(ANSWER) as server:
        yield server


def summary(house: House) -> str:
    return house.stored(SESSION, kind="episode", label=SUMMARY, project="app", session="s1")


def proposals(house: House) -> int:
    with house.rt.store.read() as tx:
        return len(tx.proposals.select("main"))


def wait_for(what: str, happened: object) -> None:
    end = time.monotonic() + 20
    while not happened():  # type: ignore[operator]
        assert time.monotonic() < end, what
        threading.Event().wait(0.01)


def test_upkeep_reads_sessions_in_the_background_when_there_is_a_chat_model(house: House, server: ChatServer) -> None:
    """C-272, C-347."""
    with modelled(house, server) as home:
        summary(home)
        upkeep = Upkeep(home.rt)
        upkeep.start()
        wait_for("a proposal", lambda: proposals(home) == 1)
        upkeep.stop()
    names = [thread.name for thread in threading.enumerate()]
    assert "dolmen-worker" not in names


def test_without_a_chat_model_nothing_is_scheduled_and_no_thread_runs(house: House) -> None:
    summary(house)
    worker = Worker(house.rt)
    worker.start()
    assert "dolmen-worker" not in [thread.name for thread in threading.enumerate()]
    worker.stop()
    with house.rt.store.read() as tx:
        assert tx.jobs.select("main") == []


def test_with_extract_off_no_session_is_sent_until_a_person_asks_or_it_is_on_again(
    house: House, server: ChatServer
) -> None:
    """C-378: also none that was scheduled before; by hand it is read as ever."""
    with modelled(house, server, extract=False, consolidate=False) as off:
        summary(off)
        extraction.schedule(off.rt)
        off.stored("Result: lunch is at noon.", kind="episode", label=SUMMARY, project="app", session="s2")
        assert Worker(off.rt).once()
        assert server.requests == []
        with off.rt.store.read() as tx:
            assert [job.status for job in tx.jobs.select("main")] == ["waiting"]
        assert read_sessions(off.rt, limit=1).done == 1
        assert len(server.requests) == 1
    with modelled(house, server, consolidate=False) as on:
        assert Worker(on.rt).once()
    assert len(server.requests) == 2


@pytest.mark.parametrize("said", [True, False], ids=["on", "off"])
def test_the_settings_reach_the_work(house: House, server: ChatServer, said: bool) -> None:
    """C-378."""
    chosen = Settings(database=house.url, embedder="none", chat_url=server.url, chat_model="m")
    with open_app(replace(chosen, extract=said, classify=said)) as app:
        assert (app.runtime.options.extract, app.runtime.options.classify) == (said, said)


def test_sessions_that_wait_hold_the_comparing_of_memories_up_only_while_extract_is_on(
    house: House, server: ChatServer
) -> None:
    """C-378: what nobody reads in the background would hold it up for ever."""
    with modelled(house, server, extract=False) as home:
        summary(home)
        extraction.schedule(home.rt)
        with home.rt.store.read() as tx:
            assert tx.accounts.setting("main", "upkeep.consolidation") is None
        assert Worker(home.rt).once()
        with home.rt.store.read() as tx:
            assert tx.accounts.setting("main", "upkeep.consolidation") is not None


def test_a_failure_is_told_and_the_next_round_goes_on(
    house: House, server: ChatServer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("dolmen.services.working"), "disabled", False)  # by an earlier test
    server.says = lambda body: 500
    with modelled(house, server) as home, caplog.at_level("INFO", "dolmen"):
        summary(home)
        assert not Worker(home.rt).once()
    assert "will be tried again: The chat model is not available: status 500" in caplog.text


def test_ending_does_not_wait_for_a_model_that_says_nothing_and_loses_nothing(house: House, server: ChatServer) -> None:
    server.silent = True
    with modelled(house, server, timeout=60) as home:
        summary(home)
        worker = Worker(home.rt)
        worker.start()
        wait_for("a question", lambda: server.requests)
        began = time.monotonic()
        worker.stop(0.1)
        assert time.monotonic() - began < 5
        server.silent = False
        home.clock.advance(lease_for(home.rt))
        with modelled(house, server) as other:
            assert read_sessions(other.rt).done == 1
        assert proposals(home) == 1


def test_a_killed_process_leaves_its_job_to_another_and_it_is_done_once(house: House, server: ChatServer) -> None:
    server.silent = True
    summary(house)
    with modelled(house, server) as home:
        extraction.schedule(home.rt)
        process = multiprocessing.get_context("spawn").Process(target=_read, args=(house.url, server.url))
        process.start()
        wait_for("a question", lambda: server.requests)
        process.kill()
        process.join()
        home.clock.now = time.time_ns() // 1000  # the time that the process lived in
        server.silent = False
        assert read_sessions(home.rt).done == 0
        home.clock.advance(lease_for(home.rt) + 300_000_000)
        assert read_sessions(home.rt).done == 1
        assert read_sessions(home.rt).done == 0
        assert proposals(home) == 1
        with home.rt.store.read() as tx:
            [job] = tx.jobs.select("main")
            assert (job.status, job.attempts) == ("done", 2)


def _read(store_url: str, chat_url: str) -> None:
    """What the process does that is killed."""
    store = open_store(store_url)
    rt = Runtime(store, None, JournalBuffer(store), chat=HttpChat(ChatEndpoint(chat_url, "tester")))
    work(rt, {extraction.KIND: extraction.extract})
