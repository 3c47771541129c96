"""Memory that large arrays took goes back to the system when nobody works any more."""

import re
import subprocess
import sys
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


def test_threads_share_one_arena() -> None:
    program = """
import ctypes, sys, threading
if not hasattr(ctypes.CDLL(None), "malloc_info"):
    sys.exit("another allocator")
from dolmen.models.memory import share_arena
share_arena()
libc = ctypes.CDLL(None)
meet = threading.Barrier(4)
def work():
    kept = [bytes(n) for n in range(1000, 9000, 100)]
    meet.wait()
threads = [threading.Thread(target=work) for _ in range(4)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out), libc.fflush(out)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    heaps = re.findall(r'<heap nr="(\d+)"', ended.stdout)
    assert heaps == ["0"] or ended.stderr.strip() == "another allocator", ended
