"""Repositories to work in."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Checkout:
    """A repository with a work tree."""

    place: Path

    def git(self, *words: str) -> str:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always")
        done = subprocess.run(["git", *who, "-C", str(self.place), *words], check=True, capture_output=True)
        return done.stdout.decode().strip()

    def write(self, **files: str | bytes) -> None:
        """Writes files; `__` in a name stands for a slash, `_py` at its end for the extension."""
        for name, content in files.items():
            path = self.place / name.replace("__", "/").replace("_py", ".py")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    def commit(self, message: str = "change", **files: str | bytes) -> str:
        """Commits everything that is there; returns the commit."""
        self.write(**files)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")


def checkout(place: Path, **files: str | bytes) -> Checkout:
    """A new repository with one commit."""
    place.mkdir(parents=True, exist_ok=True)
    made = Checkout(place)
    made.git("init", "-q", "-b", "main")
    made.commit("first", **files)
    return made
