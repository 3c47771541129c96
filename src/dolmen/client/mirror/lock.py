"""One mirror of a folder at a time, on this machine; a killed one leaves nothing locked."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dolmen.domain.errors import DolmenError

_NAME = "lock"


@contextmanager
def locked(local: Path, root: Path) -> Iterator[None]:
    """Holds the lock of a folder.

    Raises:
        DolmenError: `conflict` while another process mirrors it; `invalid-argument` where nothing can be locked.
    """
    try:
        handle = os.open(local / _NAME, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise _unlockable(root, error) from error
    try:
        try:
            free = _lock(handle)
        except OSError as error:
            raise _unlockable(root, error) from error
        if not free:
            raise DolmenError(
                "conflict", f"Another `dolmen mirror` works on {root}.", "Let it do the work, or stop it first."
            )
        yield
    finally:
        os.close(handle)


def _unlockable(root: Path, error: OSError) -> DolmenError:
    return DolmenError(
        "invalid-argument",
        f"{root} cannot be locked: {error.strerror or error}.",
        "Keep the folder on a file system with locks, and let it be written.",
    )


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
