"""What a mirror knows from one run to the next.

Two things, since they have different readers. `.dolmen/notes.jsonl` says which file is which note, changes only when a
note comes, goes or moves, and is committed with the folder, so that a clone has the same notes. `.dolmen/local/` holds
the last common version of each, belongs to this machine and is ignored by git: a snapshot, and a journal of what was
done since. A line is written to the journal before a note is touched and another one after, so a process may be killed
at any moment.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass, field, replace
from pathlib import Path
from typing import Any, TextIO

from dolmen.client.mirror.files import HOME, LOCAL, SHARED, Folder, Mark, replace_file
from dolmen.client.mirror.names import is_inside, same_name
from dolmen.domain.errors import DolmenError

_FORMAT = 1
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_SNAPSHOT, _JOURNAL = "state.json", "journal.jsonl"
_LONG = 2_000
"""Lines of a journal before it becomes a snapshot."""
_OWN = {".gitignore": f"/{LOCAL}/\n", ".gitattributes": f"/{SHARED} text eol=lf merge=union\n"}


@dataclass(frozen=True, slots=True)
class Entry:
    """A note and its file, as they were when they last said the same."""

    id: str
    path: str
    """As the file system spells it."""
    file: str = ""
    """Sha of the file; empty as long as there is none."""
    base: str = ""
    """Sha of the note's version that holds all that the file said."""
    version: int = 0
    changed_at: int = 0
    place: str = ""
    """Where the note said that its file belongs."""
    mark: Mark | None = None
    """How the file looked; None when it has to be read again."""
    seen: str = ""
    """Sha of the file that looked like that."""
    next: str = ""
    """Sha of the version that is being written to the note: before anything else, look whether it got there."""
    proposal: str = ""
    """Waits for a person: both sides changed the same blocks."""
    against: str = ""
    """Sha of the note's version that it was proposed against."""

    def but(self, **changes: Any) -> Entry:
        return replace(self, **changes)


_KINDS = (str, str, str, str, int, int, str, list | None, str, str, str, str)
"""Of the fields of an entry, as JSON has them."""


@dataclass(slots=True)
class State:
    """The entries by id, and where they are kept."""

    folder: Folder
    scope: str = ""
    vault: str = ""
    entries: dict[str, Entry] = field(default_factory=dict)
    shared: dict[str, str] = field(default_factory=dict)
    """From `notes.jsonl`: ids by path, in composed characters."""
    _shared_mark: Mark | None = None
    _journal: TextIO | None = None
    _lines: int = 0
    _stale: bool = False
    """The journal names paths that are no more: a purge may be why, so it is not kept."""
    _touched: bool = True
    """Since the shared list was last compared."""
    _noise: bool = False
    """The shared list has lines of no use, such as those of a merge that git could not do."""

    def put(self, entry: Entry) -> None:
        before = self.entries.get(entry.id)
        self._stale = self._stale or (before is not None and before.path != entry.path)
        self.entries[entry.id] = entry
        self._write(list(astuple(entry)))

    def drop(self, id: str) -> None:
        if self.entries.pop(id, None) is not None:
            self._stale = True
            self._write([id])

    def flush(self, *, lasting: bool = True) -> None:
        """What was put is in the file; `lasting`: also after a power cut."""
        if self._journal is not None:
            with self._whole():
                self._journal.flush()
                if lasting:
                    os.fsync(self._journal.fileno())

    def _write(self, line: list[Any]) -> None:
        self._lines += 1
        self._touched = True
        with self._whole():
            if self._journal is None:
                _mend(self.folder.local / _JOURNAL)
                self._journal = open(self.folder.local / _JOURNAL, "a", encoding="utf-8", newline="\n")  # noqa: SIM115
            self._journal.write(json.dumps(line, ensure_ascii=True) + "\n")

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """A line that did not get into the journal, as on a full disk, is in the next snapshot."""
        try:
            yield
        except OSError:
            self._stale = True
            self.close()
            raise

    # ------------------------------------------------------------------------------------------------------- keeping
    def save(self, present: Container[str] = ()) -> None:
        """Keeps everything; the journal becomes a snapshot when it is long or names what is gone.

        Args:
            present: paths of files that are there, in composed characters: what the shared list says of them stays.
        """
        self.flush()
        self._share(present)
        if self._lines > _LONG or self._stale:
            self._snapshot()

    def _snapshot(self) -> None:
        known = {"format": _FORMAT, "vault": self.vault, "scope": self.scope}
        entries = [list(astuple(entry)) for entry in self.entries.values()]
        replace_file(self.folder.local / _SNAPSHOT, json.dumps({**known, "entries": entries}))
        self.close()
        (self.folder.local / _JOURNAL).unlink(missing_ok=True)
        self._lines, self._stale = 0, False

    def begin(self, vault: str, scope: str) -> None:
        """Makes it the mirror of a scope of a vault."""
        self.vault, self.scope = vault, scope
        for name, content in _OWN.items():
            file = self.folder.root / HOME / name
            if not file.exists():
                replace_file(file, content)
        self._snapshot()

    def close(self) -> None:
        """Ends the journal; a line that a failed write left is in the entries."""
        journal, self._journal = self._journal, None
        if journal is not None:
            with suppress(OSError):
                journal.close()

    # -------------------------------------------------------------------------------------------------------- shared
    def read_shared(self) -> None:
        """Reads which file is which note, when that changed: with a `git pull`, such as."""
        name = f"{HOME}/{SHARED}"
        mark = self.folder.mark(name)
        if mark == self._shared_mark:
            return
        self._shared_mark, self.shared, self._touched = mark, {}, True
        if mark is None or (self.folder.root / name).is_symlink():
            return
        for line in (self.folder.root / name).read_bytes().decode("utf-8", "replace").splitlines():
            given = _json(line)
            if "scope" in given and not self.scope:
                self.scope = str(given["scope"])
            id, path = given.get("id"), given.get("path")
            if isinstance(id, str) and isinstance(path, str) and _ID.fullmatch(id):
                self.shared.setdefault(same_name(path), id)
            elif "scope" not in given:
                self._noise = True

    def _share(self, present: Container[str]) -> None:
        """Writes which file is which note, when that changed."""
        if not self._touched:
            return
        self._touched = False
        known = {path: id for path, id in self.shared.items() if path in present and id not in self.entries}
        known |= {same_name(entry.path): entry.id for entry in self.entries.values() if entry.base}
        if known == self.shared and not self._noise:
            return
        lines: list[dict[str, str | int]] = [{"dolmen": "mirror", "format": _FORMAT, "scope": self.scope}]
        lines += [{"path": path, "id": id} for path, id in sorted(known.items())]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        replace_file(self.folder.root / HOME / SHARED, text)
        self._shared_mark, self.shared, self._noise = self.folder.mark(f"{HOME}/{SHARED}"), known, False


