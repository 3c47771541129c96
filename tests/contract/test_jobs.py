"""Jobs: enqueued once, leased by one, tried again, dead after a while, shared by processes."""

from __future__ import annotations

import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

from dolmen.domain.text import content_key
from dolmen.store.contract import Job, Tx
from tests.contract import workers
from tests.contract.given import START, Desk


def job(id: str, **fields: Any) -> Job:
    return Job(**{"id": id, "vault": "v", "kind": "extract", "key": id, "due_at": START, "created_at": START} | fields)


def add(desk: Desk, *jobs: Job) -> list[bool]:
    with desk.store.write() as tx:
        return [tx.jobs.enqueue(each) for each in jobs]


def lease(desk: Desk, owner: str = "a", now: int = START, until: int = START + 100, *kinds: str) -> Job | None:
    with desk.store.write() as tx:
        return tx.jobs.lease(kinds or ("extract",), owner, now, until)


def test_a_key_is_enqueued_once_whatever_became_of_its_job(desk: Desk) -> None:
    first = job("1", key="m", payload={"refs": ["한글"], "n": 1})
    assert add(desk, first, job("2", key="m"), job("3", key="m", kind="judge"), job("4", key="m", vault="w")) == [
        True, False, True, True,
    ]  # fmt: skip
    with desk.store.read() as tx:
        assert tx.jobs.select("v", "extract") == [first]
    taken = lease(desk)
    assert taken is not None
    with desk.store.write() as tx:
        assert tx.jobs.finish(taken, START + 1)
        assert not tx.jobs.enqueue(job("5", key="m"))


def test_the_job_that_is_due_for_longest_comes_first_and_only_to_one(desk: Desk) -> None:
    add(desk, job("1", due_at=START + 5), job("2", due_at=START + 3), job("3", due_at=START + 9))
    add(desk, job("4", kind="judge"), job("5", vault="w", due_at=START + 4))
    taken = [lease(desk, "a", START + 5, START + 50) for _ in range(4)]
    assert [each and (each.id, each.vault) for each in taken] == [("2", "v"), ("5", "w"), ("1", "v"), None]
    assert taken[0] == job("2", due_at=START + 50, owner="a", attempts=1)
    with desk.store.write() as tx:
        assert tx.jobs.lease((), "a", START + 99, START + 100) is None
        assert tx.jobs.lease(("extract",), "a", START + 99, START + 200, "w") == job(
            "5", vault="w", due_at=START + 200, owner="a", attempts=2
        )


def test_a_lease_that_has_run_out_gives_the_job_to_another_and_its_first_owner_ends_nothing(desk: Desk) -> None:
    add(desk, job("1"))
    first = lease(desk, "a", START, START + 10)
    assert first is not None
    assert lease(desk, "b", START + 9) is None
    second = lease(desk, "b", START + 10, START + 30)
    assert second is not None
    assert second.attempts == 2
    with desk.store.write() as tx:
        assert not tx.jobs.renew(first, START + 99)
        assert not tx.jobs.finish(first, START + 11)
        assert not tx.jobs.put_back(first, START + 99, "late")
        assert not tx.jobs.bury(first, START + 11, "late")
        assert tx.jobs.renew(second, START + 40)
    assert lease(desk, "c", START + 39) is None
    with desk.store.write() as tx:
        assert tx.jobs.finish(second, START + 41)
        assert not tx.jobs.finish(second, START + 42)
        assert tx.jobs.select("v") == [job("1", status="done", attempts=2, due_at=START + 41, finished_at=START + 41)]
    assert lease(desk, "c", START + 999) is None


def test_a_failed_job_waits_says_why_and_is_dead_when_it_is_buried(desk: Desk) -> None:
    add(desk, job("1"))
    for attempt, counted in ((1, True), (2, False), (2, True)):
        taken = lease(desk, "a", START + 50, START + 90)
        assert taken is not None
        assert taken.attempts == attempt
        with desk.store.write() as tx:
            assert tx.jobs.put_back(taken, START + 50, "status 500", counted=counted)
        assert lease(desk, "a", START + 49) is None
    taken = lease(desk, "a", START + 50, START + 90)
    assert taken is not None
    assert (taken.attempts, taken.error) == (3, "status 500")
    with desk.store.write() as tx:
        assert tx.jobs.bury(taken, START + 60, "no JSON")
        [dead] = tx.jobs.select("v", status="dead")
        assert (dead.error, dead.finished_at, dead.owner) == ("no JSON", START + 60, "")
    assert lease(desk, "a", START + 999) is None
    with desk.store.write() as tx:
        assert tx.jobs.revive("w", "extract", START + 99) == 0
        assert tx.jobs.revive("v", "extract", START + 99) == 1
        assert tx.jobs.revive("v", "extract", START + 99) == 0
    again = lease(desk, "a", START + 99, START + 100)
    assert again is not None
    assert (again.attempts, again.error) == (1, "no JSON")


