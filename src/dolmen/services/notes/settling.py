"""From a draft to rows: the note, and the memories that its blocks are. Unchanged blocks keep theirs untouched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dolmen.domain.memory import DEFAULT_IMPORTANCE, Kind, Link, Memory, Status, Trust
from dolmen.domain.note import HEADED, Note, key, memory_id, target_name
from dolmen.domain.text import content_key
from dolmen.domain.values import Actor
from dolmen.services.code.following import follow, record
from dolmen.services.indexing import NOTHING, Embedded, index_all, reindex
from dolmen.services.notes.drafting import Draft, Statement
from dolmen.services.recording import revise
from dolmen.store.contract import Tx

_TOGETHER = 500
_MARKS = ("verified", "stale", "rejected")


def _trust(actor: Actor) -> Trust:
    """How far the words of an actor are trusted."""
    if actor.outside:
        return "external"
    return "user" if actor.human else "agent"


@dataclass(slots=True)
class Settled:
    """Ids of the blocks that came, were reworded, and went."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)


def standing_of(tx: Tx, note: Note) -> dict[str, Memory]:
    """The memories of the blocks that a note has, by block."""
    return {m.block: m for m in tx.memories.blocks(note.vault, note.id) if m.status != "deleted"}


def kinds_of(standing: Mapping[str, Memory], draft: Draft) -> tuple[Kind, ...]:
    """The kinds of everything that the draft makes or changes, before it and after it; not of what it takes away."""
    kinds: dict[Kind, None] = {}
    for id, statement in draft.statements.items():
        memory = standing.get(draft.reworded.get(id, id))
        if memory is None:
            kinds[statement.kind] = None
        elif id in draft.reworded or memory.kind != statement.kind:
            kinds |= {memory.kind: None, statement.kind: None}
    return tuple(kinds)


def settle(
    tx: Tx,
    actor: Actor,
    draft: Draft,
    standing: Mapping[str, Memory],
    op: str,
    reason: str = "",
    vectors: Mapping[str, Embedded] | None = None,
    agreed: Mapping[str, Any] | None = None,
    *,
    revive: bool = False,
) -> Settled:
    """Makes the memories of a note say what its blocks say.

    Args:
        standing: what its blocks were until now.
        agreed: fields of new and changed memories when a person agreed to a proposal.
        revive: the note was superseded and holds again, with all its claims.
    """
    note, done = draft.note, Settled()
    work = _Settling(tx, actor, draft, vectors or {}, dict(agreed or {}), revive)
    if note.status == "deleted":
        wanted: Mapping[str, Statement] = {}
    else:
        wanted = draft.statements
    staying = {draft.reworded.get(id, id) for id in wanted}
    for id, memory in standing.items():
        if id not in staying:
            work.remove(memory, op, reason)
            done.removed.append(id)
    past = _past(tx, note, wanted, standing, draft)
    for id, statement in wanted.items():
        before = standing.get(draft.reworded.get(id, id))
        if before is not None:
            if work.keep(before, statement, op, reason):
                done.changed.append(id)
        else:
            work.add(statement, past.get(id), op, reason)
            done.added.append(id)
    work.flush()
    return done


def _past(
    tx: Tx, note: Note, wanted: Mapping[str, Statement], standing: Mapping[str, Memory], draft: Draft
) -> dict[str, Memory]:
    """Blocks that the note had and that come back; a new note has none."""
    if note.version == 1 or all(draft.reworded.get(id, id) in standing for id in wanted):
        return {}
    return {m.block: m for m in tx.memories.blocks(note.vault, note.id) if m.status == "deleted"}