def load(folder: Folder) -> State:
    """What is known of a folder; empty for one that was never mirrored.

    Raises:
        DolmenError: `configuration` when a newer Dolmen wrote it.
    """
    state = State(folder)
    snapshot = folder.local / _SNAPSHOT
    if snapshot.exists():
        try:
            _restore(state, _json(snapshot.read_bytes().decode()))
        except (KeyError, TypeError, ValueError) as error:
            raise DolmenError(
                "configuration", f"{snapshot} is not of this version of Dolmen.", "Update, or delete that file."
            ) from error
    journal = folder.local / _JOURNAL
    if journal.exists():
        for line in journal.read_bytes().splitlines():
            fields = _list(line)
            state._lines += 1
            if len(fields) == 1:
                state.entries.pop(str(fields[0]), None)
            elif fields:
                with suppress(TypeError, ValueError):  # a line that another one ran into
                    _take(state, fields)
    state.read_shared()
    return state


def _restore(state: State, given: dict[str, Any]) -> None:
    if given["format"] != _FORMAT:
        raise ValueError(given["format"])
    state.vault, state.scope = str(given["vault"]), str(given["scope"])
    for fields in given["entries"]:
        _take(state, fields)


def _take(state: State, fields: list[Any]) -> None:
    """Takes an entry. These files may have come with a folder from elsewhere, so no path in them leads out of it."""
    entry = Entry(*fields)
    for value, kind in zip(fields, _KINDS, strict=True):
        if not isinstance(value, kind):
            raise TypeError("an entry of another kind")
    if not (_ID.fullmatch(entry.id) and is_inside(entry.path)):
        raise ValueError("an entry of no note, or of no file of the folder")
    state.entries[entry.id] = entry.but(mark=tuple(entry.mark) if entry.mark else None)


def _mend(journal: Path) -> None:
    """Ends a last line that was cut off, so that the next one stands alone."""
    if not journal.exists() or not journal.stat().st_size:
        return
    with open(journal, "rb+") as stream:
        stream.seek(-1, os.SEEK_END)
        if stream.read(1) != b"\n":
            stream.write(b"\n")


def _json(line: str) -> dict[str, Any]:
    try:
        given = json.loads(line)
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}


def _list(line: bytes) -> list[Any]:
    """The fields of a line; none for one that was cut off."""
    try:
        given = json.loads(line)
    except ValueError:
        return []
    return given if isinstance(given, list) else []
