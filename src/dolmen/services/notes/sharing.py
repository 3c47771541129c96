"""Opening a note to everybody of the vault, or keeping it to some: what its properties then say (C-46)."""

from __future__ import annotations

from collections.abc import Sequence

from dolmen.domain.access import require
from dolmen.domain.audience import Visibility
from dolmen.domain.note import match
from dolmen.domain.values import Actor
from dolmen.markdown import parse, set_property
from dolmen.services.notes.drafting import document_of, draft_change
from dolmen.services.notes.finding import locked
from dolmen.services.notes.writing import keep
from dolmen.services.recording import reason_text
from dolmen.services.requests.notes import NoteWritten
from dolmen.services.runtime import Runtime
from dolmen.services.sharing import PROPERTY, SHARED


def share_note(
    rt: Runtime, actor: Actor, ref: str, visibility: Visibility, shared_with: Sequence[str] = (), reason: str = ""
) -> NoteWritten:
    """Changes who sees a note and its blocks; its properties say so from then on.

    Raises:
        DolmenError: `not-found`, `gone`; `conflict` when another open note has its address; `forbidden` for who may not
            decide about it; `read-only`.
    """
    require(actor, "write")
    with rt.write(actor) as tx:
        note = locked(tx, actor, ref).note
        source = set_property(note.source, PROPERTY, visibility)
        if shared_with or SHARED in note.source:
            source = set_property(source, SHARED, list(shared_with) or None)
        document, ids = document_of(note)
        after = parse(source)
        draft = draft_change(note, ids, after, match(document.blocks, after.blocks))
        given = {"op": "set_property", "key": PROPERTY, "value": visibility, "block": None, "content": None}
        return keep(tx, actor, note, draft, "share", reason_text(reason), proposal=("note_edit", given))
