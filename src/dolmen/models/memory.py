"""Memory that goes back to the system: after large arrays glibc keeps what they took, 10 to 20 MB for good."""

from __future__ import annotations

import ctypes
import sys
import threading
import time

QUIET = 2.0
"""Seconds without work after which the memory of the last work is given back."""


_ARENA_MAX = -8
"""glibc's number for this setting, from `malloc.h`."""


def share_arena() -> None:
    """Lets the threads that start from now on share one arena: one for each keeps some 5 MB more in holes that nothing
    else can use."""
    if libc := _glibc():
        libc.mallopt(_ARENA_MAX, 1)


def give_back() -> None:
    """Returns free memory; takes a millisecond or two."""
    if libc := _glibc():
        libc.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    """None where the allocator is another one."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        return libc
    return None


class Rest:
    """Gives memory back once after each stretch of work. Its thread lives from the first work until it has rested."""

    def __init__(self, quiet: float = QUIET) -> None:
        self._quiet = quiet
        self._last = 0.0
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def worked(self) -> None:
        """To be called after every piece of work, by any thread."""
        self._last = time.monotonic()
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._wait, name="dolmen-rest", daemon=True)
                    self._thread.start()

    def _wait(self) -> None:
        while (left := self._last + self._quiet - time.monotonic()) > 0:
            time.sleep(left)
        self._thread = None
        give_back()
