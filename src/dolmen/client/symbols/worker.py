"""The process of `reading.Reader`: a line of JSON and a source in, a line of JSON out, until the input ends."""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from typing import Any, BinaryIO

from dolmen.client.symbols.definitions import definitions

MEMORY = 2 << 30
"""Bytes that reading may take, where the system can hold a process to that."""


def main(given: BinaryIO, answers: BinaryIO) -> None:
    _hold_to(MEMORY)
    with open(os.devnull, "wb") as nowhere:
        while head := given.readline():
            asked = json.loads(head)
            source = given.read(asked["bytes"])
            # Its clock is a thread that needs nothing of this program, however the grammar is held.
            faulthandler.dump_traceback_later(asked["seconds"], exit=True, file=nowhere)
            answer = _answer(asked["path"], source)
            faulthandler.cancel_dump_traceback_later()
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()


def _answer(path: str, source: bytes) -> Any:
    found = definitions(path, source)
    if found is None:
        return None
    all = (each for some in found.definitions.values() for each in some)
    return {"whole": found.whole, "definitions": [[each.name, each.within, each.hash] for each in all]}


def _hold_to(bytes: int) -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (bytes, bytes))
    except (ImportError, ValueError, OSError):
        pass  # Windows has none, macOS does not keep it; the seconds hold there too


if __name__ == "__main__":
    main(sys.stdin.buffer, sys.stdout.buffer)
