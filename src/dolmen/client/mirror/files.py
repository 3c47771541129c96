"""The files of a mirrored folder: read whole, replaced whole, never through a link, and never over what nobody saw."""

from __future__ import annotations

import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from dolmen.domain.errors import DolmenError
from dolmen.domain.note import SOURCE_LIMIT, content_sha

HOME = ".dolmen"
"""The folder of the mirror's own files."""
SHARED = "notes.jsonl"
"""In it: which file is which note, for git."""
LOCAL = "local"
"""In it: what belongs to this machine alone, which git does not see."""

Mark = tuple[int, int, int, int]
"""What tells that a file was written since: its modification, size, number and change of state."""

_BYTES = 4 * SOURCE_LIMIT + 3
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class Unsteady(Exception):
    """Somebody writes the file just now; the next run takes it."""


@dataclass(frozen=True, slots=True)
class FileText:
    text: str
    sha: str
    mark: Mark


def mark_of(state: os.stat_result) -> Mark:
    return state.st_mtime_ns, state.st_size, state.st_ino, state.st_ctime_ns


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder whose files are read and written by their paths relative to it, with `/`."""

    root: Path

    @property
    def local(self) -> Path:
        return self.root / HOME / LOCAL

    def read(self, path: str) -> FileText:
        """The text of a file.

        Raises:
            DolmenError: `too-large` or `invalid-argument` for what can be no note.
            Unsteady: it is being written, or just went.
        """
        with _seen(path, "read"):
            handle = os.open(self.root / path, _READ)
        with os.fdopen(handle, "rb") as stream, _seen(path, "read"):
            before = os.fstat(handle)
            if not stat.S_ISREG(before.st_mode):
                raise DolmenError("invalid-argument", "It is no file.", "Leave it out.")
            if before.st_size > _BYTES:
                raise _too_long(f"{before.st_size} bytes")
            raw = stream.read(_BYTES + 1)
            if mark_of(os.fstat(handle)) != mark_of(before):
                raise Unsteady(path)
        text = _decoded(raw)
        return FileText(text, content_sha(text), mark_of(before))

    def mark(self, path: str) -> Mark | None:
        """How the file looks now; None when there is none."""
        try:
            return mark_of(os.lstat(self.root / path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def exists(self, path: str) -> bool:
        return os.path.lexists(self.root / path)

    def write(self, path: str, text: str, seen: Mark | None) -> Mark:
        """Replaces a file whole, keeping its mode; it is there in one piece, old or new, whatever happens.

        Args:
            seen: how it looked when it was read; None for one that must not be there yet.

        Raises:
            DolmenError: `invalid-argument` when it cannot be written.
            Unsteady: somebody wrote it since.
        """
        target = self.root / path
        with _seen(path, "written"):
            self._parents(path)
            draft = self.local / f"{secrets.token_hex(8)}.part"
            before = None if seen is None else os.lstat(target)
            mode = 0o666 if before is None else stat.S_IMODE(before.st_mode)
            try:
                # from its beginning no more than the file that it replaces may be read by others
                with os.fdopen(os.open(draft, _WRITE, mode), "wb") as stream:
                    stream.write(text.encode("utf-8"))
                    stream.flush()
                    os.fsync(stream.fileno())
                if before is not None:
                    _as_before(draft, before, mode)
                if self.mark(path) != seen:
                    raise Unsteady(path)
                os.replace(draft, target)
            except BaseException:
                draft.unlink(missing_ok=True)
                raise
            sync_folder(target.parent)
            return mark_of(os.lstat(target))

    def remove(self, path: str, seen: Mark) -> None:
        """Removes a file, unless somebody wrote it since (`Unsteady`)."""
        with _seen(path, "removed"):
            self._parents(path)
            if self.mark(path) != seen:
                raise Unsteady(path)
            os.unlink(self.root / path)
            sync_folder((self.root / path).parent)

    def rename(self, old: str, new: str) -> None:
        """Gives a file another path where no other file is."""
        with _seen(new, "written"):
            self._parents(old)
            self._parents(new)
            there = self.mark(new)
            if there is not None and there != self.mark(old):  # the same one: only its case changes
                raise Unsteady(new)
            os.rename(self.root / old, self.root / new)
            sync_folder((self.root / new).parent)

    def _parents(self, path: str) -> None:
        """Makes the folders above a file; none of them may be a link, which could lead out of this one."""
        at = self.root
        for part in path.split("/")[:-1]:
            at = at / part
            try:
                state = os.lstat(at)
            except FileNotFoundError:
                os.mkdir(at)
                continue
            if not stat.S_ISDIR(state.st_mode) or _is_junction(at):
                raise DolmenError(
                    "invalid-argument", f"{part} in {path} is a link or no folder.", "Remove it, or move the note."
                )


def prepare(root: Path) -> Folder:
    """The folder, with a place for the mirror's own files.

    Raises:
        DolmenError: `invalid-argument`, also when that place is a link.
    """
    folder = Folder(root)
    for place in (root / HOME, folder.local):
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            raise DolmenError("invalid-argument", f"{place} is no folder of its own.", "Move it out of the way.")
        with _seen(str(place), "made"):
            place.mkdir(exist_ok=True)
    with kept(folder.local):
        links = [entry.path for entry in os.scandir(folder.local) if entry.is_symlink()]
    if links:  # a folder from elsewhere could bring one, and would have another file written
        raise DolmenError("invalid-argument", f"{links[0]} is a link.", "Remove it: the mirror makes its own files.")
    return folder


def sweep(folder: Folder) -> None:
    """Removes drafts of a run that was killed, once no other one works on the folder."""
    for place in (folder.local, folder.local.parent):
        for left in place.glob("*.part"):
            left.unlink(missing_ok=True)


def replace_file(target: Path, text: str) -> None:
    """Writes one of the mirror's own files whole."""
    draft = target.with_name(f"{target.name}.{secrets.token_hex(4)}.part")
    try:
        with open(draft, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(draft, target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    sync_folder(target.parent)


@contextmanager
def kept(place: Path) -> Iterator[None]:
    """Around reading and writing what the mirror keeps for itself.

    Raises:
        DolmenError: `unavailable` when the file system does not let it, such as a full one.
    """
    try:
        yield
    except BrokenPipeError:  # whoever reads the output went away
        raise
    except OSError as error:
        raise DolmenError(
            "unavailable",
            f"{place}, where the mirror keeps what it knows, does not work: {error.strerror or error}.",
            "Look at its permissions and at the room that is left, then run it again: nothing is lost.",
        ) from error


def sync_folder(folder: Path) -> None:
    """Makes names in a folder last through a power cut, where the system lets a folder be opened."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:  # some network file systems refuse it; the file itself is safe
        pass
    finally:
        os.close(handle)


def _as_before(draft: Path, before: os.stat_result, mode: int) -> None:
    """Gives a draft the owner and the mode of the file whose place it takes, as far as this process may."""
    if sys.platform != "win32":
        now = os.lstat(draft)
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
            with suppress(OSError):
                os.chown(draft, before.st_uid, before.st_gid)
    os.chmod(draft, mode)


def _is_junction(path: Path) -> bool:
    return sys.platform == "win32" and bool(getattr(os.lstat(path), "st_reparse_tag", 0))


def _decoded(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DolmenError("invalid-argument", "The file is not UTF-8.", "Convert it, such as with `iconv`.") from error
    if "\0" in text:
        raise DolmenError("invalid-argument", "The file holds NUL characters.", "It is no text: leave it out.")
    if len(text) > SOURCE_LIMIT:
        raise _too_long(f"{len(text)} characters")
    return text


def _too_long(length: str) -> DolmenError:
    return DolmenError(
        "too-large", f"The file has {length}; a note holds at most {SOURCE_LIMIT} characters.", "Split it."
    )


@contextmanager
def _seen(path: str, what: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise Unsteady(path) from error
    except OSError as error:
        raise DolmenError(
            "invalid-argument",
            f"{path} cannot be {what}: {error.strerror or error}.",
            "Look at its permissions and at the room that is left.",
        ) from error
