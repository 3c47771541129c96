"""Reading notes: whole, a section, a block; what they were, and what they are linked with (C-233 to C-237)."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory
from dolmen.domain.note import Note, NoteRevision, address, folder_of
from dolmen.domain.values import Actor
from dolmen.markdown import Document, read_properties
from dolmen.services.notes.drafting import document_of
from dolmen.services.notes.finding import Place, became, existing_note, memory_of, names_of, no_block, resolve
from dolmen.services.notes.settling import standing_of
from dolmen.services.requests.notes import BlockView, FolderLine, NoteEntry, NoteLink, NoteListing, NoteView
from dolmen.services.requests.reading import HistoryEntry, View
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import visible
from dolmen.store.contract import NoteLine, Tx

_COMPARED = 200_000
"""Characters of a note up to which its history shows what changed in the text; comparing is quadratic."""


def read_note(
    rt: Runtime,
    actor: Actor,
    ref: str,
    view: View = "content",
    section: str | None = None,
    as_of: int | None = None,
) -> NoteView:
    """A note, a section of it or one block: its Markdown once, and what is known about each block.

    Args:
        section: a heading; the answer is its line and everything below it.
        as_of: the state at that time, with the standing that its blocks had then.

    Raises:
        DolmenError: `not-found`; `gone` for a deleted note, unless a person reads it.
    """
    require(actor, "read")
    with rt.read(actor) as tx:
        place = existing_note(tx, actor, ref, live=not actor.human and as_of is None)
        if as_of is not None:
            place = _at(tx, place, as_of)
        return _view(tx, place, view, section, as_of)


def _at(tx: Tx, place: Place, at: int) -> Place:
    note = tx.notes.at(place.note.vault, place.note.id, at)
    if note is None:
        raise DolmenError("not-found", f"{place.note.permalink} was not yet written then.", "Ask for a later time.")
    return replace(place, note=note)


def _view(tx: Tx, place: Place, view: View, section: str | None, as_of: int | None) -> NoteView:
    note = place.note
    document, ids = document_of(note)
    if place.block is not None and place.block not in ids:
        raise no_block(note, place.block, became(tx, place) if as_of is None else None)
    start, end = _part(document, ids, place, section)
    here = [
        (id, block) for id, block in zip(ids, document.blocks) if start <= block.start and block.end <= end
    ]  # fmt: skip
    standing = _standing(tx, note, as_of)
    blocks = tuple(_block(note, id, block.type, standing.get(id)) for id, block in here)
    text = note.source[start:end]
    if place.block is not None:
        text = next(block.text for id, block in zip(ids, document.blocks) if id == place.block)
        blocks = tuple(each for each in blocks if each.id == place.block)
    shown = NoteView(
        note=note,
        ref=place.ref,
        sha=note.sha,
        text=text,
        view=view,
        blocks=blocks,
        block=place.block,
        proposals=tuple(p.id for p in tx.proposals.for_note(note.vault, note.id) if p.status == "pending"),
        properties=read_properties(note.source).values,
        moved=place.moved,
    )
    if view == "history":
        return _with_history(tx, shown, place)
    if view == "links":
        return replace(shown, links=links_of(tx, note, [each.memory for each in blocks if each.memory]))
    return shown


def _part(document: Document, ids: Sequence[str], place: Place, section: str | None) -> tuple[int, int]:
    if place.block is not None and section:
        raise DolmenError(
            "invalid-argument",
            "The ref names a block, and `section` a section.",
            f"Use one of them: {address(place.note.permalink)} with `section`, or the ref of the block alone.",
        )
    if place.block is not None:
        block = document.blocks[ids.index(place.block)]
        return block.start, block.end
    if not section:
        return 0, len(document.source)
    found = document.section(section)
    if found is None:
        raise DolmenError("not-found", f"There is no heading {section!r}.", "Read the note without `section`.")
    return found


def _standing(tx: Tx, note: Note, as_of: int | None) -> Mapping[str, Memory]:
    if as_of is None:
        return standing_of(tx, note)
    ids = [memory.id for memory in tx.memories.blocks(note.vault, note.id)]
    then = tx.memories.at(note.vault, ids, as_of)
    return {memory.block: memory for memory in then.values() if memory.status != "deleted"}


def _block(note: Note, id: str, type: str, memory: Memory | None) -> BlockView:
    ref = address(note.permalink, id)
    if memory is None:
        return BlockView(id, ref, type, "")  # type: ignore[arg-type]  # a BlockType
    kind = memory.label or memory.kind
    return BlockView(id, ref, type, kind, memory.verification, memory.status, memory)  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------------- history
def _with_history(tx: Tx, shown: NoteView, place: Place) -> NoteView:
    """Of a note: its versions. Of a block: what became of its statement."""
    note = place.note
    if place.block is not None:
        from dolmen.services.reading import history

        memory = memory_of(tx, place)
        past = [] if memory is None else tx.memories.revisions(note.vault, memory.id)
        return replace(shown, history=() if memory is None else history(memory, past))
    revisions = tx.notes.revisions(note.vault, note.id)
    return replace(shown, history=history_of(note, revisions), revisions=tuple(revisions))


def history_of(note: Note, revisions: Sequence[NoteRevision]) -> tuple[HistoryEntry, ...]:
    """What happened to a note, oldest first: its creation, then each change with what it changed."""
    states = [revision.note for revision in revisions] + [note]
    first = states[0]
    entries = [HistoryEntry(first.version, "create", first.created_at, first.agent, "")]
    for revision, before, after in zip(revisions, states, states[1:], strict=False):
        names = ("title", "permalink", "status", "kind", "label", "path")
        changed = tuple(name for name in names if getattr(before, name) != getattr(after, name))
        diff = difference(before.source, after.source)
        entries.append(
            HistoryEntry(after.version, revision.op, revision.at, revision.agent, revision.reason, diff, changed)
        )
    return tuple(entries)


def difference(before: str, after: str, around: int = 2) -> str:
    """Unified diff of two sources, without file headers; of very long ones, only how much longer they became."""
    if before == after:
        return ""
    if max(len(before), len(after)) > _COMPARED:
        return f"({len(before)} characters became {len(after)})"
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=around)
    return "\n".join(list(lines)[2:])


# ---------------------------------------------------------------------------------------------------------------- links
def links_of(tx: Tx, note: Note, memories: Sequence[Memory]) -> tuple[NoteLink, ...]:
    """What the blocks link to, and what links to the note, each with the address that it has now (C-107)."""
    vault, ids = note.vault, {memory.id for memory in memories}
    edges = tx.links.around(vault, list(ids))
    out = [edge for edge in edges if edge.source in ids]
    aliases = [name for name, id in tx.notes.aliases(vault).items() if id == note.id]
    ours = tx.links.toward(vault, names_of(note, aliases)) + [edge for edge in edges if edge.target in ids]
    toward = [edge for edge in dict.fromkeys(ours) if edge.source not in ids]
    toward.sort(key=lambda edge: (edge.created_at, edge.source, edge.rel))
    sources = tx.memories.many(vault, list({edge.source for edge in (*out, *toward)}))
    homes = _homes(tx, vault, sources)
    found = resolve(tx, vault, [edge.target for edge in out], note.folder)
    links = [
        NoteLink(_address(sources[edge.source], homes), edge.rel, _target(edge.target, found), edge.target in found)
        for edge in out
        if edge.source in sources
    ]
    ends = _ends(tx, note, memories, [edge.target for edge in toward])
    leads: dict[tuple[str, str], bool] = {}
    for edge in toward:
        source = sources.get(edge.source)
        if source is None or source.status != "active":
            continue
        name = (edge.target, source.folder)
        if name not in leads:
            leads[name] = edge.target in ids or _leads_to(tx, *name, note)
        if leads[name] and (end := ends.get(edge.target)) is not None:
            links.append(NoteLink(_address(source, homes), edge.rel, end, True))
    return tuple(links)


def _ends(tx: Tx, note: Note, memories: Sequence[Memory], targets: Sequence[str]) -> dict[str, str]:
    """The address in the note that each name leads to now: of a statement that was reworded, that of its block now.
    Names of blocks that are not among the memories are left out."""
    blocks = {memory.block: memory.block for memory in memories}
    named = {target: target.partition("#")[2] for target in targets}
    if any(block and block not in blocks for block in named.values()):
        for memory in memories:
            past = tx.memories.revisions(memory.vault, memory.id) if memory.version > 1 else []
            blocks |= {revision.memory.block: memory.block for revision in past if revision.memory.block not in blocks}
    whole, of_memory = address(note.permalink), {memory.id: memory.block for memory in memories}
    ends: dict[str, str] = {}
    for target, block in named.items():
        if target in of_memory:
            ends[target] = address(note.permalink, of_memory[target])
        elif not block.startswith("blk_"):
            ends[target] = whole
        elif block in blocks:
            ends[target] = address(note.permalink, blocks[block])
    return ends


def _leads_to(tx: Tx, target: str, folder: str, note: Note) -> bool:
    found = resolve(tx, note.vault, [target], folder).get(target)
    return found is not None and found.id == note.id


def _homes(tx: Tx, vault: str, memories: Mapping[str, Memory]) -> dict[str, Note]:
    return tx.notes.many(vault, list({m.note for m in memories.values() if m.note}))


def _address(memory: Memory, homes: Mapping[str, Note]) -> str:
    home = homes.get(memory.note)
    return memory.id if home is None else address(home.permalink, memory.block)


def _target(name: str, found: Mapping[str, NoteLine]) -> str:
    line = found.get(name)
    if line is None:
        return name
    block = name.partition("#")[2]
    return address(line.permalink, block or None)


# --------------------------------------------------------------------------------------------------------------- browse
def browse_notes(
    rt: Runtime,
    actor: Actor,
    path: str = "",
    depth: int = 1,
    *,
    project: str | None = None,
    changed_since: int | None = None,
    limit: int = 200,
    cursor: str | None = None,
) -> NoteListing:
    """Folders and titles, never text (C-237). Folders come back flat, with everything below them counted.

    Args:
        path: a folder; empty for the top.
        depth: how many levels of folders and notes below it.
        changed_since: only notes written since that time, newest first, and no folders.
    """
    require(actor, "read")
    base = "/".join(part for part in path.split("/") if part)
    with rt.read(actor) as tx:
        sight = visible(tx, actor, project, folder=base or None)
        if changed_since is not None:
            recent = tx.notes.select(sight, "changed", limit + 1, cursor)
            shown = [line for line in recent[:limit] if line.updated_at >= changed_since]
            more = len(recent) > limit and len(shown) == limit
            return _listing((), shown, more)
        folders = _folders(tx.notes.folders(sight), base, max(1, depth)) if cursor is None else ()
        deepest = (base.count("/") + 1 if base else 0) + max(1, depth) - 1
        page = tx.notes.select(sight, "address", limit + 1, cursor, deepest)  # the deeper ones are only counted
        return _listing(folders, page[:limit], len(page) > limit)


def _folders(counts: Mapping[str, int], base: str, depth: int) -> tuple[FolderLine, ...]:
    totals: dict[str, int] = {}
    for folder, n in counts.items():
        while folder and folder != base:
            totals[folder] = totals.get(folder, 0) + n
            folder = folder_of(folder)
    levels = base.count("/") + 1 if base else 0
    near = {name: n for name, n in totals.items() if name.count("/") + 1 - levels <= depth}
    return tuple(FolderLine(name, n) for name, n in sorted(near.items()))


def _listing(folders: tuple[FolderLine, ...], lines: Sequence[NoteLine], more: bool) -> NoteListing:
    entries = tuple(
        NoteEntry(address(line.permalink), line.permalink, line.title, line.label, line.scope, line.updated_at,
                  line.path)
        for line in lines
    )  # fmt: skip
    return NoteListing(folders, entries, lines[-1].id if more and lines else None, more)