def test_a_job_that_waits_for_its_next_try_begins_now_when_it_is_revived_and_one_that_runs_goes_on(desk: Desk) -> None:
    add(desk, job("1"), job("2"))
    failed = lease(desk, "a", START, START + 20)
    running = lease(desk, "b", START, START + 90)
    assert failed is not None
    assert running is not None
    with desk.store.write() as tx:
        assert tx.jobs.put_back(failed, START + 60, "status 500")
        assert tx.jobs.revive("v", "extract", START + 30) == 1
        assert tx.jobs.revive("v", "extract", START + 30) == 0
    again = lease(desk, "c", START + 30, START + 40)
    assert again is not None
    assert (again.id, again.attempts, again.error) == (failed.id, 2, "status 500")
    with desk.store.write() as tx:
        assert tx.jobs.finish(running, START + 50), "its lease was not taken away"


def test_jobs_are_counted_by_kind_and_state_and_the_done_ones_trimmed(desk: Desk) -> None:
    add(desk, *(job(str(n), due_at=START + n) for n in range(4)), job("9", kind="judge"), job("8", vault="w"))

    def end(tx: Tx, taken: Job | None, at: int) -> None:
        assert taken is not None
        assert tx.jobs.finish(taken, at)

    with desk.store.write() as tx:
        end(tx, tx.jobs.lease(("extract",), "a", START + 9, START + 20, "v"), START + 1)
        end(tx, tx.jobs.lease(("extract",), "a", START + 9, START + 20, "v"), START + 2)
        running = tx.jobs.lease(("extract",), "a", START + 9, START + 20, "v")
        assert running is not None
        assert tx.jobs.counts("v", START + 9) == {
            "extract": {"waiting": 1, "running": 1, "done": 2}, "judge": {"waiting": 1}
        }  # fmt: skip
        assert tx.jobs.counts("v", START + 20)["extract"] == {"waiting": 2, "done": 2}
        assert tx.jobs.counts(None, START + 9)["extract"] == {"waiting": 2, "running": 1, "done": 2}
        assert tx.jobs.trim("w", "extract", START + 99) == 0
        assert tx.jobs.trim("v", "judge", START + 99) == 0
        assert tx.jobs.trim("v", "extract", START + 2) == 1
        assert tx.jobs.enqueue(job("0"))
        assert len(tx.jobs.select("v")) == 5
        assert len(tx.jobs.select("v", limit=2)) == 2


def test_a_job_that_was_not_committed_is_nobodys(desk: Desk) -> None:
    add(desk, job("1"))

    def die(tx: Tx) -> None:
        assert tx.jobs.lease(("extract",), "a", START, START + 10)
        raise RuntimeError

    with pytest.raises(RuntimeError), desk.store.write() as tx:
        die(tx)
    taken = lease(desk, "b")
    assert taken is not None
    assert taken.attempts == 1


def test_threads_share_jobs_without_doing_one_twice(desk: Desk) -> None:
    add(desk, *(job(f"{n:02}") for n in range(24)))

    def work(owner: str) -> list[str]:
        done: list[str] = []
        while (taken := lease(desk, owner)) is not None:
            with desk.store.write() as tx:
                assert tx.jobs.finish(taken, START + 1)
            done.append(taken.id)
        return done

    with ThreadPoolExecutor(4) as pool:
        done = [id for each in pool.map(work, "abcd") for id in each]
    assert Counter(done) == Counter(f"{n:02}" for n in range(24))


def test_processes_share_jobs_and_what_a_dead_one_held_is_done_by_another(desk: Desk, engine_url: str) -> None:
    add(desk, *(job(f"{n:02}") for n in range(12)))
    held = lease(desk, "dead", START, START + 10)
    assert held is not None
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        done = [id for each in pool.map(workers.do_jobs, [engine_url] * 2, ["a", "b"]) for id in each]
    assert Counter(done) == Counter(f"{n:02}" for n in range(12))
    with desk.store.read() as tx:
        assert {each.id: each.attempts for each in tx.jobs.select("v")}[held.id] == 2


def test_a_statement_is_found_whatever_became_of_it(desk: Desk) -> None:
    """C-138: what a person rejected can be recognised."""
    active = desk.add("The port is 8080.", kind="fact")
    rejected = desk.change(desk.add("The port is 8080.", kind="decision"), status="deleted")
    replaced = desk.change(desk.add("The port is 8080.", kind="code", label="x"), status="superseded")
    waiting = desk.add("The port is 8080.", kind="preference", status="proposed")
    desk.add("The port is 8080.", scope="project:a")
    desk.add("The port is 9090.")
    with desk.store.read() as tx:
        found = tx.memories.saying("v", "user", content_key("the port is  8080"))
        assert {each.id for each in found} == {active.id, rejected.id, replaced.id, waiting.id}
        assert {each.id: each.status for each in found}[rejected.id] == "deleted"
        assert tx.memories.saying("w", "user", content_key("the port is 8080")) == []
        assert tx.memories.saying("v", "project:none", content_key("the port is 8080")) == []
