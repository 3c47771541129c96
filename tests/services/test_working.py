"""The thread that works with the chat model, and a process that is killed while it waits for it."""

from __future__ import annotations

import logging
import multiprocessing
import threading
import time
from collections.abc import Iterator

import pytest

from dolmen.domain.memory import SUMMARY
from dolmen.models.chat import ChatEndpoint, HttpChat
from dolmen.services import extraction
from dolmen.services.jobs import lease_for, work
from dolmen.services.journal import JournalBuffer
from dolmen.services.runtime import Runtime
from dolmen.services.upkeep import Upkeep
from dolmen.services.working import Worker
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
