"""Memory that large arrays took goes back to the system when nobody works any more."""

import threading

from dolmen.models.memory import Rest


def test_one_thread_waits_for_the_end_of_a_stretch_of_work_and_is_gone_after_it() -> None:
    rest = Rest(quiet=0.01)
    others = set(threading.enumerate())
    for _ in range(3):
        rest.worked()
        waiting = [thread for thread in threading.enumerate() if thread not in others]
        assert len(waiting) <= 1
        for thread in waiting:
            thread.join(10)
            assert not thread.is_alive()
