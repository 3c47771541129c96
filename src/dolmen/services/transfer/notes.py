"""Notes in an export: their lines, and what becomes of them in a vault that may have some already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, get_args

from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import project_of
from dolmen.domain.memory import KINDS
from dolmen.domain.note import (
    BLOCK_ID,
    SOURCE_LIMIT,
    Note,
    NoteRevision,
    NoteStatus,
    checked_permalink,
    folder_of,
    name_of,
)
from dolmen.domain.values import Actor
from dolmen.services.recording import refuse_secrets
from dolmen.services.sharing import audience_here
from dolmen.services.transfer.lines import MISSING, Reader, bad
from dolmen.store.contract import Tx

_NUMBERS = 1_000


def note_line(note: Note, revisions: Sequence[NoteRevision], aliases: Sequence[str]) -> dict[str, Any]:
    """A note with everything that it was before and the addresses that it had."""
    line: dict[str, Any] = {"type": "note", **_plain(note)}
    if revisions:
        line["revisions"] = [_plain(revision) | {"note": _plain(revision.note)} for revision in revisions]
    if aliases:
        line["aliases"] = list(aliases)
    return line


def _plain(value: Any) -> dict[str, Any]:
    return {name: item for name, item in asdict(value).items() if name != "vault" and (item or name != "audience")}


def note_of(line: object, vault: str, what: str = "note") -> tuple[Note, list[NoteRevision], tuple[str, ...]]:
    """The note, its revisions and its former addresses in a line.

    Raises:
        DolmenError: `invalid-argument` or `too-large`, naming the field.
    """
    read = Reader(line, what)
    read.part("type")
    revisions = [_revision(each, vault) for each in read.objects("revisions")]
    aliases = read.texts("aliases")
    scope = read.text("scope", MISSING)
    project_of(scope)
    note = Note(
        id=read.id("id"),
        vault=vault,
        scope=scope,
        permalink=checked_permalink(read.text("permalink", MISSING)),
        title=read.text("title"),
        source=read.text("source", MISSING, limit=SOURCE_LIMIT),
        blocks=read.texts("blocks"),
        kind=read.choice("kind", KINDS, "fact"),
        label=read.text("label", "note"),
        path=read.text("path"),
        status=read.choice("status", get_args(NoteStatus), "active"),
        reason=read.text("reason"),
        superseded_by=read.text("superseded_by"),
        agent=read.text("agent", "unknown"),
        person=read.text("person"),
        connection=read.text("connection", "local"),
        session=read.text("session"),
        created_at=read.whole("created_at"),
        updated_at=read.whole("updated_at"),
        audience=read.text("audience"),
        version=read.whole("version", 1),
    )
    read.end()
    if not all(BLOCK_ID.fullmatch(block) for block in note.blocks):
        raise read.wrong("blocks", "a list of block ids")
    numbers = [revision.note.version for revision in revisions]
    if any(revision.note.id != note.id for revision in revisions):
        raise bad("A revision belongs to another note.")
    if [*numbers, note.version] != sorted({*numbers, note.version}) or note.version < 1:
        raise bad("The versions of the revisions are not in order.")
    return note, revisions, aliases


def _revision(line: object, vault: str) -> NoteRevision:
    read = Reader(line, "revision")
    state, _, _ = note_of(read.part("note"), vault, "revision's note")
    revision = NoteRevision(
        note=state,
        at=read.whole("at", MISSING),
        op=read.text("op", MISSING),
        agent=read.text("agent"),
        person=read.text("person"),
        connection=read.text("connection"),
        reason=read.text("reason"),
    )
    read.end()
    return revision


def take_note(tx: Tx, actor: Actor, line: Mapping[str, Any], elsewhere: dict[str, str]) -> str | None:
    """Imports a note: its id when it was written, None when it is here already.

    One that is here under another id, word for word at the same address, stands for it from then on; another note at
    its address keeps it, and this one gets a number.
    """
    vault = actor.vault
    note, revisions, aliases = note_of(line, vault)
    note = note.with_(audience=audience_here(tx, actor, note.audience))
    revisions = [
        replace(each, note=each.note.with_(audience=audience_here(tx, actor, each.note.audience))) for each in revisions
    ]
    for state in (note, *(revision.note for revision in revisions)):
        refuse_secrets(state.source, state.title, state.permalink, state.path, state.reason)
    if tx.notes.get(vault, note.id) is not None:
        return None
    there = tx.notes.at_address(vault, note.permalink)
    if there is not None and there.status != "deleted" and there.source == note.source:
        elsewhere[note.id] = there.id
        return None
    folder, name = folder_of(note.permalink), name_of(note.permalink)
    for number in range(1, _NUMBERS):
        numbered = name if number == 1 else f"{name}-{number}"
        placed = note.with_(permalink=f"{folder}/{numbered}" if folder else numbered)
        if tx.notes.restore(placed, revisions, aliases):
            return note.id
    raise DolmenError("conflict", f"The address {note.permalink} is taken many times.", "Move the notes that have it.")
