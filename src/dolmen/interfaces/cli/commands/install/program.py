"""How another program is told to start this one, whatever spaces its path has and whatever shell is used."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Program:
    """The words that start Dolmen."""

    words: tuple[str, ...]

    @property
    def path(self) -> str:
        return self.words[0]


def this_program() -> Program:
    """Where the `dolmen` that runs now is."""
    name = "dolmen.exe" if os.name == "nt" else "dolmen"
    started = Path(sys.argv[0])
    beside = Path(sys.executable).with_name(name)
    for candidate in (started if started.stem == "dolmen" else None, beside):
        if candidate is not None and candidate.is_file():
            return Program((str(candidate.absolute()),))
    found = shutil.which("dolmen")
    return Program((found,) if found else (sys.executable, "-P", "-m", "dolmen"))


def quoted(program: Program, client: str, *, windows: bool = os.name == "nt", on_path: str | None = None) -> str:
    """The command line of a client's hook (B115).

    On Windows a client may use Git Bash, cmd or PowerShell. The bare name works in all three and is taken where it
    finds this very program (`on_path`); else the path in quotes with forward slashes, which PowerShell alone does not
    start.
    """
    words = (*program.words, "hook", client)
    if not windows:
        return shlex.join(words)
    path = program.path.replace("\\", "/")
    found = (shutil.which("dolmen") or "") if on_path is None else on_path
    if len(program.words) == 1 and found.replace("\\", "/").lower() == path.lower():
        return f"dolmen hook {client}"
    return " ".join([f'"{path}"', *words[1:]])
