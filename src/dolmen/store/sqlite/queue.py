"""Whose turn it is to write, among processes.

SQLite's own write lock has no queue: a process that writes without a pause can keep another waiting for many seconds
(measured: 12 with three such writers, a tenth of a second with this). So writers first pass a turnstile, a lock on a
small file beside the store, which each holds only while it waits for SQLite's lock. Whoever has just written must queue
again behind the one that waits.
It makes waiting fair, nothing else: no harm is done when the file cannot be used or its holder is stuck.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

STEP = 0.001
"""Seconds between two tries."""


class Turnstile:
    """One process's way through the turnstile of one store. For one thread at a time."""

    def __init__(self, store: Path) -> None:
        self._path = store.with_name(store.name + "-queue")
        self._file: int | None = None

    @contextmanager
    def turn(self, deadline: float) -> Iterator[None]:
        """Holds the turnstile, or goes on without it at the deadline (of time.monotonic)."""
        held = self._enter(deadline)
        try:
            yield
        finally:
            if held is not None:
                _unlock(held)

    def _enter(self, deadline: float) -> int | None:
        try:
            if self._file is None:
                self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            while not _lock(self._file):
                if time.monotonic() > deadline:
                    return None
                time.sleep(STEP)
        except OSError:
            return None
        return self._file

    def close(self) -> None:
        if self._file is not None:
            os.close(self._file)
            self._file = None


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _unlock(file: int) -> None:
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _lock(file: int) -> bool:
        # A record lock, which a forked child does not inherit: flock would stay with it when its parent dies.
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):  # EAGAIN or EACCES, fcntl(2)
            return False
        return True

    def _unlock(file: int) -> None:
        fcntl.lockf(file, fcntl.LOCK_UN)
