"""Changing what is stored: amend, supersede, restore; links; marks of verification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from dolmen.domain.access import decide, require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import (
    KINDS,
    SOURCE_LIMIT,
    TITLE_LIMIT,
    VERIFICATIONS,
    Case,
    Link,
    Memory,
    Verification,
)
from dolmen.domain.note import HEADED
from dolmen.domain.text import content_key
from dolmen.domain.values import SECOND, Actor
from dolmen.services import checking
from dolmen.services.bounds import require_room
from dolmen.services.code.following import renew
from dolmen.services.indexing import NOTHING, Embedded, embed
from dolmen.services.recording import audit, queue, reason_text, refuse_secrets, revise, sha, strings
from dolmen.services.remember import store_one, supersede
from dolmen.services.requests import Edit, Edited, EditOp, Linked, NewMemory, Outcome, Verified
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import existing, ref_id, refuse_block
from dolmen.store.contract import Tx

_OF_A_BLOCK = {"importance", "pinned", "case", "source"}
"""Fields that a block of a note has of its own; the others come from the note."""
EDITABLE = ("kind", "title", "folder", "tags", "importance", "pinned", "ttl_seconds", "case", "source")


def edit(rt: Runtime, actor: Actor, request: Edit) -> Edited:
    """Amends, supersedes or restores one memory; the state before it stays as a revision.

    Raises:
        DolmenError: `not-found`; `conflict` when `expected_sha` is stale (with the current text in `data`), when the
            new text is another memory's, or when nothing can be restored; `gone` for amending what is not served.
    """
    require(actor, "write")
    reason = reason_text(request.reason)
    content = None if request.content is None else checking.content_text(request.content)
    fields = checked_fields(request.fields)
    if request.op == "restore" and (content is not None or fields):
        raise DolmenError("invalid-argument", "restore takes no content or fields.", "Pass `version`, or nothing.")
    refuse_secrets(content or "", *strings(fields))
    notes = checking.replacements(request.content, dict(request.fields))
    texts = [content] if content is not None else []
    [embedded] = embed(rt.embedder, texts, rt.options.inline_embeddings) or [NOTHING]
    with rt.write(actor) as tx:
        memory = existing(tx, actor, request.ref)
        if request.op == "restore" or (request.op == "amend" and (content is not None or set(fields) - _OF_A_BLOCK)):
            refuse_block(tx, memory)
        _fresh(memory, request.expected_sha)
        _possible(memory, request.op, content)
        after = fields.get("kind", memory.kind)
        if request.op == "restore":
            target = earlier(tx, memory, request.version)
            request, after = replace(request, version=target.version), target.kind
        decision, because = decide(actor, memory.kind, after)
        if decision == "queue":
            done = _queued(tx, actor, request, memory, content, fields, reason, because)
        elif request.op == "restore":
            done = restore_in(tx, actor, memory, request.version, reason)
        elif request.op == "supersede":
            done = _supersede(rt, tx, actor, memory, content, fields, embedded)
        else:
            done = amend_in(tx, actor, memory, content, fields, reason, embedded)
        return replace(done, notes=notes)


def amend_in(
    tx: Tx,
    actor: Actor,
    memory: Memory,
    content: str | None,
    fields: Mapping[str, Any],
    reason: str = "",
    embedded: Embedded = NOTHING,
) -> Edited:
    """Changes text or fields of a memory that is served or proposed."""
    _possible(memory, "amend", content)
    changes = _changes(tx, fields)
    if content is not None:
        changes["text"] = content
    changes = {name: value for name, value in changes.items() if getattr(memory, name) != value}
    if not changes:
        return Edited("unchanged", memory.id, memory.version, sha(memory), memory=memory)
    changes |= _standing(actor, memory, changes)
    after = revise(tx, actor, memory, "amend", reason, embedded, **changes)
    audit(tx, actor, "edit:amend", memory.id)
    return Edited("updated", after.id, after.version, sha(after), memory=after)


def _standing(actor: Actor, memory: Memory, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Trust and the mark after a change: an agent's words are not the user's, and a mark was for the words it saw."""
    worded = bool({"text", "title"} & set(changes))
    standing: dict[str, Any] = {}
    if actor.human or worded:
        standing["trust"] = "user" if actor.human else "agent"
    if memory.verification in _MARKS and ("text" in changes or (worded and not actor.human)):
        standing |= {"verification": "accepted", "verified_by": ""}
    return standing


