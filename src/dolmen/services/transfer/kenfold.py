"""Kenfold's archive (`kenfold export`, format `kenfold-archive/1`) as lines of this format.

Ids, times, history and everything that has no field here stay: the latter under `kenfold` among the attributes. A
memory that waits for the user gets a proposal, so that `dolmen review` shows it. The archive names what a memory
replaces, not what replaced it, so it is read whole before its first line is given on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import scope_of
from dolmen.domain.memory import DEFAULT_IMPORTANCE, HANDOFF, STATUSES, SUMMARY, Kind
from dolmen.services.transfer.lines import MISSING, Reader, bad

FORMAT = "kenfold-archive/1"

Line = dict[str, Any]
Numbered = tuple[int, Any]

_KINDS: Mapping[str, Kind] = {
    "semantic": "fact",
    "episodic": "episode",
    "project": "decision",
    "preference": "preference",
    "codebase": "code",
    "temporary": "state",
}
_PROPOSALS = UUID("0193a3f0-6b5c-7000-8000-6b656e666f6c")
"""Names the proposals of imported memories, so that a second import finds those of the first."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_archive(header: object) -> bool:
    """Whether the first line of a file is that of a Kenfold archive of a version that can be read."""
    return isinstance(header, dict) and header.get("format") == FORMAT


def translated(archive: Iterable[Numbered]) -> Iterator[Numbered]:
    """The lines after the header as (line number, line of this format, or the error that refuses it)."""
    records = list(archive)
    replaced_by = _replaced_by(records)
    there: Counter[str] = Counter()
    made: Counter[str] = Counter()
    for number, record in records:
        if isinstance(record, DolmenError):
            yield number, record
            continue
        try:
            what, lines = _lines(record, replaced_by, there, made)
        except DolmenError as error:
            yield number, error
            continue
        there[what] += 1
        for line in lines:
            made[line["type"]] += 1
            yield number, line


def _replaced_by(records: Iterable[Numbered]) -> dict[str, str]:
    """What replaced each memory, by its id: the memory that names it and does not only wait for the user."""
    found: dict[str, str] = {}
    for _, record in records:
        memory = record.get("memory") if isinstance(record, dict) else None
        if isinstance(memory, dict) and memory.get("status") != "proposed":
            old, new = memory.get("supersedes"), memory.get("id")
            if isinstance(old, str) and isinstance(new, str):
                found[old.lower()] = new.lower()
    return found


def _lines(
    record: object, replaced_by: Mapping[str, str], there: Counter[str], made: Counter[str]
) -> tuple[str, list[Line]]:
    """What a record is, and the lines that say it here."""
    if not isinstance(record, dict) or len(record) != 1:
        raise bad("The line is no record of a Kenfold archive.")
    [(what, value)] = record.items()
    match what:
        case "memory":
            return what, _memory(value, replaced_by)
        case "edge":
            return what, [_link(value)]
        case "ref":
            return what, [_code_ref(value)]
        case "end":
            return what, [_end(value, there, made)]
    raise bad(f"There is no record {str(what)[:40]!r} in a Kenfold archive.")


def _memory(value: object, replaced_by: Mapping[str, str]) -> list[Line]:
    read = Reader(value, "memory")
    id, type = read.id("id"), read.choice("type", tuple(_KINDS))
    scope = read.text("scope", MISSING)
    status = read.choice("status", STATUSES)
    supersedes = read.maybe_id("supersedes")
    attrs = _attrs(read.object("attrs"))
    kind, label = _KINDS[type], SUMMARY if type == "episodic" else HANDOFF if attrs.get("kind") == HANDOFF else ""
    line = {
        "type": "memory",
        "id": id,
        "scope": _scope(scope),
        "kind": kind,
        "label": label,
        "text": read.text("content", MISSING),
        "status": status,
        "trust": read.text("trust", MISSING),
        "importance": DEFAULT_IMPORTANCE[kind],
        "agent": read.text("source_agent", MISSING),
        "session": read.maybe_text("source_session") or "",
        "source": read.maybe_text("evidence_uri") or "",
        "created_at": _time(read, "created_at"),
        "updated_at": _time(read, "updated_at"),
        "expires_at": _maybe_time(read, "expires_at"),
        "supersedes": supersedes,
        "superseded_by": replaced_by.get(id) if status == "superseded" else None,
    }
    kept = {
        "confidence": read.share("confidence", 0.5),
        "valid_from": read.maybe_text("valid_from"),
        "valid_to": read.maybe_text("valid_to"),
        "scope": None if line["scope"] == scope else scope,
    }
    read.end()
    if type == "temporary" and line["expires_at"] is None:
        raise bad("A temporary memory has no expires_at.")
    kept = {name: item for name, item in kept.items() if item is not None and (name, item) != ("confidence", 0.5)}
    line["attrs"] = {**attrs, "kenfold": kept} if kept else attrs
    return [line, _proposal(line)] if status == "proposed" else [line]


