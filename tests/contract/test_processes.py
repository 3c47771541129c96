"""Several processes on one store at the same time: the normal case for agents (issue: engines)."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest

from tests.contract import workers
from tests.contract.given import Desk, unit

pytestmark = pytest.mark.slow


@pytest.fixture
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(5, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def test_several_processes_open_a_new_store_at_once(engine_url: str, processes: ProcessPoolExecutor) -> None:
    """B048: each spawns its own server on one new store; all are connected within seconds."""
    opened = list(processes.map(workers.open_once, [engine_url] * 5))
    assert {schema for _, schema in opened} == {opened[0][1]}
    assert max(seconds for seconds, _ in opened) < 10


def test_no_write_is_lost_doubled_or_refused_while_others_write_and_read(
    desk: Desk, engine_url: str, processes: ProcessPoolExecutor
) -> None:
    """B049, B052, B054, B056."""
    number, total = 40, 3 * 40 + 40
    readers = [processes.submit(workers.read_until, engine_url, total, 60) for _ in range(2)]
    writers = [processes.submit(workers.write_many, engine_url, name, number, name == "b") for name in "abc"]
    written = [id for each in writers for id in each.result()]
    assert all(each.result() > 0 for each in readers)
    assert len(written) == len(set(written)) == total
    everywhere = desk.sight(scopes=None)
    assert sorted(desk.ids(everywhere, limit=999)) == sorted(written)
    assert len(desk.found(everywhere, "heron", 999)) == 3 * number
    assert len(desk.found(everywhere, "shared", 999)) == number


def test_another_process_finds_what_this_one_just_stored(
    desk: Desk, engine_url: str, processes: ProcessPoolExecutor
) -> None:
    memories = [desk.add(f"n{n}") for n in range(3)]
    desk.embed({memory.id: unit(n) for n, memory in enumerate(memories)})
    for n, memory in enumerate(memories):
        assert processes.submit(workers.nearest_ids, engine_url, n, 1).result() == [memory.id]


def test_one_process_gets_a_lease(desk: Desk, engine_url: str, processes: ProcessPoolExecutor) -> None:
    assert sum(processes.map(workers.take_lease, [engine_url] * 5, "abcde")) == 1