_MARKS = ("verified", "stale", "rejected")


def restore_in(tx: Tx, actor: Actor, memory: Memory, version: int | None, reason: str = "") -> Edited:
    """Goes back to an earlier version, as a new one; without a version, undoes the last change.

    An agent brings back no trust and no mark. What only waited for a person waits again, unless a person brings it
    back.
    """
    target = earlier(tx, memory, version)
    said = content_key(target.text)
    taken = tx.memories.by_content(actor.vault, target.scope, target.label, target.kind, said, memory.audience)
    if target.status in ("active", "proposed") and taken is not None and taken.id != memory.id:
        raise DolmenError(
            "conflict", f"Memory {taken.id} says the same now.", "Forget that one first, or leave this one as it is."
        )
    keep = {name: getattr(target, name) for name in _RESTORED}
    if not actor.human:
        changed = {name: value for name, value in keep.items() if getattr(memory, name) != value}
        now = {"trust": memory.trust, "verification": memory.verification, "verified_by": memory.verified_by}
        keep |= now | _standing(actor, memory, changed)
    waits = target.status == "proposed" and not _waiting(tx, memory)
    replaced = _to_replace(tx, memory) if waits else []
    if waits and (actor.human or memory.status == "active"):
        waits, keep["status"] = False, "active"
        if actor.human:
            keep |= {"trust": "user", "verification": "verified", "verified_by": actor.person}
    if memory.status == "deleted" and memory.connection == actor.connection:
        require_room(tx, actor, 0 if target.status == "deleted" else 1)
    after = revise(tx, actor, memory, "restore", reason, **keep)
    audit(tx, actor, "edit:restore", memory.id)
    done = Edited("updated", after.id, after.version, sha(after), memory=after)
    if not waits:
        for old in replaced if actor.human else []:
            supersede(tx, actor, old, after.id)
        return done
    because = "kind" if after.kind == "preference" else "mode"
    payload = {"supersedes": [old.id for old in replaced]}
    proposal = queue(tx, actor, "remember", because, after, payload, reason, targets=replaced)
    return replace(done, proposal=proposal.id, because=because)


def _waiting(tx: Tx, memory: Memory) -> bool:
    proposals = tx.proposals.for_memory(memory.vault, memory.id)
    return any(p.status == "pending" and p.op in ("remember", "handoff") for p in proposals)


def _to_replace(tx: Tx, memory: Memory) -> list[Memory]:
    """What is still active of that which the memory was to replace when its proposal was withdrawn with it."""
    proposals = tx.proposals.for_memory(memory.vault, memory.id)
    withdrawn = [p for p in proposals if p.status == "withdrawn" and p.op == "remember"]
    ids = list(withdrawn[-1].payload.get("supersedes", ())) if withdrawn else []
    return [old for old in tx.memories.many(memory.vault, ids).values() if old.status == "active"]


_RESTORED = (
    "scope", "kind", "label", "text", "status", "trust", "verification", "verified_by", "title", "folder", "tags",
    "importance", "pinned", "source", "case", "attrs", "expires_at", "supersedes", "superseded_by",
)  # fmt: skip


def earlier(tx: Tx, memory: Memory, version: int | None) -> Memory:
    """The state that a restore goes back to.

    Raises:
        DolmenError: `conflict` when nothing ever changed; `not-found` for an unknown version.
    """
    revisions = tx.memories.revisions(memory.vault, memory.id)
    if not revisions:
        raise DolmenError("conflict", f"Memory {memory.id} has never changed.", "There is nothing to restore.")
    if version is None:
        return revisions[-1].memory
    for revision in revisions:
        if revision.memory.version == version:
            return revision.memory
    known = ", ".join(str(r.memory.version) for r in revisions)
    raise DolmenError("not-found", f"Memory {memory.id} has no version {version}.", f"Choose one of {known}.")


