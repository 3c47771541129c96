"""The commands that work with a chat model, against a real server that answers like one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from dolmen.app import open_app
from dolmen.domain.memory import SUMMARY
from dolmen.domain.values import DAY
from dolmen.services import extraction
from dolmen.services.accounts import local_actor
from dolmen.services.jobs import MOST
from dolmen.services.remember import remember
from dolmen.services.requests import NewMemory
from dolmen.settings import Settings
from dolmen.store.contract import Job
from dolmen.store.opening import now
from tests.cli.test_doctor import doctor
from tests.cli.test_start import start
from tests.models.chatting import ChatServer
from tests.services.modelling import statement

pytestmark = pytest.mark.slow

SESSION = "Result: we decided that deploys happen on Tuesday only."


@pytest.fixture
def server() -> Iterator[ChatServer]:
    found = {"memories": [statement("Deploys happen on Tuesday only.", "deploys happen on Tuesday only")]}
    with ChatServer(lambda body: {"kind": "fact"} if "<statement>" in str(body) else found) as server:
        yield server


@pytest.fixture
def store(sqlite_url: str) -> str:
    with open_app(Settings(database=sqlite_url), models=False) as app:
        agent = local_actor(app.runtime, agent="claude-code", mode="write")
        item = NewMemory(SESSION, kind="episode", label=SUMMARY, project="app", session="s1")
        remember(app.runtime, agent, [item])
    return sqlite_url


@pytest.fixture
def with_model(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> ChatServer:
    for name, value in (("URL", server.url), ("MODEL", "tester"), ("TIMEOUT", "5")):
        monkeypatch.setenv(f"DOLMEN_CHAT_{name}", value)
    monkeypatch.setenv("DOLMEN_EXTRACT_AFTER", "0")
    return server


def run(url: str, *words: str) -> Any:
    return json.loads(start([*words, "--json"], url).stdout)


@pytest.mark.usefixtures("with_model")
def test_extract_reads_what_waits_and_review_shows_the_evidence(store: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """C-272: a session that has only just ended too, because a person asks for it."""
    monkeypatch.setenv("DOLMEN_EXTRACT_AFTER", "3600")
    done = run(store, "extract")
    assert (done["scheduled"], done["done"], done["failed"], done["waiting"]) == (1, 1, 0, 0)
    [item] = run(store, "review", "list", "--only", "extracted")["proposals"]
    assert (item["evidence"], item["judge"]) == ("deploys happen on Tuesday only", "tester")
    assert run(store, "stats")["jobs"] == {"extract": {"done": 1}}
    assert run(store, "extract")["done"] == 0
    start(["review", "apply", item["id"]], store)
    [found] = [each for each in run(store, "memory", "list", "--all")["memories"] if each["kind"] == "decision"]
    assert (found["text"], found["trust"]) == ("Deploys happen on Tuesday only.", "user")


def test_a_model_that_is_down_is_told_and_nothing_is_lost(store: str, with_model: ChatServer) -> None:
    with_model.says = lambda body: 500
    done = start(["extract"], store)
    assert b"The chat model is not available: status 500" in done.stderr
    assert b"0 sessions read" in done.stdout
    assert run(store, "stats")["jobs"] == {"extract": {"waiting": 1}}


def test_doctor_asks_the_model_one_question(store: str, with_model: ChatServer) -> None:
    chat = {"chat_url": with_model.url, "chat_model": "tester"}
    _, found = doctor(store, **chat)
    assert f"tester at {with_model.url}: works" in str(found["chat model"])
    assert found["chat model"][1]["what"].startswith("reads sessions for memories, names the type")
    off = {"extract": "off", "classify": "off"}
    said = doctor(store, "--quick", **chat, **off)[1]["chat model"][1]["what"]
    assert said == "compares memories in the background; switched off by DOLMEN_EXTRACT, DOLMEN_CLASSIFY"
    said = doctor(store, "--quick", **chat, **off, consolidate="off")[1]["chat model"][1]["what"]
    assert said.startswith("is asked for nothing; switched off by DOLMEN_EXTRACT")
    assert len(with_model.requests) == 1
    doctor(store, "--quick", **chat)
    assert len(with_model.requests) == 1
    with_model.says = lambda body: "I am a model."
    assert "not JSON" in str(doctor(store, **chat)[1]["chat model"])
    code, found = doctor(store, chat_url=with_model.url, chat_model="")
    assert (code, "no model name" in str(found["chat model"])) == (1, True)


def test_who_mended_the_model_need_not_wait_for_the_next_try(store: str, with_model: ChatServer) -> None:
    says, with_model.says = with_model.says, lambda body: 500
    first = run(store, "extract")
    assert (first["waiting"], "500" in first["outage"]) == (1, True)
    with_model.says = says
    waits = run(store, "extract")
    assert (waits["done"], waits["next_try"]) == (0, first["next_try"])
    said = start(["extract"], store).stdout.decode()
    assert f"The next try is at {first['next_try'][:19]}Z, after: status 500 from" in said
    assert "`dolmen extract --retry` tries at once." in said
    assert run(store, "extract", "--retry")["done"] == 1


def test_doctor_says_when_work_failed_for_good_and_retry_begins_it_again(store: str, with_model: ChatServer) -> None:
    with open_app(Settings(database=store), models=False) as app, app.runtime.store.write() as tx:
        vault = tx.accounts.vaults()[0][0]
        [summary] = list(tx.memories.stream(vault))
        tx.jobs.enqueue(Job(tx.new_id(), vault, extraction.KIND, summary.id, {}, due_at=0, created_at=now() - DAY))
        taken = tx.jobs.lease((extraction.KIND,), "x", 1, 2)
        assert taken is not None
        tx.jobs.bury(taken, 3, f"no JSON, {MOST} times")
    _, found = doctor(store)
    assert "failed too often: 1 of extract" in str(found["jobs"])
    assert "dolmen extract --retry" in str(found["jobs"])
    assert run(store, "extract")["done"] == 0
    assert run(store, "extract", "--retry")["done"] == 1
    assert ["<session>" in each for each in with_model.asked] == [False, True]
