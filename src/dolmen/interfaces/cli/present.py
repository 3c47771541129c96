"""Values as the command line shows them: whole JSON objects for programs, lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from dolmen.domain.audience import key_of, persons_of, visibility_of
from dolmen.domain.memory import Memory
from dolmen.domain.timeframe import format_utc
from dolmen.domain.values import DAY, HOUR, MINUTE
from dolmen.interfaces.cli.output import Output

_TIMES = frozenset({"at", "created_at", "updated_at", "expires_at", "decided_at", "revoked_at", "last_used_at",
                    "resumed_at", "oldest_pending_at"})  # fmt: skip
_HIDDEN = frozenset({"vault", "mates"})


def plain(value: Any) -> Any:
    """A value as JSON: dataclasses as objects, a memory's id as `ref`, times as ISO 8601 UTC; all but the vault."""
    if is_dataclass(value) and not isinstance(value, type):
        facts = {each.name: getattr(value, each.name) for each in fields(value)}
        if "audience" in facts:
            audience = facts.pop("audience")
            facts |= {"visibility": visibility_of(audience)} | ({"seen_by": persons_of(audience)} if audience else {})
        value = {"ref": facts.pop("id"), **facts} if isinstance(value, Memory) else facts
    if isinstance(value, Mapping):
        return {key: _timed(key, item) for key, item in value.items() if key not in _HIDDEN}
    if isinstance(value, str | int | float | bool | None):
        return value
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def _timed(key: str, item: Any) -> Any:
    return format_utc(item) if key in _TIMES and isinstance(item, int) else plain(item)


def seen_by(audience: str) -> str:
    """Who sees something that is not open, in a few words."""
    if key_of(audience):
        return f"the key {short(key_of(audience))} and its groups"
    others = len(persons_of(audience)) - 1
    return f"its author and {others} more" if others else "its author alone"


def ago(us: int, now: int) -> str:
    span = max(0, now - us)
    for size, unit in ((365 * DAY, "y"), (DAY, "d"), (HOUR, "h"), (MINUTE, "m")):
        if span >= size:
            return f"{span // size}{unit} ago"
    return "just now"


def short(ref: str) -> str:
    """The last eight characters: the random ones, enough to name a memory again."""
    return ref[-8:]


def headings(out: Output) -> tuple[str, ...]:
    """Those of a list of memories."""
    return ("ref", "kind", "scope", "agent", out.in_zone("changed"), "text")


def row(out: Output, memory: Memory) -> tuple[str, ...]:
    """A memory in a list."""
    text = f"{memory.title}: {memory.text}" if memory.title else memory.text
    mark = "" if memory.status == "active" else f"[{memory.status}] "
    mark += f"[{visibility_of(memory.audience)}] " if memory.audience else ""
    return (
        out.style(short(memory.id), fg="yellow"),
        memory.kind,
        memory.scope.removeprefix("project:"),
        memory.agent,
        out.dim(out.when(memory.updated_at)),
        mark + text,
    )


def facts(out: Output, memory: Memory, sha: str) -> list[str]:
    """A memory's head: everything that is set, without the text."""
    pairs: list[tuple[str, str]] = [
        ("ref", memory.id),
        ("title", memory.title),
        ("kind", memory.kind + (f" ({memory.label})" if memory.label and memory.label != memory.kind else "")),
        ("scope", memory.scope.removeprefix("project:")),
        ("status", memory.status),
        (
            "trust",
            f"{memory.trust}, {memory.verification}" + (f" by {memory.verified_by}" if memory.verified_by else ""),
        ),
        ("folder", memory.folder),
        ("tags", ", ".join(memory.tags)),
        ("written", f"{out.when(memory.created_at)}{f' ({out.zone})' if out.terminal else ''} by {memory.agent}"),
        ("changed", out.when(memory.updated_at) if memory.version > 1 else ""),
        ("seen by", "" if visibility_of(memory.audience) == "open" else seen_by(memory.audience)),
        ("expires", out.when(memory.expires_at) if memory.expires_at else ""),
        ("source", memory.source),
        ("case", memory.case.id if memory.case else ""),
        ("replaces", memory.supersedes or ""),
        ("replaced by", memory.superseded_by or ""),
        ("importance", f"{memory.importance:g}" + (", pinned" if memory.pinned else "")),
        ("version", f"{memory.version}, sha {sha}"),
    ]
    return [f"{out.dim(name.ljust(11))} {value}" for name, value in pairs if value]