def _attrs(attrs: Mapping[str, Any]) -> Line:
    """With the time of a handoff's resumption as it is counted here."""
    at = attrs.get("resumed_at")
    return {**attrs, "resumed_at": _micro(at, "resumed_at")} if isinstance(at, str) else dict(attrs)


def _proposal(memory: Line) -> Line:
    older = [memory["supersedes"]] if memory["supersedes"] else []
    return {
        "type": "proposal",
        "id": str(uuid5(_PROPOSALS, memory["id"])),
        "op": "remember",
        "memory": memory["id"],
        "base_version": 1,
        "payload": {"supersedes": older, "versions": {memory["id"]: 1}},
        "because": "kind" if memory["kind"] == "preference" else "import",
        "status": "pending",
        "agent": memory["agent"],
        "created_at": memory["created_at"],
    }


def _link(value: object) -> Line:
    read = Reader(value, "edge")
    line = {
        "type": "link",
        "source": read.id("src"),
        "rel": read.text("relation", MISSING),
        "target": read.id("dst"),
        "weight": read.share("weight", 1.0),
        "created_at": _time(read, "created_at"),
        "agent": read.text("source_agent"),
    }
    read.end()
    return line


def _code_ref(value: object) -> Line:
    read = Reader(value, "reference")
    read.text("scope")  # that of its memory
    line = {
        "type": "code_ref",
        "memory": read.id("memory_id"),
        "path": read.text("path"),
        "symbol": read.text("symbol"),
        "state": read.text("state", MISSING),
        "resolved_path": read.maybe_text("resolved_path") or "",
        "anchor_hash": _hash(read.maybe_text("anchor_hash") or ""),
        "anchor_commit": read.maybe_text("anchor_commit") or "",
        "checked_commit": read.maybe_text("checked_commit") or "",
        "checked_at": _maybe_time(read, "checked_at"),
    }
    _time(read, "created_at")
    read.end()
    return line


def _hash(hash: str) -> str:
    """A symbol's hash under a scheme of its own: it is made of other text than ours, and must not be compared."""
    return f"kenfold-{hash}" if hash.startswith("sym:") else hash


def _end(value: object, there: Counter[str], made: Counter[str]) -> Line:
    """The last line; its counts are ours when Kenfold's agree with what was there."""
    read = Reader(value, "end")
    counted = {"memory": read.whole("memories"), "edge": read.whole("edges"), "ref": read.whole("refs")}
    read.end()
    agree = counted == {name: there[name] for name in counted}
    return {"type": "end", "counts": dict(made) if agree else counted}


def _scope(scope: str) -> str:
    """`project:<identity>` as it is spelled here; `repo:` was Kenfold's earlier word for it."""
    for prefix in ("project:", "repo:"):
        if scope.startswith(prefix) and scope != prefix:
            return scope_of(scope.removeprefix(prefix))
    return scope


def _time(read: Reader, name: str) -> int:
    return _micro(read.text(name, MISSING), name)


def _maybe_time(read: Reader, name: str) -> int | None:
    value = read.maybe_text(name)
    return None if value is None else _micro(value, name)


def _micro(value: str, name: str) -> int:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise bad(f"{name} is no time: {value[:40]!r}.") from None
    if moment.tzinfo is None:
        raise bad(f"{name} has no zone: {value[:40]!r}.")
    return max(0, (moment - _EPOCH) // timedelta(microseconds=1))
