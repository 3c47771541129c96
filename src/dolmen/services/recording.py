"""Small steps that every write shares: who changed it, the audit row, a queued proposal."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

from dolmen.domain.audience import OPEN
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import REASON_LIMIT, Memory
from dolmen.domain.note import Note
from dolmen.domain.proposal import Proposal, ProposalOp
from dolmen.domain.secrets import find, redact
from dolmen.domain.text import clean, content_key
from dolmen.domain.values import Actor, Change
from dolmen.services.code.following import follow
from dolmen.services.indexing import NOTHING, Embedded, reindex
from dolmen.store.contract import AuditEntry, Tx


def change(tx: Tx, actor: Actor, op: str, reason: str = "") -> Change:
    """Who changes a thing now, and why."""
    return Change(tx.now, op, actor.agent, actor.person, actor.connection, reason)


def audit(tx: Tx, actor: Actor, op: str, detail: str = "") -> None:
    """One row for a write that succeeded, in the write's own transaction (C-359)."""
    who = (actor.vault, tx.now, actor.connection, actor.agent)
    tx.journal.audit([AuditEntry(tx.new_id(), *who, op, detail, actor.origin)])


def sha(memory: Memory) -> str:
    """The version token of a memory: changes whenever anything that an edit can set changes."""
    state = (memory.id, memory.version, memory.status, memory.text)
    return hashlib.sha256("\x1f".join(map(str, state)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def revise(
    tx: Tx, actor: Actor, before: Memory, op: str, reason: str = "", embedded: Embedded = NOTHING, **changes: Any
) -> Memory:
    """Changes a memory: the new state, the revision of the old one, the index and what it refers to, in one step."""
    after = before.with_(**changes, version=before.version + 1, updated_at=tx.now)
    tx.memories.update(before, after, change(tx, actor, op, reason), content_key(after.text))
    reindex(tx, before, after, embedded)
    return follow(tx, before, after, op)


def queue(
    tx: Tx,
    actor: Actor,
    op: ProposalOp,
    because: str,
    memory: Memory | None,
    payload: Mapping[str, Any],
    reason: str = "",
    targets: Sequence[Memory] = (),
    note: Note | None = None,
    audience: str | None = None,
) -> Proposal:
    """Keeps a write for a person to decide, with the version of everything it touches as the writer saw it.

    Args:
        memory: what it is about; the first one of several.
        targets: all that it touches, when that is more than `memory`.
        note: the note that it is about, as the writer saw it.
        audience: who may see it, when it is about nothing that is here.
    """
    if audience is None:
        touched: list[Memory | Note] = [*([memory] if memory else []), *targets, *([note] if note else [])]
        audience = next((each.audience for each in touched if each.audience), OPEN)
    seen = {m.id: m.version for m in (*([memory] if memory else []), *targets)}
    proposal = Proposal(
        id=tx.new_id(),
        vault=actor.vault,
        op=op,
        memory=memory.id if memory else None,
        base_version=memory.version if memory else note.version if note else None,
        payload={**payload, "versions": seen},
        reason=reason,
        because=because,
        agent=actor.agent,
        person=actor.person,
        connection=actor.connection,
        created_at=tx.now,
        note=note.id if note else None,
        audience=audience,
    )
    tx.proposals.add(proposal)
    audit(tx, actor, f"propose:{op}", proposal.id)
    return proposal


def refuse_secrets(*texts: str) -> None:
    """Refuses text that holds a credential; names its kind and its line, never its value (C-300)."""
    places: dict[str, str] = {}
    for text in texts:
        for found in find(text) if text else ():
            line = f", line {text.count(chr(10), 0, found.start) + 1}" if "\n" in text.strip() else ""
            places.setdefault(found.kind, found.kind + line)
    if kinds := sorted(places):
        raise DolmenError(
            "secret-detected",
            f"The text holds a secret ({'; '.join(places[kind] for kind in kinds)}); it was not stored.",
            "Say where the secret is kept instead of the secret itself, and try again.",
            kinds=kinds,
        )


def strings(value: object) -> Iterator[str]:
    """Every string in a value, however deep: of a dataclass, a mapping, a list."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from strings(key)
            yield from strings(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from strings(item)
    elif is_dataclass(value):
        for field in fields(value):
            yield from strings(getattr(value, field.name))


def reason_text(reason: str) -> str:
    """A reason as it is kept: secrets redacted, cut at its limit (C-300, C-124).

    Raises:
        DolmenError: `too-large` when it is so long that looking through it would take long.
    """
    if len(reason) > 4 * REASON_LIMIT:
        raise DolmenError(
            "too-large", f"The reason or note has {len(reason)} characters.", f"Use at most {REASON_LIMIT}."
        )
    return redact(clean(reason)[0])[0][:REASON_LIMIT]
