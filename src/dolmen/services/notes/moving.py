"""Moving a note to another address, and bringing back what it was: both keep its identity and what links to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import TITLE_LIMIT
from dolmen.domain.note import Matching, Note, checked_permalink
from dolmen.domain.values import Actor
from dolmen.markdown import parse, read_properties, set_property
from dolmen.services import checking
from dolmen.services.notes.creating import free_address
from dolmen.services.notes.drafting import Draft, document_of, draft_change, first_heading
from dolmen.services.notes.finding import Place, existing_note, lasting, locked
from dolmen.services.notes.writing import conflict, fresh, keep, vectors_of
from dolmen.services.recording import reason_text, refuse_secrets
from dolmen.services.requests.notes import NoteWritten
from dolmen.services.runtime import Runtime
from dolmen.store.contract import Tx


def move_note(
    rt: Runtime,
    actor: Actor,
    ref: str,
    permalink: str = "",
    *,
    title: str = "",
    path: str | None = None,
    reason: str = "",
    expected_sha: str | None = None,
) -> NoteWritten:
    """Gives a note another address, another title, or both. Refs and links that name the old address still lead to it.

    Args:
        permalink: the new address; empty to keep it.
        title: the new title; empty to keep it.
        path: where its file lies from now on; None for `<permalink>.md` when the address changes.

    Raises:
        DolmenError: `conflict` when another note has, or had, the address; `not-found`, `gone`.
    """
    require(actor, "write")
    target = checked_permalink(permalink) if permalink.strip() else ""
    title, reason = " ".join(checking.short_text(title, "title", TITLE_LIMIT).split()), reason_text(reason)
    refuse_secrets(target, title)
    if not target and not title:
        raise DolmenError("invalid-argument", "There is nothing to change.", "Pass a permalink, a title, or both.")
    with rt.write(actor) as tx:
        place = locked(tx, actor, ref)
        fresh(place.note, expected_sha)
        return move_in(tx, actor, place, {"permalink": target, "title": title, "path": path}, reason)


def move_in(
    tx: Tx, actor: Actor, place: Place, to: Mapping[str, Any], reason: str = "", agreed: Mapping[str, Any] | None = None
) -> NoteWritten:
    """Moves a note in the caller's transaction."""
    before = place.note
    document, ids = document_of(before)
    source, title = before.source, to.get("title") or ""
    if title and title != before.title and (read_properties(source).text("title") or first_heading(document) != title):
        source = set_property(source, "title", title)
    after = document if source == before.source else parse(source)
    permalink, path = to.get("permalink") or before.permalink, to.get("path")
    if path is None:
        path = before.path if permalink == before.permalink else ""
    moved = before.with_(title=title or before.title, permalink=permalink, path=path)
    draft = draft_change(moved, ids, after, unchanged(len(ids)))
    return keep(tx, actor, before, draft, "move", reason, proposal=("note_move", dict(to)), agreed=agreed)


# -------------------------------------------------------------------------------------------------------------- restore
def restore_note(
    rt: Runtime,
    actor: Actor,
    ref: str,
    version: int | None = None,
    *,
    reason: str = "",
    expected_sha: str | None = None,
) -> NoteWritten:
    """Brings back what a note was, as its next version; without a version, undoes the last change. A deleted note
    comes back with the memories, links and history of its blocks.

    Raises:
        DolmenError: `conflict` when it never changed, or when it is live and another note has its older address now;
            `not-found`.
    """
    require(actor, "write")
    reason = reason_text(reason)
    with rt.read(actor) as tx:
        seen = existing_note(tx, actor, ref, live=False).note
        fresh(seen, expected_sha)
        draft = restored(tx, seen, version, actor)
    vectors = vectors_of(rt, draft, seen)
    with rt.write(actor) as tx:
        now = locked(tx, actor, ref, live=False).note
        if now.version != seen.version:
            raise conflict(now)
        given = {"version": earlier(tx, now, version).version}
        return keep(tx, actor, now, draft, "restore", reason, vectors, proposal=("note_restore", given))


def restore_in(
    tx: Tx, actor: Actor, place: Place, version: int, reason: str = "", agreed: Mapping[str, Any] | None = None
) -> NoteWritten:
    """Restores in the caller's transaction."""
    draft = restored(tx, place.note, version, actor)
    given = {"version": version}
    return keep(tx, actor, place.note, draft, "restore", reason, proposal=("note_restore", given), agreed=agreed)


def restored(tx: Tx, note: Note, version: int | None, actor: Actor | None = None) -> Draft:
    """The note as it was, as the version after the present one. Its blocks get the ids that they had.

    Where another note has the address of a deleted one by now, it comes back under the next free one that the actor
    can see, as a new note would (C-97).
    """
    target = earlier(tx, note, version)
    if actor is not None and note.status == "deleted" != target.status:
        target = _beside(tx, actor, target)
    document, ids = document_of(target)
    was = note.with_(
        title=target.title,
        permalink=target.permalink,
        path=target.path,
        status=target.status,
        reason=target.reason,
        superseded_by=target.superseded_by,
    )
    return draft_change(was, ids, document, unchanged(len(ids)))


def _beside(tx: Tx, actor: Actor, note: Note) -> Note:
    if lasting(tx, note) == note.permalink:
        return note
    folder, _, name = note.permalink.rpartition("/")
    return note.with_(permalink=free_address(tx, actor, name, folder, but=note.id))


def unchanged(blocks: int) -> Matching:
    """Every block is the one that it was."""
    return Matching(tuple((n, n) for n in range(blocks)), ())


def earlier(tx: Tx, note: Note, version: int | None) -> Note:
    """The state that a restore goes back to.

    Raises:
        DolmenError: `conflict` when nothing ever changed; `not-found` for an unknown version.
    """
    revisions = tx.notes.revisions(note.vault, note.id)
    if not revisions:
        raise DolmenError(
            "conflict", f"The note at {note.permalink} has never changed.", "There is nothing to restore."
        )
    if version is None:
        return revisions[-1].note
    for revision in revisions:
        if revision.note.version == version:
            return revision.note
    known = ", ".join(str(revision.note.version) for revision in revisions[-20:])
    raise DolmenError("not-found", f"The note at {note.permalink} has no version {version}.", f"Choose one of {known}.")
