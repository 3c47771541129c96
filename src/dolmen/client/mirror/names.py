"""Names of files that every system can hold, and when two of them are one."""

from __future__ import annotations

import hashlib
import re
import sys
import unicodedata
from pathlib import PurePosixPath

SUFFIX = ".md"
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\.|$)", re.IGNORECASE)
"""Names of devices on Windows, whatever their ending."""
_NEVER = re.compile(r"[\x00-\x1f\x7f/]")
_NOT_EVERYWHERE = re.compile(r'[\x00-\x1f\x7f<>:"/\\|?*]')
_FOREIGN = re.compile(r"[\\:]")
"""What leads elsewhere on Windows, and is in no name there."""
_BYTES = 240
"""Of one part: 255 is what file systems hold, a number may follow."""
_PATH = 400
"""Characters of a whole path."""


def same_name(path: str) -> str:
    """A path as every file system may spell it: composed characters."""
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def fold(path: str) -> str:
    """What two paths have alike that are one file on a system without regard to case."""
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", same_name(path).casefold())


def is_markdown(name: str) -> bool:
    return name[-3:].lower() == SUFFIX and not name.startswith(".")


def is_inside(path: str) -> bool:
    """Whether a path is one that a note's file can have: a Markdown file in the folder, nowhere hidden."""
    parts = path.split("/")
    foreign = sys.platform == "win32" and bool(_FOREIGN.search(path))
    return all(part and part[0] != "." for part in parts) and is_markdown(parts[-1]) and not foreign


def path_for(place: str, id: str, *, anywhere: bool = True) -> str:
    """The path that a note's file gets: its place, made safe where that is no path inside of a folder.

    Args:
        anywhere: a name that every system takes; else what this one takes stays as it is.
    """
    anywhere = anywhere or sys.platform == "win32"
    given = [part for part in PurePosixPath(place).parts if part not in ("/", ".")]
    parts = [_part(part, anywhere=anywhere) for part in given if part != ".."]
    name = parts[-1] if parts else ""
    stem = name[:-3] if name[-3:].lower() == SUFFIX else name
    if not stem or ".." in given or len("/".join(parts)) > _PATH:
        return f"{_short(stem) or 'note'}-{id[-12:]}{SUFFIX}"
    ending = name[-3:] if name[-3:].lower() == SUFFIX else SUFFIX
    return "/".join([*(_short(part) for part in parts[:-1]), _short(stem) + ending])


def numbered(path: str, number: int) -> str:
    """`a/b.md` -> `a/b-2.md`."""
    return f"{path[:-3]}-{number}{path[-3:]}"


def _part(name: str, *, anywhere: bool) -> str:
    """One part: never hidden, never the name of a device, without what a system refuses."""
    name = (_NOT_EVERYWHERE if anywhere else _NEVER).sub("_", name)
    name = name.encode("utf-8", "replace").decode()
    if name.startswith("."):  # hidden folders belong to git and to editors
        name = "_" + name[1:]
    if anywhere and name != name.rstrip(". "):
        name = name.rstrip(". ") + "_"
    return f"_{name}" if anywhere and _RESERVED.match(name) else name


def _short(name: str) -> str:
    """At most so many bytes; what is cut gets a hash, so that names stay apart."""
    if len(name.encode()) <= _BYTES:
        return name
    digits = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name.encode()[: _BYTES - 9].decode('utf-8', 'ignore')}-{digits}"
