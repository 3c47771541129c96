"""A lock between the processes of one user: on a file, so that it ends with the process that holds it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

STEP = 0.02
"""Seconds between two tries."""


class Lock:
    """For one thread of a process. Raises OSError when the file cannot be opened."""

    def __init__(self, place: Path) -> None:
        self._file = os.open(place, os.O_RDWR | os.O_CREAT, 0o600)

    def take(self, seconds: float) -> bool:
        """Whether it was to be had in time."""
        end = time.monotonic() + seconds
        while not _lock(self._file):
            if time.monotonic() > end:
                return False
            time.sleep(STEP)
        return True

    def close(self) -> None:
        """Gives it back, where it was taken."""
        os.close(self._file)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