@dataclass(slots=True)
class _Settling:
    tx: Tx
    actor: Actor
    draft: Draft
    vectors: Mapping[str, Embedded]
    agreed: dict[str, Any]
    revive: bool
    new: list[tuple[Memory, Statement]] = field(default_factory=list)

    def remove(self, memory: Memory, op: str, reason: str) -> None:
        attrs = {**memory.attrs, "forgotten_by": self.actor.agent, "forget_reason": reason}
        revise(self.tx, self.actor, memory, op, reason, status="deleted", attrs=attrs)

    def keep(self, memory: Memory, statement: Statement, op: str, reason: str) -> bool:
        """The block stays or is reworded; whether its words or its standing changed."""
        fields = self._fields(memory, statement)
        status = self._status()
        if memory.status == "superseded" and not self.revive:
            status = memory.status  # a claim that was superseded by itself stays so
        vouched = self.actor.outside and memory.kind != statement.kind
        if statement.text == memory.text and status == memory.status and not vouched:
            self._place(memory, memory.with_(**fields))
            return False
        changes = fields | {"text": statement.text, "status": status}
        if statement.text != memory.text:
            changes |= self._standing(memory, reworded=content_key(statement.text) != content_key(memory.text))
        if vouched:  # what was a fact when a person stood behind it may be a preference now
            changes |= {"trust": "external"}
        after = revise(self.tx, self.actor, memory, op, reason, self._vector(statement), **changes)
        self._link(after, statement)
        return True

    def add(self, statement: Statement, past: Memory | None, op: str, reason: str) -> None:
        tx, note = self.tx, self.draft.note
        if past is not None:
            fields = self._fields(past, statement) | {"text": statement.text, "status": self._status()}
            attrs = {k: v for k, v in fields["attrs"].items() if k not in ("forgotten_by", "forget_reason")}
            fields |= {"attrs": attrs} | self._standing(past, reworded=_trust(self.actor) != "user")
            after = revise(tx, self.actor, past, op, reason, self._vector(statement), **fields)
            self._link(after, statement)
            return
        memory = Memory(
            id=tx.new_id(),
            vault=note.vault,
            scope=note.scope,
            audience=note.audience,
            kind=statement.kind,
            text=statement.text,
            status=self._status(),
            trust=_trust(self.actor),
            label=statement.label,
            title=statement.title,
            folder=note.folder,
            tags=statement.tags,
            importance=DEFAULT_IMPORTANCE[statement.kind],
            agent=self.actor.agent,
            person=self.actor.person,
            connection=self.actor.connection,
            session=self.actor.session or "",
            attrs=self._attrs({}, statement, None),
            created_at=min(note.created_at, tx.now) if note.version == 1 else tx.now,
            updated_at=tx.now,
            note=note.id,
            block=statement.block,
        ).with_(**self.agreed)
        self.new.append((memory, statement))

    def flush(self) -> None:
        """Writes the new memories, many at once: a long note has thousands."""
        for start in range(0, len(self.new), _TOGETHER):
            some = self.new[start : start + _TOGETHER]
            self.tx.memories.add_blocks([(memory, content_key(memory.text)) for memory, _ in some])
            index_all(self.tx, [(memory, self._vector(statement)) for memory, statement in some])
            for memory, statement in some:
                record(self.tx, memory)
                self._link(memory, statement)

    def _place(self, before: Memory, after: Memory) -> None:
        """What a block inherits from its note follows without a revision of its own."""
        if before == after:
            return
        self.tx.memories.place(before, after, content_key(after.text))
        reindex(self.tx, before, after, NOTHING)
        if before.kind != after.kind:
            follow(self.tx, before, after, "edit")

    def _fields(self, memory: Memory, statement: Statement) -> dict[str, Any]:
        fields: dict[str, Any] = {
            "title": statement.title,
            "folder": self.draft.note.folder,
            "scope": self.draft.note.scope,
            "audience": self.draft.note.audience,
            "tags": statement.tags,
            "kind": statement.kind,
            "label": statement.label,
            "block": statement.block,
            "attrs": self._attrs(memory.attrs, statement, memory.title),
        }
        if memory.kind != statement.kind and memory.importance == DEFAULT_IMPORTANCE[memory.kind]:
            fields["importance"] = DEFAULT_IMPORTANCE[statement.kind]
        return fields

    def _attrs(self, attrs: Mapping[str, Any], statement: Statement, before: str | None) -> dict[str, Any]:
        """`before`: the title and headings that the block had, None for a new one."""
        kept = {name: value for name, value in attrs.items() if name != HEADED}
        headed = attrs.get(HEADED, False) if before == statement.title else _trust(self.actor) == "user"
        said = {"permalink": self.draft.note.permalink, "heading": statement.heading}
        return kept | said | ({HEADED: True} if headed else {})

    def _status(self) -> Status:
        return "superseded" if self.draft.note.status == "superseded" else "active"

    def _standing(self, memory: Memory, *, reworded: bool) -> dict[str, Any]:
        """An agent's words are not the user's, and a mark was for the words that somebody saw."""
        if self.agreed:
            return self.agreed
        changes: dict[str, Any] = {"trust": _trust(self.actor)} if reworded else {}
        if reworded and memory.verification in _MARKS:
            changes |= {"verification": "accepted", "verified_by": ""}
        return changes

    def _vector(self, statement: Statement) -> Embedded:
        return self.vectors.get(statement.block, NOTHING)

    def _link(self, memory: Memory, statement: Statement) -> None:
        """The edges that the words of the block make, and no others of its own."""
        tx = self.tx
        wanted = {(rel, link_target(target)) for rel, target in statement.links}
        here: set[tuple[str, str]] = set()
        if memory.version > 1:
            edges = tx.links.around(memory.vault, [memory.id])
            here = {(edge.rel, edge.target) for edge in edges if edge.source == memory.id}
        for rel, target in sorted(here - wanted):
            tx.links.remove(memory.vault, memory.id, rel, target)
        for rel, target in sorted(wanted - here):
            tx.links.add(memory.vault, Link(memory.id, rel, target, 1.0, tx.now, self.actor.agent))


def link_target(name: str) -> str:
    """How an edge names what it leads to: the id of a memory, else a note's name without regard to case."""
    name = target_name(name)
    return (memory_id(name) if name.startswith("memory/") else "") or key(name)