def _supersede(
    rt: Runtime,
    tx: Tx,
    actor: Actor,
    memory: Memory,
    content: str | None,
    fields: Mapping[str, Any],
    embedded: Embedded,
) -> Edited:
    require_room(tx, actor)
    result = store_one(rt, tx, actor, successor(memory, content or "", fields), embedded, origin="edit:supersede")
    if result.memory is None or (result.outcome == "duplicate" and result.ref == memory.id):
        return Edited("unchanged", memory.id, memory.version, sha(memory), memory=memory)
    old = existing(tx, actor, memory.id)
    outcome: Outcome = "queued" if result.outcome == "proposed" else "updated"
    return Edited(
        outcome, old.id, old.version, sha(old), result.ref, result.proposal, result.because, memory=result.memory
    )


def successor(memory: Memory, content: str, fields: Mapping[str, Any]) -> NewMemory:
    """What replaces a memory: a new statement with the fields of the old one, but for those that are set."""
    changes = dict(fields)
    return NewMemory(
        content=content,
        kind=changes.get("kind", memory.kind),
        label=memory.label,
        project=memory.scope.removeprefix("project:"),
        title=changes.get("title", memory.title),
        folder=changes.get("folder", memory.folder),
        tags=changes.get("tags", memory.tags),
        importance=changes.get("importance", memory.importance),
        pinned=changes.get("pinned", memory.pinned),
        case=changes.get("case", memory.case),
        source=changes.get("source", ""),
        ttl_seconds=fields.get("ttl_seconds"),
        supersedes=(memory.id,),
    )


def _possible(memory: Memory, op: EditOp, content: str | None) -> None:
    if op == "supersede" and content is None:
        raise DolmenError("invalid-argument", "supersede needs content.", "Pass the statement that replaces this one.")
    if op == "amend" and memory.status not in ("active", "proposed"):
        raise DolmenError(
            "gone", f"Memory {memory.id} is {memory.status}.", "Restore it first (`edit` with op `restore`)."
        )


def _fresh(memory: Memory, expected: str | None) -> None:
    if expected is None or expected == sha(memory):
        return
    raise DolmenError(
        "conflict",
        f"Memory {memory.id} has changed since it was read (now version {memory.version}).",
        "Take the current text below into account and edit again with its sha.",
        sha=sha(memory),
        version=memory.version,
        current=memory.text,
    )


