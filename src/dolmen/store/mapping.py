"""Rows and dataclasses: the one place that knows which column holds which field of a memory, and how."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from dolmen.domain.memory import Case, Memory
from dolmen.store.session import Row, Value
from dolmen.store.sql import Query, queries

COLUMNS = (
    "scope_id",
    "kind",
    "label",
    "status",
    "trust",
    "verification",
    "folder",
    "tags",
    "importance",
    "pinned",
    "agent",
    "person",
    "connection",
    "session",
    "case_id",
    "created_at",
    "updated_at",
    "expires_at",
    "supersedes",
    "superseded_by",
    "verified_by",
    "note_id",
    "block",
    "title",
    "source",
    "case_fields",
    "attrs",
    "text",
)
"""What the memory and revision tables have alike, in the order of every SELECT (after the id)."""


def columns(alias: str = "") -> str:
    """The list for SELECT and INSERT, each column with the table's alias in front."""
    return ", ".join(f"{alias}.{name}" if alias else name for name in COLUMNS)


VALUES = ", ".join(f":{name}" for name in COLUMNS)
ASSIGNMENTS = ", ".join(f"{name} = :{name}" for name in COLUMNS)


@cache
def filled(file: str) -> Mapping[str, Query]:
    """The queries of a file with the lists of columns in place."""
    pieces = {
        "columns": columns(),
        "m_columns": columns("m"),
        "r_columns": columns("r"),
        "values": VALUES,
        "assignments": ASSIGNMENTS,
    }
    return {name: query.fill(**pieces) for name, query in queries(file).items()}


def dump(value: object) -> str:
    """JSON text, the same for the same value. Raises ValueError for what JSON cannot say (NaN, infinity)."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def element(tag: str) -> str:
    """A tag as an element of the stored JSON list: no comma stands inside, so `,"…"` finds exactly this element."""
    return dump(tag).replace(",", "\\u002c")


def params(memory: Memory, scope_id: int) -> dict[str, Value]:
    """The parameters for `VALUES` and `ASSIGNMENTS`, with `vault`, `id` and `version`."""
    case = memory.case
    return {
        "vault": memory.vault,
        "id": memory.id,
        "version": memory.version,
        "scope_id": scope_id,
        "kind": memory.kind,
        "label": memory.label,
        "status": memory.status,
        "trust": memory.trust,
        "verification": memory.verification,
        "folder": memory.folder,
        "tags": "[" + ",".join(element(tag) for tag in memory.tags) + "]",
        "importance": memory.importance,
        "pinned": int(memory.pinned),
        "agent": memory.agent,
        "person": memory.person,
        "connection": memory.connection,
        "session": memory.session,
        "case_id": None if case is None else case.id,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "expires_at": memory.expires_at,
        "supersedes": memory.supersedes,
        "superseded_by": memory.superseded_by,
        "verified_by": memory.verified_by,
        "note_id": memory.note,
        "block": memory.block,
        "title": memory.title,
        "source": memory.source,
        "case_fields": None if case is None else dump([case.goal, case.outcome, case.resolution, case.phase]),
        "attrs": dump(memory.attrs),
        "text": memory.text,
    }


def memory(vault: str, row: Row, scope: Callable[[int], tuple[str, str]]) -> Memory:
    """The memory of a row (version, id, *COLUMNS); `scope` gives name and audience of a scope by its number."""
    # fmt: off
    (version, id, scope_id, kind, label, status, trust, verification, folder, tags, importance, pinned, agent, person,
     connection, session, case_id, created_at, updated_at, expires_at, supersedes, superseded_by, verified_by, note,
     block, title, source, case_fields, attrs, text) = row
    # fmt: on
    name, audience = scope(scope_id)
    return Memory(
        id=id,
        vault=vault,
        scope=name,
        audience=audience,
        kind=kind,
        text=text,
        status=status,
        trust=trust,
        verification=verification,
        label=label,
        title=title,
        folder=folder,
        tags=() if tags == "[]" else tuple(json.loads(tags)),
        importance=importance,
        pinned=bool(pinned),
        agent=agent,
        person=person,
        connection=connection,
        session=session,
        source=source,
        case=None if case_id is None else Case(case_id, *json.loads(case_fields)),
        attrs=_object(attrs),
        created_at=created_at,
        updated_at=updated_at,
        expires_at=expires_at,
        supersedes=supersedes,
        superseded_by=superseded_by,
        verified_by=verified_by,
        note=note,
        block=block,
        version=version,
    )


def _object(text: str) -> Mapping[str, Any]:
    if text == "{}":
        return {}
    found: dict[str, Any] = json.loads(text)
    return found


def strings(text: str) -> tuple[str, ...]:
    """A stored JSON list of strings."""
    return () if text == "[]" else tuple(json.loads(text))
