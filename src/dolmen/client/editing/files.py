"""A file of another program: read, and replaced whole, keeping its permissions, its link and a copy of what it was."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from dataclasses import dataclass
from pathlib import Path

from dolmen.domain.errors import DolmenError

BACKUP = ".dolmen-backup"
"""Ending of the copy of what a file was before the last change."""
_LIMIT = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Change:
    """What a file is to become."""

    file: Path
    before: str | None
    """None when it is not there."""
    after: str | None
    """None when it is to go."""
    private: bool = False
    """It holds a key, so nobody else may read it."""
    restores: bool = False
    """It becomes what it was before Dolmen changed it, so that no copy needs to be kept."""

    @property
    def needed(self) -> bool:
        return self.before != self.after

    @property
    def copied(self) -> bool:
        """Whether a copy of what was there is kept."""
        return self.before is not None and self.after is not None and not self.restores


def read(file: Path) -> str | None:
    """The text; None when there is no such file.

    Raises:
        DolmenError: `configuration` when it cannot be read or is no text.
    """
    try:
        if file.stat().st_size > _LIMIT:
            raise DolmenError("configuration", f"{file} is very large.", "Look what it is; nothing was changed.")
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise DolmenError(
            "configuration", f"{file} cannot be read: {error}.", "Mend it, or give permission; nothing was changed."
        ) from error


def apply(change: Change) -> Path | None:
    """Makes the change, unless somebody else changed the file meanwhile.

    Gives the copy of what was there; None for a file that is new, or that goes because nothing but ours was in it,
    or that becomes what it was.

    Raises:
        DolmenError: `conflict`, or `configuration` when it cannot be written.
    """
    if read(change.file) != change.before:
        raise DolmenError(
            "conflict", f"{change.file} was changed meanwhile by another program.", "Run the command again."
        )
    target = Path(os.path.realpath(change.file))  # a link stays a link
    try:
        backup = _backed_up(target, change.private) if change.copied else None
        if change.restores:
            target.with_name(target.name + BACKUP).unlink(missing_ok=True)
        if change.after is None:
            target.unlink(missing_ok=True)
        else:
            _replace(target, change.after, _mode(target, change.private))
    except OSError as error:
        raise DolmenError(
            "configuration",
            f"{change.file} cannot be written: {error.strerror or error}.",
            "Give permission to write it.",
        ) from error
    return backup


def _mode(target: Path, private: bool) -> int:
    """As it was; for a file with a key, without what lets others read it."""
    try:
        mode = stat.S_IMODE(target.stat().st_mode)
    except FileNotFoundError:
        mode = 0o600 if private else 0o644
    return mode & 0o700 if private else mode


def _backed_up(target: Path, private: bool) -> Path:
    backup = target.with_name(target.name + BACKUP)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        stream.write(target.read_bytes())
    os.chmod(draft, _mode(target, private))
    os.replace(draft, backup)
    return backup


def _replace(target: Path, text: str, mode: int) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        if target.exists():
            shutil.copystat(target, draft)
        os.chmod(draft, mode)
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