def checked_fields(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an edit, each in the form in which it is kept.

    Raises:
        DolmenError: `invalid-argument` naming an unknown field or a wrong value.
    """
    if unknown := sorted(set(fields) - set(EDITABLE)):
        raise DolmenError(
            "invalid-argument", f"Unknown field {unknown[0]!r}.", f"Fields that can be set: {', '.join(EDITABLE)}."
        )
    out: dict[str, Any] = {}
    for name, value in fields.items():
        try:
            out[name] = _checked(name, value)
        except (TypeError, ValueError, AttributeError, KeyError, OverflowError) as error:
            raise DolmenError("invalid-argument", f"{name}: {value!r} does not fit.", f"Correct {name}.") from error
    return out


def _checked(name: str, value: Any) -> Any:
    if name == "kind":
        if value not in KINDS:
            raise DolmenError("invalid-argument", f"There is no kind {value!r}.", f"Use one of {', '.join(KINDS)}.")
        return value
    if name == "tags":
        return checking.tag_names(tuple([value] if isinstance(value, str) else value))
    if name == "importance":
        return checking.importance(float(value))
    if name == "ttl_seconds":
        return None if value is None else checking.ttl(int(value))
    if name == "pinned":
        if not isinstance(value, bool):
            raise TypeError("neither true nor false")
        return value
    if name == "case":
        return None if value is None else checking.case_fields(value if isinstance(value, Case) else Case(**value))
    if name == "folder":
        return checking.folder_path(str(value or ""))
    limit = {"title": TITLE_LIMIT, "source": SOURCE_LIMIT}[name]
    return checking.short_text(str(value or ""), name, limit)


def _changes(tx: Tx, fields: Mapping[str, Any]) -> dict[str, Any]:
    changes = dict(fields)
    if "ttl_seconds" in changes:
        seconds = changes.pop("ttl_seconds")
        changes["expires_at"] = None if seconds is None else tx.now + seconds * SECOND
    return changes


def _queued(
    tx: Tx,
    actor: Actor,
    request: Edit,
    memory: Memory,
    content: str | None,
    fields: Mapping[str, Any],
    reason: str,
    because: str,
) -> Edited:
    plain = {k: asdict(v) if isinstance(v, Case) else list(v) if isinstance(v, tuple) else v for k, v in fields.items()}
    payload = {"content": content, "fields": plain, "version": request.version}
    proposal = queue(tx, actor, request.op, because, memory, payload, reason)
    return Edited("queued", memory.id, memory.version, sha(memory), proposal=proposal.id, because=because)


# ----------------------------------------------------------------------------------------------------------------- link
def link(rt: Runtime, actor: Actor, source: str, rel: str, to: str, weight: float = 1.0) -> Linked:
    """Adds a typed edge; the same edge twice answers `unchanged` (C-120). The target may not exist yet."""
    require(actor, "write")
    rel, weight = checking.relation(rel), checking.weight(weight)
    target = ref_id(checking.target(to))
    refuse_secrets(target)
    with rt.write(actor) as tx:
        memory = existing(tx, actor, source)
        if target == memory.id:
            raise DolmenError("invalid-argument", "A memory is not linked to itself.", "Name another memory in `to`.")
        resolved = tx.memories.get(actor.vault, target) is not None
        decision, because = decide(actor)
        if decision == "queue":
            proposal = queue(tx, actor, "link", because, memory, {"rel": rel, "to": target, "weight": weight})
            return Linked("queued", memory.id, rel, target, resolved, proposal.id, because)
        new = tx.links.add(actor.vault, Link(memory.id, rel, target, weight, tx.now, actor.agent))
        if new:
            audit(tx, actor, "link", memory.id)
        return Linked("stored" if new else "unchanged", memory.id, rel, target, resolved)


# --------------------------------------------------------------------------------------------------------------- verify
def verify(rt: Runtime, actor: Actor, refs: Sequence[str], state: str, note: str = "") -> Verified:
    """Marks what somebody checked; never changes the text. Refs that are not here are named in the answer."""
    require(actor, "write")
    if state not in VERIFICATIONS:
        raise DolmenError("invalid-argument", f"No state {state!r}.", f"Use one of {', '.join(VERIFICATIONS)}.")
    if not refs:
        raise DolmenError("invalid-argument", "There is nothing to verify.", "Pass at least one ref.")
    mark: Verification = next(v for v in VERIFICATIONS if v == state)
    refs, note = checking.refs(refs), reason_text(note)
    with rt.write(actor) as tx:
        found = tx.memories.many(actor.vault, [ref_id(ref) for ref in refs])
        missing = tuple(ref for ref in refs if ref_id(ref) not in found)
        if not found:
            raise DolmenError("not-found", "None of the refs is here.", "Recall to find them again.")
        free = [m for m in found.values() if decide(actor, m.kind)[0] == "apply"]
        marked = verify_in(tx, actor, free, mark, note) if free else ()
        waiting = [m for m in found.values() if m not in free]
        if not waiting:
            return Verified(mark, marked, missing)
        because = decide(actor, waiting[0].kind)[1]
        payload = {"state": mark, "refs": [m.id for m in waiting]}
        proposal = queue(tx, actor, "verify", because, waiting[0], payload, note, waiting)
        return Verified(mark, marked, missing, proposal.id, because)


def verify_in(tx: Tx, actor: Actor, memories: Sequence[Memory], mark: Verification, note: str = "") -> tuple[str, ...]:
    """Marks memories in the caller's transaction; a person's mark makes them trusted as the user's."""
    for memory in memories:
        changes: dict[str, Any] = {"verification": mark, "verified_by": actor.person if actor.human else actor.agent}
        if actor.human and mark == "verified":
            changes["trust"] = "user"
            if memory.note:
                changes["attrs"] = {**memory.attrs, HEADED: True}
        if any(getattr(memory, name) != value for name, value in changes.items()):
            revise(tx, actor, memory, "verify", note, **changes)
        if mark == "verified":
            renew(tx, memory)
    audit(tx, actor, "verify", ",".join(m.id for m in memories)[:400])
    return tuple(m.id for m in memories)
