"""What lies in a folder: its Markdown files, and what is passed over and why."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

from dolmen.client.mirror.files import HOME, SHARED, Mark, mark_of
from dolmen.client.mirror.names import fold, is_markdown, same_name
from dolmen.domain.errors import DolmenError


@dataclass(frozen=True, slots=True)
class Found:
    path: str
    """As the file system spells it."""
    mark: Mark


@dataclass(slots=True)
class Scan:
    files: dict[str, Found] = field(default_factory=dict)
    """By path, in composed characters."""
    passed: dict[str, str] = field(default_factory=dict)
    """Markdown that is not taken, by path, and why."""
    blind: list[str] = field(default_factory=list)
    """Folders that are not looked into, such as links, each with a `/` at its end: what was in them counts neither as
    there nor as gone."""
    taken: set[str] = field(default_factory=set)
    """Every path, of folders too, without regard to case."""
    known: Collection[str] = ()
    """Paths of notes' files, as they were spelled: of two spellings of a name, this one stays the note's."""

    def hides(self, path: str) -> bool:
        """Whether a file may be there though it was not found."""
        path = same_name(path)
        return path in self.passed or any(path.startswith(each) for each in self.blind)


def scan(root: Path, known: Collection[str] = ()) -> Scan:
    """Looks through a folder. Hidden folders and files are passed over; links are never followed.

    Args:
        known: paths of notes' files, as they were spelled.

    Raises:
        DolmenError: `not-found` when the folder itself is gone.
    """
    found = Scan(known=known)
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root / folder if folder else root) as entries:
                for entry in entries:
                    _look(found, waiting, folder, entry)
        except OSError as error:
            if not folder:
                raise DolmenError(
                    "not-found", f"{root} cannot be read: {error.strerror}.", "Is it still mounted?"
                ) from error
            found.blind.append(same_name(folder))
            found.passed[folder] = f"it cannot be looked into: {error.strerror}"
    return found


def _look(found: Scan, waiting: list[str], folder: str, entry: os.DirEntry[str]) -> None:
    name = entry.name
    if name[0] == ".":
        return
    path = folder + name
    found.taken.add(fold(path))
    try:
        if entry.is_dir(follow_symlinks=False) and not _is_junction(entry):
            if os.path.lexists(os.path.join(entry.path, HOME, SHARED)):  # two mirrors in one would feed each other
                found.blind.append(same_name(path) + "/")
                found.passed[same_name(path)] = "it is a mirror of its own"
            else:
                waiting.append(path + "/")
        elif is_markdown(name):
            _file(found, path, same_name(path), entry)
        elif entry.is_symlink() or entry.is_dir():
            found.blind.append(same_name(path) + "/")
    except OSError as error:
        found.passed[same_name(path)] = f"it cannot be looked at: {error.strerror}"


def _is_junction(entry: os.DirEntry[str]) -> bool:
    """A folder on Windows that leads elsewhere."""
    return sys.platform == "win32" and bool(getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0))


def _file(found: Scan, path: str, plain: str, entry: os.DirEntry[str]) -> None:
    state = entry.stat(follow_symlinks=False)
    if stat.S_ISLNK(state.st_mode):
        found.passed[plain] = "it is a link"
    elif not stat.S_ISREG(state.st_mode):
        found.passed[plain] = "it is no file"
    elif not _spelled(path):
        found.passed[plain] = "its name is no text"
    else:
        _take(found, plain, Found(path, mark_of(state)))


def _take(found: Scan, plain: str, file: Found) -> None:
    """Of two spellings of a name one is the file, in whichever order the file system lists them."""
    both = [file, *([found.files[plain]] if plain in found.files else [])]
    found.files[plain], *others = sorted(both, key=lambda each: (each.path not in found.known, each.path))
    for other in others:
        found.passed[other.path] = f"another file is called {plain} in other characters"


def _spelled(path: str) -> bool:
    try:
        return path.isascii() or bool(path.encode("utf-8"))
    except UnicodeEncodeError:
        return False
