"""What a check reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dolmen.domain.errors import DolmenError

Level = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    name: str
    level: Level
    what: str
    """What was found, and, when it is not good, why that matters."""
    fix: str = ""
    """What to do; never empty for `fail`."""


def ok(name: str, what: str) -> Finding:
    return Finding(name, "ok", what)


def warn(name: str, what: str, fix: str) -> Finding:
    return Finding(name, "warn", what, fix)


def fail(name: str, what: str, fix: str) -> Finding:
    return Finding(name, "fail", what, fix)


def failed(name: str, error: DolmenError) -> Finding:
    """The finding that an error is."""
    return fail(name, error.message, error.fix or "Look at the log.")


def size(count: int) -> str:
    """Bytes for people."""
    for unit, step in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= step:
            return f"{count / step:.1f} {unit}"
    return f"{count} bytes"
