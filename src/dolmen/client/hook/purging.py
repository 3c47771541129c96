"""Words that are to be gone everywhere are also gone from what the hook keeps on this machine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from dolmen.client.hook import places
from dolmen.domain.text import fold


def purge(words: str, *, dry_run: bool = False) -> int:
    """Removes waiting summaries and lines of session logs that hold the words; gives how many there were.

    Raises:
        OSError: a file cannot be written.
    """
    needle, found = fold(words.strip()), 0
    for folder in ("spool", "sessions", "status"):
        for file in sorted((places.root() / folder).glob("*")):
            found += _clean(file, needle, dry_run) if needle else 0
    return found


def forget_everything() -> None:
    """Removes the logs of all sessions, for somebody who uses no hook any more. Summaries that wait stay."""
    for folder in ("sessions", "status", "repositories"):
        shutil.rmtree(places.root() / folder, ignore_errors=True)


def _clean(file: Path, needle: str, dry_run: bool) -> int:
    lines = file.read_bytes().split(b"\n")
    kept = [line for line in lines if needle not in fold(_words(line))]
    if len(kept) < len(lines) and not dry_run:
        if any(kept):
            places.write_private(file, b"\n".join(kept))
        else:
            file.unlink(missing_ok=True)
    return len(lines) - len(kept)


def _words(line: bytes) -> str:
    """What a line says; also of one that was cut off in the middle."""
    text = line.decode("utf-8", "replace")
    try:
        return json.dumps(json.loads(text), ensure_ascii=False) if text else ""
    except ValueError:
        return text
