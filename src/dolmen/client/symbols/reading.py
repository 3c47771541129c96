"""Reading the definitions of files in a process of its own, which ends itself when a file takes too long.

A grammar can be held for minutes, and in some versions be made to crash, by a file of a few kilobytes: operators,
brackets, blocks or broken code inside each other. While it works, nothing else in its process runs, no clock either.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from dolmen.client.symbols.definitions import LARGEST, Definition, Source
from dolmen.client.symbols.languages import language_of

SECONDS = 1.0
"""That one file may take, at most; the slowest of half a million lines of real code took 0.4."""
_STARTING = 1.0
"""Seconds more for the first file of a process."""
_WORKER = "dolmen.client.symbols.worker"


class Reader:
    """Reads files, one after the other. Close it; a process that is left behind ends itself."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def definitions(self, path: str, source: bytes, seconds: float = SECONDS) -> Source | None:
        """What a file defines; None when it cannot be told: another language, no grammar, too large, no text, or more
        work than `seconds` are enough for."""
        if language_of(path) is None or len(source) > LARGEST:
            return None
        first = self._process is None
        head = {"path": path, "bytes": len(source), "seconds": seconds + (_STARTING if first else 0.0)}
        try:
            process = self._process = self._process or _start()
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(head).encode() + b"\n" + source)
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            answer = b""
        if not answer.endswith(b"\n"):
            self.close()
            return None
        return _source(json.loads(answer))

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _start() -> subprocess.Popen[bytes]:
    """From the folder of this program and with `-P`: a module of that name in a checkout is not ours."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", _WORKER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=Path(__file__).parent,
    )


def _source(said: Any) -> Source | None:
    if said is None:
        return None
    found: dict[str, tuple[Definition, ...]] = {}
    for name, within, hash in said["definitions"]:
        found[name] = (*found.get(name, ()), Definition(name, tuple(within), hash))
    return Source(found, said["whole"])
