"""The hook as a client starts it: one process per event, a payload on standard input, a home of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "client" / "recorded"


def recorded(name: str, directory: Path) -> list[dict[str, Any]]:
    """The payloads that a client sent, in their order, as if it worked in DIRECTORY."""
    text = (RECORDED / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line.replace("{directory}", str(directory))) for line in text.splitlines()]


def repository(place: Path, remote: str = "git@github.com:acme/shop.git") -> Path:
    """A repository with that remote; without a commit."""
    place.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "init", "-q", "-b", "main", str(place)], check=True)
    if remote:
        subprocess.run(["git", "-C", str(place), "remote", "add", "origin", remote], check=True)
    return place


def encoded(payload: Any) -> bytes:
    return payload if isinstance(payload, bytes) else json.dumps(payload).encode()


@dataclass
class Said:
    """What one run of the hook came to."""

    code: int
    out: str
    errors: str
    seconds: float

    @property
    def answer(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.out) if self.out.strip() else {}
        return found

    @property
    def context(self) -> str:
        return str(self.answer.get("hookSpecificOutput", {}).get("additionalContext", ""))

    @property
    def warning(self) -> str:
        return str(self.answer.get("systemMessage", ""))


@dataclass
class Hooked:
    """A person's machine with the hook on it."""

    home: Path
    url: str = ""
    key: str = ""
    client: str = "claude-code"
    more: dict[str, str] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("DOLMEN_", "XDG_"))}
        homes = {f"XDG_{kind}_HOME": str(self.home / kind.lower()) for kind in ("DATA", "CONFIG", "STATE", "CACHE")}
        server = {"DOLMEN_URL": self.url, "DOLMEN_KEY": self.key, "DOLMEN_EMBEDDER": "none"}
        return {**kept, **homes, "HOME": str(self.home), **server, **self.more}

    @property
    def files(self) -> Path:
        """Where the hook keeps its files."""
        return self.home / "data" / "dolmen" / "hook"

    def start(self, payload: Any, client: str = "", directory: Path | None = None) -> subprocess.Popen[bytes]:
        """Begins to handle one event; the payload is small enough for the pipe."""
        process = self._process(client, directory)
        assert process.stdin is not None
        process.stdin.write(encoded(payload))
        process.stdin.close()
        process.stdin = None
        return process

    def run(self, payload: Any, client: str = "", directory: Path | None = None) -> Said:
        """Handles one event."""
        began = time.monotonic()
        process = self._process(client, directory)
        out, errors = process.communicate(encoded(payload), timeout=60)
        return Said(process.returncode, out.decode(), errors.decode(), time.monotonic() - began)

    def _process(self, client: str, directory: Path | None) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dolmen", "hook", client or self.client],
            env=self.environment, cwd=directory or self.home,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def replay(self, name: str, directory: Path) -> Iterator[tuple[dict[str, Any], Said]]:
        """Handles every event of a recorded session."""
        for payload in recorded(name, directory):
            yield payload, self.run(payload, name.rpartition("-")[0])

    def spooled(self) -> list[Path]:
        return sorted((self.files / "spool").glob("*.json")) if self.files.exists() else []

    def everything_kept(self) -> str:
        """All that stands in the hook's files."""
        return "\n".join(file.read_text(encoding="utf-8") for file in self.files.rglob("*") if file.is_file())
