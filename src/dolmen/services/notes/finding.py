"""Which note, and which of its blocks, does a ref mean?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory
from dolmen.domain.note import Note, address, key, name_of, parse_ref, slug_path, target_name
from dolmen.domain.text import clean
from dolmen.domain.values import Actor
from dolmen.services.scoping import ref_id
from dolmen.store.contract import NoteLine, Tx


@dataclass(frozen=True, slots=True)
class Place:
    """What a ref names."""

    note: Note
    block: str | None = None
    moved: bool = False
    """The ref names an address that the note had before."""

    @property
    def ref(self) -> str:
        return address(self.note.permalink, self.block)


def find(tx: Tx, actor: Actor, ref: str) -> Place | None:
    """The note, or the block, that a ref names, in any status: an address, or the id of a note or of a block's memory.
    None when nothing is there, or a memory of its own."""
    cleaned = clean(ref)[0].strip()
    place = parse_ref(cleaned)
    if place is not None:
        note = tx.notes.at_address(actor.vault, place.permalink)
        if note is None:
            return None
        return Place(note, place.block, key(note.permalink) != key(place.permalink))
    id = ref_id(cleaned)
    note = tx.notes.get(actor.vault, id)
    if note is not None:
        return Place(note)
    memory = tx.memories.get(actor.vault, id)
    if memory is None or not memory.note:
        return None
    home = tx.notes.get(actor.vault, memory.note)
    return None if home is None else Place(home, memory.block)


def existing_note(tx: Tx, actor: Actor, ref: str, *, live: bool = True) -> Place:
    """The note that a ref names.

    Raises:
        DolmenError: `not-found`; `gone` for a deleted one when it must be `live`.
    """
    place = find(tx, actor, ref)
    if place is None:
        raise no_note(ref)
    if live and place.note.status == "deleted":
        raise DolmenError(
            "gone",
            deleted(place.note),
            "Restore it first, or remember a new note.",
            reason=place.note.reason,
        )
    return place


def deleted(note: Note) -> str:
    """That the note was deleted, and why."""
    return f"The note at {note.permalink} was deleted: {note.reason.rstrip('.') or 'no reason was given'}."


def lasting(tx: Tx, note: Note) -> str:
    """What names a note also after it was deleted: its address, or its id when another note has that by now."""
    there = tx.notes.at_address(note.vault, note.permalink)
    return note.permalink if there is None or there.id == note.id or there.status == "deleted" else note.id


def locked(tx: Tx, actor: Actor, ref: str, *, live: bool = True) -> Place:
    """The note that a ref names, which nobody else changes until the transaction ends.

    Raises:
        DolmenError: as `existing_note`.
    """
    place = existing_note(tx, actor, ref, live=live)
    tx.notes.lock(actor.vault, place.note.id)
    return replace(existing_note(tx, actor, place.note.id, live=live), block=place.block, moved=place.moved)


def no_note(ref: str) -> DolmenError:
    """C-102: what is not there is made by `remember`, never by `edit` or `link`."""
    place = parse_ref(clean(ref)[0])
    return DolmenError(
        "not-found",
        f"No live note exists at {place.permalink if place else ref}.",
        "Check the address with browse or recall. If nothing is there yet, call remember to create the note: edit and "
        "link change a note that already exists and never create one.",
    )


def no_block(note: Note, block: str, now: str | None = None) -> DolmenError:
    """The refusal of a block that is not there; it names the one that says the same in other words `now`."""
    fix = "Its words were changed or removed since: read the note again for its blocks."
    if now is not None:
        fix = f"Its statement is in other words now: read {address(note.permalink, now)}."
    return DolmenError(
        "not-found",
        f"The note at {note.permalink} has no block {block}.",
        fix,
        ref=address(note.permalink, now),
        sha=note.sha,
    )


def became(tx: Tx, place: Place) -> str | None:
    """The block that makes the statement of a block that is not there any more; None when nothing does."""
    for memory in tx.memories.blocks(place.note.vault, place.note.id):
        if memory.status == "deleted" or memory.version == 1:
            continue
        past = tx.memories.revisions(memory.vault, memory.id)
        if any(revision.memory.block == place.block for revision in past):
            return memory.block
    return None


def memory_of(tx: Tx, place: Place) -> Memory | None:
    """The memory that a block is; None for a heading or a rule."""
    for memory in tx.memories.blocks(place.note.vault, place.note.id):
        if memory.block == place.block and memory.status != "deleted":
            return memory
    return None


# --------------------------------------------------------------------------------------------------------------- links
def resolve(tx: Tx, vault: str, names: Sequence[str], folder: str = "") -> dict[str, NoteLine]:
    """The notes that wiki links lead to, by the names that the links have (C-107).

    A name is an address, an address that the note had, a title, or the last part of an address; of several notes the
    one in the same folder comes first, then the one with the shortest address.
    """
    wanted: dict[str, list[str]] = {}
    for name in names:
        note = target_name(name).partition("#")[0]
        wanted[name] = [key(each) for each in (note, f"{folder}/{note}" if folder else note, slug_path(note))]
    found = tx.notes.named(vault, [each for keys in wanted.values() for each in keys if each])
    out: dict[str, NoteLine] = {}
    for name, keys in wanted.items():
        lines = [line for each in keys for line in found.get(each, ())]
        exact = [line for line in lines if key(line.permalink) == keys[0]]
        near = [line for line in lines if line.folder == folder]
        if lines:
            out[name] = (exact or near or lines)[0]
    return out


def names_of(note: Note, aliases: Sequence[str] = ()) -> list[str]:
    """Every name by which a link may lead to a note, as edges hold it."""
    return list(dict.fromkeys(map(key, (note.permalink, name_of(note.permalink), note.title, *aliases))))
