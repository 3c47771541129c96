"""One mirror of a folder at a time, on this machine; a killed one leaves nothing locked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dolmen.client.locking import Lock
from dolmen.domain.errors import DolmenError

_NAME = "lock"


@contextmanager
def locked(local: Path, root: Path) -> Iterator[None]:
    """Holds the lock of a folder.

    Raises:
        DolmenError: `conflict` while another process mirrors it; `invalid-argument` where nothing can be locked.
    """
    try:
        lock = Lock(local / _NAME)
    except OSError as error:
        raise _unlockable(root, error) from error
    try:
        try:
            free = lock.take(0)
        except OSError as error:
            raise _unlockable(root, error) from error
        if not free:
            raise DolmenError(
                "conflict", f"Another `dolmen mirror` works on {root}.", "Let it do the work, or stop it first."
            )
        yield
    finally:
        lock.close()


def _unlockable(root: Path, error: OSError) -> DolmenError:
    return DolmenError(
        "invalid-argument",
        f"{root} cannot be locked: {error.strerror or error}.",
        "Keep the folder on a file system with locks, and let it be written.",
    )
