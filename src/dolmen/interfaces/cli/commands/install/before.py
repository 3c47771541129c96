"""What a client's file was before `dolmen install` changed it first, so that `uninstall` gives back exactly that.

Kept in this user's data directory. Where a file was changed by others since, what it was then still says which objects
and lists in it are the person's, also empty ones.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from dolmen.client.editing import jsonc
from dolmen.settings import folders

Keys = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Before:
    """Of one file."""

    text: str | None
    """None when it was not there."""
    written: str
    """Digest of what `install` made of it."""
    folders: Sequence[str] = ()
    """Those that were made for it, the innermost first."""

    def is_untouched(self, text: str) -> bool:
        """Whether the file still is as `install` left it."""
        return self.written == digest(text)

    def containers(self) -> frozenset[Keys]:
        """Paths of the objects and lists that stood in it; none for what is no JSON."""
        try:
            return frozenset(_containers(jsonc.read(self.text or ""), ()))
        except jsonc.Malformed:
            return frozenset()


def digest(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def missing_folders(file: Path) -> list[str]:
    """The folders that writing a file would make, the innermost first."""
    return [str(folder) for folder in file.parents if not folder.exists()]


def load() -> dict[Path, Before]:
    """Everything that is known; empty when nothing is, or when it cannot be read."""
    try:
        found = json.loads(_file().read_bytes())
        return {Path(name): Before(**facts) for name, facts in found.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def keep(new: Mapping[Path, Before]) -> None:
    """Raises: OSError."""
    _write({**load(), **new})


def forget(files: Iterable[Path]) -> None:
    """Forgets files, and removes the folders that were made for them where nothing is in these.

    Raises:
        OSError
    """
    known = load()
    gone = [(file, known.pop(file)) for file in files if file in known]
    if gone:
        _write(known)
    for file, before in gone:
        for folder in () if file.exists() else before.folders:
            try:
                os.rmdir(folder)
            except OSError:
                break


def _file() -> Path:
    return folders.data() / "installed.json"


def _write(known: Mapping[Path, Before]) -> None:
    from dolmen.client.hook.places import PRIVATE_FOLDER, write_private

    file = _file()
    if not known:
        file.unlink(missing_ok=True)
        return
    file.parent.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    write_private(file, json.dumps({str(each): asdict(before) for each, before in known.items()}).encode() + b"\n")


def _containers(value: Any, path: Keys) -> Iterator[Keys]:
    if isinstance(value, dict | list):
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _containers(inner, (*path, key))
