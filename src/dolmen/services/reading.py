"""Reading one memory, and looking around without a question."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import fields

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory, Revision
from dolmen.domain.note import address
from dolmen.domain.sections import section as section_of
from dolmen.domain.values import Actor
from dolmen.services.code.views import refs_of
from dolmen.services.recording import sha
from dolmen.services.requests import Browse, Entry, HistoryEntry, Listing, ReadResult, View
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import existing, visible
from dolmen.store.contract import Filter, NoteOrder, Tx

_NAME = 80
_NOTES = "note:"
"""In front of the cursor of a page that ended among the notes."""
_BORING = frozenset({"version", "updated_at", "text", "attrs", "verified_by", "superseded_by"})


def read(rt: Runtime, actor: Actor, ref: str, view: View = "content", section: str | None = None) -> ReadResult:
    """One memory, whole: its text (or the part under a heading), its history, or its links.

    Raises:
        DolmenError: `not-found`; `gone` when it was forgotten and the reader is an agent.
    """
    require(actor, "read")
    with rt.read(actor) as tx:
        memory = existing(tx, actor, ref)
        if memory.status == "deleted" and not actor.human:
            raise DolmenError(
                "gone", f"Memory {memory.id} was forgotten.", "`edit` with op `restore` brings it back, if you must."
            )
        waiting = tuple(p.id for p in tx.proposals.for_memory(actor.vault, memory.id) if p.status == "pending")
        refs = refs_of(tx, actor.vault, [memory.id]).get(memory.id, ())
        result = ReadResult(memory, sha(memory), view, text=_text(memory, section), proposals=waiting, code_refs=refs)
        if view == "history":
            revisions = tx.memories.revisions(actor.vault, memory.id)
            return ReadResult(
                memory, sha(memory), view, _text(memory, section), history(memory, revisions), (), waiting,
                tuple(revisions), refs,
            )  # fmt: skip
        if view == "links":
            edges = tuple(tx.links.around(actor.vault, [memory.id]))
            return ReadResult(memory, sha(memory), view, _text(memory, section), (), edges, waiting, (), refs)
        return result


def _text(memory: Memory, heading: str | None) -> str:
    if not heading:
        return memory.text
    part = section_of(memory.text, heading)
    if part is None:
        raise DolmenError("not-found", f"There is no heading {heading!r}.", "Read it without `section`.")
    return part


def history(memory: Memory, revisions: Sequence[Revision]) -> tuple[HistoryEntry, ...]:
    """What happened to a memory, oldest first: its creation, then each change with what it changed."""
    states = [r.memory for r in revisions] + [memory]
    first = states[0]
    entries = [HistoryEntry(first.version, "create", first.created_at, first.agent, "")]
    for revision, before, after in zip(revisions, states, states[1:], strict=False):
        entries.append(
            HistoryEntry(
                after.version, revision.op, revision.at, revision.agent, revision.reason, text_diff(before, after),
                changed_fields(before, after),
            )
        )  # fmt: skip
    return tuple(entries)


def text_diff(before: Memory | None, after: Memory | str, around: int = 2) -> str:
    """Unified diff of two texts with so many equal lines around, without file headers; empty when they are equal."""
    old = [] if before is None else before.text.splitlines()
    new = (after if isinstance(after, str) else after.text).splitlines()
    return "\n".join(list(difflib.unified_diff(old, new, lineterm="", n=around))[2:])


def changed_fields(before: Memory, after: Memory) -> tuple[str, ...]:
    """Names of the fields other than the text that differ."""
    names = [f.name for f in fields(Memory) if f.name not in _BORING]
    return tuple(name for name in names if getattr(before, name) != getattr(after, name))


# --------------------------------------------------------------------------------------------------------------- browse
def browse(rt: Runtime, actor: Actor, request: Browse) -> Listing:
    """Scopes, folders and titles, never texts; paged. `queued` lists what this connection queued."""
    require(actor, "read")
    with rt.read(actor) as tx:
        if request.queued:
            return _queued(tx, actor, request)
        sight = visible(tx, actor, request.project, folder=request.path, note="")
        notes = visible(tx, actor, request.project, folder=request.path)
        entries: list[Entry] = []
        if request.changed_since is None and request.cursor is None:
            if request.path is None:
                counts = tx.memories.count(Filter(actor.vault, None, tx.now), "scope")
                entries += [Entry("scope", name, count=n) for name, n in sorted(counts.items())]
            entries += _folders(tx, sight, notes, request)
        lines, cursor = _lines(tx, sight, notes, request)
        return Listing((*entries, *lines), cursor, truncated=cursor is not None)


def _lines(tx: Tx, sight: Filter, notes: Filter, request: Browse) -> tuple[list[Entry], str | None]:
    """A page of notes, then of memories that are no blocks; the cursor says which of the two goes on."""
    limit, since = request.limit, request.changed_since
    entries: list[Entry] = []
    after = request.cursor
    if after is None or after.startswith(_NOTES):
        order: NoteOrder = "address" if since is None else "changed"
        mark = after.removeprefix(_NOTES) if after else None
        found = [n for n in tx.notes.select(notes, order, limit + 1, mark) if since is None or n.updated_at >= since]
        entries = [Entry("note", n.title, address(n.permalink), kind=n.label, at=n.updated_at) for n in found[:limit]]
        if len(found) > limit:
            return entries, _NOTES + found[limit - 1].id
        after, limit = None, limit - len(entries)
        if not limit:  # the next page begins with the memories, if there are any
            more = bool(tx.memories.select(sight, limit=1))
            return entries, _NOTES + found[-1].id if more else None
    page = tx.memories.select(sight, "newest" if since is None else "changed", limit + 1, after)
    shown = [m for m in page if since is None or m.updated_at >= since]
    entries += [Entry("memory", title_of(m), m.id, kind=m.kind, at=m.updated_at) for m in shown[:limit]]
    return entries, shown[limit - 1].id if len(shown) > limit else None


def _folders(tx: Tx, sight: Filter, notes: Filter, request: Browse) -> list[Entry]:
    base = request.path.strip("/") + "/" if request.path else ""
    totals: dict[str, int] = {}
    for folder, n in (*tx.memories.count(sight, "folder").items(), *tx.notes.folders(notes).items()):
        if not folder.startswith(base) or folder == base.rstrip("/"):
            continue
        parts = folder[len(base) :].split("/")
        for depth in range(1, min(len(parts), max(1, request.depth)) + 1):
            name = base + "/".join(parts[:depth])
            totals[name] = totals.get(name, 0) + n
    return [Entry("folder", name, count=n) for name, n in sorted(totals.items()) if name]


def _queued(tx: Tx, actor: Actor, request: Browse) -> Listing:
    own = None if actor.human else actor.connection
    waiting = tx.proposals.select(actor.vault, "pending", own, request.limit + 1)
    shown = waiting[: request.limit]
    entries = tuple(
        Entry("proposal", f"{p.op} {p.memory or ''}".strip(), p.id, kind=p.op, at=p.created_at) for p in shown
    )
    return Listing(entries, None, truncated=len(waiting) > request.limit)


def title_of(memory: Memory) -> str:
    """The title, or the first words of the text."""
    if memory.title:
        return memory.title
    line = memory.text.strip().splitlines()[0].strip() if memory.text.strip() else ""
    return line if len(line) <= _NAME else line[:_NAME].rsplit(" ", 1)[0] + "…"
