"""Values as the command line shows them: whole JSON objects for programs, lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from dolmen.domain.memory import Memory
from dolmen.domain.timeframe import format_utc
from dolmen.domain.values import DAY, HOUR, MINUTE
from dolmen.interfaces.cli.output import Output, shorten

_TIMES = frozenset({"at", "created_at", "updated_at", "expires_at", "decided_at", "revoked_at", "last_used_at",
                    "resumed_at", "oldest_pending_at"})  # fmt: skip
_HIDDEN = frozenset({"vault"})


def plain(value: Any) -> Any:
    """A value as JSON: dataclasses as objects, times as ISO 8601 UTC; nothing is left out but the vault."""
    if hasattr(value, "__dataclass_fields__"):
        value = asdict(value)
    if isinstance(value, Mapping):
        return {key: _timed(key, item) for key, item in value.items() if key not in _HIDDEN}
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def _timed(key: str, item: Any) -> Any:
    return format_utc(item) if key in _TIMES and isinstance(item, int) else plain(item)


def day(us: int) -> str:
    """`2026-09-27 06:00`, UTC."""
    return format_utc(us)[:16].replace("T", " ")


def ago(us: int, now: int) -> str:
    span = max(0, now - us)
    for size, unit in ((365 * DAY, "y"), (DAY, "d"), (HOUR, "h"), (MINUTE, "m")):
        if span >= size:
            return f"{span // size}{unit} ago"
    return "just now"


def short(ref: str) -> str:
    """The last eight characters: the random ones, enough to name a memory again."""
    return ref[-8:]


def line(out: Output, memory: Memory, columns: int) -> list[str]:
    """A memory as a row of a list."""
    text = f"{memory.title}: {memory.text}" if memory.title else memory.text
    mark = "" if memory.status == "active" else f"[{memory.status}] "
    return [
        out.style(short(memory.id), fg="yellow"),
        memory.kind,
        memory.scope.removeprefix("project:"),
        out.dim(day(memory.updated_at)),
        mark + shorten(text, columns),
    ]


def facts(out: Output, memory: Memory, sha: str) -> list[str]:
    """A memory's head: everything that is set, without the text."""
    pairs: list[tuple[str, str]] = [
        ("ref", memory.id),
        ("title", memory.title),
        ("kind", memory.kind + (f" ({memory.label})" if memory.label and memory.label != memory.kind else "")),
        ("scope", memory.scope),
        ("status", memory.status),
        (
            "trust",
            f"{memory.trust}, {memory.verification}" + (f" by {memory.verified_by}" if memory.verified_by else ""),
        ),
        ("folder", memory.folder),
        ("tags", ", ".join(memory.tags)),
        ("written", f"{format_utc(memory.created_at)} by {memory.agent}"),
        ("changed", format_utc(memory.updated_at) if memory.version > 1 else ""),
        ("expires", format_utc(memory.expires_at) if memory.expires_at else ""),
        ("source", memory.source),
        ("case", memory.case.id if memory.case else ""),
        ("replaces", memory.supersedes or ""),
        ("replaced by", memory.superseded_by or ""),
        ("importance", f"{memory.importance:g}" + (", pinned" if memory.pinned else "")),
        ("version", f"{memory.version}, sha {sha}"),
    ]
    return [f"{out.dim(name.ljust(11))} {value}" for name, value in pairs if value]
