"""Fresh ids."""

from __future__ import annotations

import threading
import uuid

from dolmen.store.ids import rising


def test_an_id_is_a_uuid_of_version_7_that_tells_its_time() -> None:
    id = rising(lambda: 1_700_000_000_123_456)()
    parsed = uuid.UUID(id)
    assert str(parsed) == id
    assert parsed.version == 7
    assert parsed.variant == uuid.RFC_4122
    assert parsed.int >> 80 == 1_700_000_000_123


def test_ids_rise_though_the_clock_stands_still_or_goes_back() -> None:
    times = iter([5_000, 5_000, 4_000, 1, *[5_000] * 9_000, 10_000_000])
    new_id = rising(lambda: next(times))
    ids = [new_id() for _ in range(9_005)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)


def test_threads_never_get_the_same_id() -> None:
    new_id = rising(lambda: 1)
    found: list[str] = []
    threads = [threading.Thread(target=lambda: found.extend([new_id() for _ in range(500)])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 2_000
