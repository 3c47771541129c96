"""The log of a session: what was asked, what was answered, and what the hook did about it, one JSON object a line.

Lines are only ever added, each in one write that begins with a line break: two hooks at once do not mix theirs, and a
hook that was killed in the middle spoils its own line alone. Text is redacted before it is written (C-219, C-222).
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dolmen.client.hook import places

TEXT_LIMIT = 2_000
"""Characters of one prompt, response or compaction that are kept."""
KEPT = 14 * 24 * 3600
"""Seconds that a session's log stays after its last event, so that a resumed session is summed up whole."""
FENCE = "```"
_READ_LIMIT = 64 * 1024
_HALF_A_SECRET = 4 * 1024
"""What is left out before that limit, which may have cut a secret in two."""
_TAKEN_OVER = 15.0
"""Seconds after which a hook that began to give the context is thought dead."""


@dataclass(slots=True)
class Session:
    """A log, read."""

    client: str = ""
    id: str = ""
    directory: str = ""
    project: str | None = None
    parents: tuple[str, ...] = ()
    started: int = 0
    changed: int = 0
    """Of the last thing that was said, seconds since the epoch."""
    contexts: int = 0
    """How often it was given the context."""
    waiting: str = ""
    """The context, for a client that takes it with the first prompt."""
    prompts: list[str] = field(default_factory=list)
    answer: str = ""
    compaction: str = ""
    spooled: str = ""
    """Digest of the last summary that went to the spool."""

    @property
    def bound(self) -> bool:
        """Whether its project, or that it has none, was found out."""
        return bool(self.directory)


@dataclass(frozen=True, slots=True)
class Log:
    """The file of one session."""

    file: Path

    @classmethod
    def of(cls, session: str) -> Log:
        return cls(places.root() / "sessions" / f"{places.name_of(session)}.jsonl")

    def read(self) -> Session:
        """What the log says; lines that cannot be read say nothing."""
        session = Session()
        for line in _lines(self.file):
            _apply(session, line)
        return session

    def add(self, what: str, **facts: Any) -> None:
        """Adds a line.

        Raises:
            OSError
        """
        line = json.dumps({"k": what, "t": int(time.time()), **facts}, separators=(",", ":"))
        places.folder("sessions")
        handle = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, places.PRIVATE)
        try:
            os.write(handle, f"\n{line}\n".encode())
        finally:
            os.close(handle)

    def claim(self, number: int) -> bool:
        """Whether this process is the one to give the session its context for the nth time.

        A client that reads two of its configuration files starts the hook twice at the same moment (B117).
        """
        mark = self._mark(number)
        try:
            places.folder("sessions")
            os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_EXCL, places.PRIVATE))
        except FileExistsError:
            return self._abandoned(mark)
        except OSError:
            return True  # a disk that takes nothing: rather twice than never
        return True

    def release(self, number: int) -> None:
        """Nothing was given after all."""
        try:
            self._mark(number).unlink(missing_ok=True)
        except OSError:
            pass

    def _mark(self, number: int) -> Path:
        return self.file.with_suffix(f".{number}")

    def _abandoned(self, mark: Path) -> bool:
        try:
            if time.time() - mark.stat().st_mtime < _TAKEN_OVER:
                return False
            os.utime(mark)
        except OSError:
            return False
        return True


def kept_text(text: str) -> str:
    """The text as it may be written to disk: without secrets, and not too long.

    Cut after the secrets are gone, because half a secret is not recognised.
    """
    from dolmen.domain.secrets import redact

    readable = text[:_READ_LIMIT].replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
    said = redact(readable)[0]
    if len(text) > _READ_LIMIT:
        said = said[:-_HALF_A_SECRET]
    return shortened(said.strip(), TEXT_LIMIT)


def shortened(text: str, limit: int) -> str:
    """The beginning and, of what is long, also the end, where a response says how it came out.

    A fence that lies in what is left out is made up for, so that what was pasted still counts as that.
    """
    if len(text) <= limit:
        return text
    end = limit // 4
    head, middle, tail = text[: limit - end - 3], text[limit - end - 3 : -end], text[-end:]
    fence = f"\n{FENCE}\n" if middle.count(FENCE) % 2 else ""
    return f"{head.rstrip()} …{fence or ' '}{tail.lstrip()}"


def idle(seconds: float, most: int) -> list[Log]:
    """The logs without an event for that long, those of the last event first."""
    before = time.time() - seconds
    try:
        files = [file for file in (places.root() / "sessions").glob("*.jsonl") if 0 < _changed(file) < before]
    except OSError:
        return []
    return [Log(file) for file in sorted(files, key=_changed, reverse=True)[:most]]


def prune() -> None:
    """Removes what is older than `KEPT`; never raises."""
    try:
        for file in places.folder("sessions").iterdir():
            if time.time() - _changed(file) > KEPT:
                file.unlink(missing_ok=True)
    except OSError:
        pass


def _changed(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _lines(file: Path) -> Iterator[Mapping[str, Any]]:
    try:
        data = file.read_bytes()
    except OSError:
        return
    for raw in data.split(b"\n"):
        try:
            line = json.loads(raw) if raw else None
        except ValueError:
            continue
        if isinstance(line, dict):
            yield line


def _apply(session: Session, line: Mapping[str, Any]) -> None:
    text = str(line.get("text", ""))
    match line.get("k"):
        case "bind":
            session.client, session.id = str(line.get("client", "")), str(line.get("session", ""))
            session.directory = str(line.get("directory", ""))
            project = line.get("project")
            session.project = project if isinstance(project, str) else None
            session.parents = tuple(map(str, line.get("parents", ())))
            session.started = session.started or int(line.get("t", 0))
        case "context":
            session.contexts += 1
            session.waiting = text
        case "given":
            session.waiting = ""
        case "prompt":
            session.prompts.append(text)
        case "answer":
            session.answer = text
        case "compacted":
            session.compaction = text
        case "spooled":
            session.spooled = str(line.get("digest", ""))
            return
        case _:
            return
    session.changed = int(line.get("t", 0))
