"""Summaries that wait for the server. Written before they are sent, so that nothing that ends the hook loses them.

One entry per session: a newer summary takes the place of an older one, so that none arrives after its successor. The
session's id makes a second delivery harmless. Each entry says for which address and key it was written, and tells
neither (C-220).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from dolmen.client.hook import places

KEPT = 30 * 24 * 3600
"""Seconds that an entry waits."""
REFUSED = ".refused"
"""Ending of an entry that the server will never take."""


@dataclass(frozen=True, slots=True)
class Entry:
    client: str
    session: str
    project: str
    text: str
    destination: str
    """`Endpoint.destination` at the time of writing."""
    written: int
    """Seconds since the epoch."""

    @property
    def file(self) -> Path:
        return places.root() / "spool" / f"{places.name_of(self.client, self.session)}.json"


def put(client: str, session: str, project: str, text: str, destination: str) -> Entry:
    """Keeps a summary until it is delivered.

    Raises:
        OSError
    """
    entry = Entry(client, session, project, text, destination, int(time.time()))
    places.folder("spool")
    places.write_private(entry.file, json.dumps(asdict(entry)).encode())
    return entry


def waiting() -> Iterator[Entry]:
    """Every entry, oldest first; what is too old or cannot be read is removed."""
    found = []
    try:
        files = [file for file in (places.root() / "spool").glob("*.json") if not file.name.startswith(".")]
    except OSError:
        return
    for file in files:
        entry = _read(file)
        if entry is None or time.time() - entry.written > KEPT:
            file.unlink(missing_ok=True)
        else:
            found.append(entry)
    yield from sorted(found, key=lambda each: each.written)


def remove(entry: Entry) -> None:
    """Delivered. Stays when a newer summary of the session has taken its place meanwhile."""
    if (now := _read(entry.file)) is not None and now.text == entry.text:
        entry.file.unlink(missing_ok=True)


def set_aside(entry: Entry) -> None:
    """Refused for good: kept for whoever wants to see why, not tried again."""
    os.replace(entry.file, entry.file.with_suffix(REFUSED))


def _read(file: Path) -> Entry | None:
    try:
        return Entry(**json.loads(file.read_bytes()))
    except (OSError, ValueError, TypeError):
        return None
