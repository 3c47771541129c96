"""Where the hook keeps its files: as set, or in this user's data directory; readable by nobody else."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

PRIVATE, PRIVATE_FOLDER = 0o600, 0o700


def root() -> Path:
    """The folder of all of them. A setting that cannot be read is none: the hook says elsewhere what is wrong."""
    from dolmen.domain.errors import DolmenError
    from dolmen.settings import folders, load

    try:
        if named := load().settings.state_dir:
            return Path(named)
    except DolmenError:
        pass

    return folders.data() / "hook"


def folder(name: str) -> Path:
    """`sessions`, `spool` or `repositories`, made when it is not there.

    Raises:
        OSError: it cannot be made.
    """
    place = root() / name
    place.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    return place


def name_of(*parts: str) -> str:
    """A file name for ids that may hold anything: never a path, never two for one."""
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:24]


def write_private(file: Path, data: bytes) -> None:
    """Writes a file whole or not at all, for this user alone, and waits until it is on the disk.

    Raises:
        OSError
    """
    draft = file.with_name(f".{file.name}.{os.getpid()}.draft")
    draft.unlink(missing_ok=True)  # one that was there would keep its mode, or lead elsewhere
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, file)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
