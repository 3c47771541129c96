"""Notes as files of a folder: taken in and given out byte for byte."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.text import clean
from dolmen.domain.values import Actor
from dolmen.services.notes.creating import create_note
from dolmen.services.notes.editing import edit_note
from dolmen.services.requests.notes import NewNote, NoteEdit, NoteWritten
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import only, scope_for

SUFFIX = ".md"
IMPORT = "import"
"""The name under which foreign files are written."""
_PAGE = 500


@dataclass(frozen=True, slots=True)
class NoteFile:
    path: str
    """Relative to the folder, with `/`."""
    source: str


def known_files(rt: Runtime, actor: Actor, project: str | None = None) -> dict[str, str]:
    """Where the files of the live notes of a project lie, with the notes' ids."""
    require(actor, "read")
    found: dict[str, str] = {}
    after: str | None = None
    with rt.read(actor) as tx:
        sight = only(tx, actor, scope_for(tx, actor, project), statuses=("active", "superseded"))
        while True:
            page = tx.notes.select(sight, "address", _PAGE, after)
            found |= {same_name(line.path or line.permalink + SUFFIX): line.id for line in page}
            if len(page) < _PAGE:
                return found
            after = page[-1].id


def same_name(path: str) -> str:
    """A path as every file system may spell it: composed characters."""
    return unicodedata.normalize("NFC", path)


def stranger(actor: Actor) -> Actor:
    """A person who brings in files that others wrote: what they say is kept and found, and trusted by nobody yet. No
    preference in them steers an agent, no convention is in the brief, until a person verifies it."""
    return replace(actor, agent=IMPORT, outside=True)


def take_file(
    rt: Runtime, actor: Actor, file: NoteFile, known: dict[str, str], project: str | None = None
) -> NoteWritten:
    """Makes a note of a file, or the note of that file say what it says now. Not one byte is changed.

    Args:
        known: from `known_files`; a new note is added to it.

    Raises:
        DolmenError: `invalid-argument` for what cannot be kept as it is; what `create_note` and `edit_note` refuse.
    """
    if clean(file.source)[1]:
        raise DolmenError("invalid-argument", "The file holds NUL characters.", "It is no text: leave it out.")
    id = known.get(same_name(file.path))
    if id is None:
        made = create_note(rt, actor, NewNote(file.source, path=file.path, project=project))
        if made.note is not None and made.outcome == "stored":
            known[same_name(file.path)] = made.note.id
        return made
    with rt.read(actor) as tx:
        note = tx.notes.get(actor.vault, id)
    if note is None:
        raise DolmenError("gone", "The note of this file was just purged.", "Import it again.")
    if note.source == file.source:
        return NoteWritten("unchanged", note.permalink)
    return edit_note(rt, actor, NoteEdit(id, "replace_note", file.source, expected_sha=note.sha))


def files_of(rt: Runtime, actor: Actor, project: str | None = None) -> Iterator[NoteFile]:
    """The live notes of a project as files, by their paths."""
    for path, id in sorted(known_files(rt, actor, project).items()):
        with rt.read(actor) as tx:
            note = tx.notes.get(actor.vault, id)
        if note is not None:
            yield NoteFile(note.path or path, note.source)
