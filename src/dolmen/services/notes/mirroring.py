"""The vault's side of a folder that `dolmen mirror` keeps in step with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import REASON_LIMIT
from dolmen.domain.mirroring import NoteState, Standing, Waiting, Waits
from dolmen.domain.note import Note, NoteStatus, content_sha, derived, folder_of, name_of, slug_path
from dolmen.domain.text import clean
from dolmen.domain.values import Actor
from dolmen.markdown import read_properties
from dolmen.services.notes.creating import create_note, free_address, title_of_file
from dolmen.services.notes.drafting import document_of, draft_change
from dolmen.services.notes.editing import checked_edit, edit_note, payload, withdraw
from dolmen.services.notes.files import SUFFIX
from dolmen.services.notes.finding import existing_note, locked
from dolmen.services.notes.moving import restore_note, unchanged
from dolmen.services.notes.writing import fresh, keep
from dolmen.services.recording import queue
from dolmen.services.requests.notes import NewNote, NoteEdit, NoteWritten
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import only, scope_for
from dolmen.store.contract import NoteLine, Tx

_ALL = 10_000_000
_GONE = "Its file was deleted."


@dataclass(frozen=True, slots=True)
class Mirroring:
    """The notes of one project, for a mirror of them. Implements `client.mirror.Vault`.

    A write that the policy has wait for a person raises `Waits`; a person's own never do.
    """

    rt: Runtime
    actor: Actor
    project: str | None = None

    @property
    def mode(self) -> Literal["read", "suggest", "write"]:
        """What may be done."""
        return "write" if self.actor.mode == "admin" else self.actor.mode

    @property
    def together(self) -> int:
        """Each write is a transaction of its own anyway."""
        return 1

    def expect(self, *about: object) -> None:
        """Nothing: a note is read as fast alone."""

    def ahead(self, writes: object) -> None:
        """Nothing: each write is done when it is asked for."""

    def vault(self) -> str:
        """What tells this vault from every other one, also of another store: the first ones have the same id."""
        with self.rt.read(self.actor) as tx:
            return f"{self.actor.vault}@{tx.accounts.made_at(self.actor.vault)}"

    def scope(self) -> str:
        """The scope whose notes these are."""
        with self.rt.read(self.actor) as tx:
            return scope_for(tx, self.actor, self.project)

    def standing(self, limit: int = _ALL, after: str | None = None) -> list[Standing]:
        """Every live note by its address, or so many after the one with the id `after`.

        Raises:
            DolmenError: `gone` when the note `after` is no longer here.
        """
        require(self.actor, "read")
        with self.rt.read(self.actor) as tx:
            scope = scope_for(tx, self.actor, self.project)
            sight = only(tx, self.actor, scope, statuses=("active", "superseded"))
            return [_standing(line) for line in tx.notes.select(sight, "address", limit, after)]

    def newest(self) -> object:
        """The note that was written last, and when."""
        with self.rt.read(self.actor) as tx:
            sight = only(tx, self.actor, scope_for(tx, self.actor, self.project), statuses=get_args(NoteStatus))
            return [(line.id, line.version, line.updated_at) for line in tx.notes.select(sight, "changed", 1)]

    def read(self, id: str) -> NoteState | None:
        """The note, live or not; None when it was purged, or never here."""
        with self.rt.read(self.actor) as tx:
            note = tx.notes.get(self.actor.vault, id)
            return None if note is None else _state(note, scope_for(tx, self.actor, self.project))

    def purged(self, ids: Sequence[str]) -> set[str]:
        """Which of these a purge destroyed, or are another person's alone now. The others that cannot be read were
        never here, or the store is an older copy."""
        with self.rt.read(self.actor) as tx:
            return tx.journal.purged(self.actor.vault, ids) | tx.notes.known(self.actor.vault, ids)

    def source(self, id: str, sha: str, after: int = 0) -> str | None:
        """What the note said in the version with that sha; None when it never did, or not `after` that version."""
        with self.rt.read(self.actor) as tx:
            note = tx.notes.get(self.actor.vault, id)
            if note is None:
                return None
            past = tx.notes.revisions(self.actor.vault, id) if note.sha != sha else []
        versions = [note, *(each.note for each in reversed(past))]
        return next((each.source for each in versions if each.version > after and each.sha == sha), None)

    def new_ids(self, count: int) -> list[str]:
        with self.rt.read(self.actor) as tx:
            return [tx.new_id() for _ in range(count)]

    def create(self, id: str, path: str, source: str) -> NoteState:
        """A note with that id, made of a file; not one byte is changed.

        Raises:
            DolmenError: `conflict` when the id is taken; what `create_note` refuses.
        """
        request = NewNote(_checked(source), path=path, project=self.project, id=id)
        _done(create_note(self.rt, self.actor, request))
        return self._read(id)

    def change(self, id: str, source: str, seen: str) -> NoteState:
        """The note says what the file says.

        Raises:
            DolmenError: `conflict` when it is not the version with the sha `seen` any more.
        """
        _done(edit_note(self.rt, self.actor, NoteEdit(id, "replace_note", _checked(source), expected_sha=seen)))
        return self._read(id)

    def delete(self, id: str, seen: str) -> NoteState:
        """A tombstone, which `dolmen note undo` takes away.

        Raises:
            DolmenError: `conflict` when it is not the version with the sha `seen` any more.
        """
        _done(edit_note(self.rt, self.actor, NoteEdit(id, "delete_note", reason=_GONE, expected_sha=seen)))
        return self._read(id)

    def revive(self, id: str) -> NoteState:
        """A deleted note is here again as it was."""
        note = self._read(id)
        if note.live:  # somebody was faster: undoing once more would take words away
            return note
        _done(restore_note(self.rt, self.actor, id, reason="Its file was changed after it was deleted."))
        return self._read(id)

    def refile(self, id: str, path: str) -> NoteState:
        """The note's file has another path. Its address and title follow where they were made of the old one; refs that
        name the old address still lead to it."""
        with self.rt.write(self.actor) as tx:
            place = locked(tx, self.actor, id)
            before = place.note
            document, ids = document_of(before)
            moved = before.with_(path=path, **_names(tx, self.actor, before, path))
            draft = draft_change(moved, ids, document, unchanged(len(ids)))
            given = {"permalink": moved.permalink, "path": path}
            done = keep(tx, self.actor, before, draft, "move", proposal=("note_move", given))
        _done(done)
        return self._read(id)

    def propose(self, id: str, source: str, seen: str, reason: str) -> str:
        """Queues a file's version for a person, since the note was changed in the same places; the proposal's id. The
        same one that waits already is not queued again.

        Raises:
            DolmenError: `conflict` when it is not the version with the sha `seen` any more.
        """
        edit = NoteEdit(id, "replace_note", _checked(source), reason=reason[:REASON_LIMIT], expected_sha=seen)
        request = checked_edit(edit)
        with self.rt.write(self.actor) as tx:
            place = existing_note(tx, self.actor, id)
            fresh(place.note, seen)
            given = payload(request, place)
            for known in tx.proposals.for_note(self.actor.vault, id):
                said = (known.payload.get("content"), known.payload.get("base_sha"))
                if known.status == "pending" and said == (given["content"], given["base_sha"]):
                    return known.id
            kept = queue(tx, self.actor, "note_edit", "stale", None, given, request.reason, note=place.note)
        return kept.id

    def proposal(self, id: str) -> Waiting:
        """What became of a proposal."""
        with self.rt.read(self.actor) as tx:
            found = tx.proposals.get(self.actor.vault, id)
        if found is None or found.status not in ("pending", "applied"):
            return "refused"
        return "pending" if found.status == "pending" else "applied"

    def withdraw(self, proposal: str) -> None:
        """Takes a proposal back that nothing speaks for any more; nothing happens when it was decided."""
        try:
            withdraw(self.rt, self.actor, NoteEdit(proposal, "withdraw"))
        except DolmenError as error:
            if error.code not in ("conflict", "not-found"):
                raise

    def _read(self, id: str) -> NoteState:
        state = self.read(id)
        if state is None:
            raise DolmenError("gone", "The note was just purged.", "Run the mirror again.")
        return state


def _done(written: NoteWritten) -> None:
    """Raises `Waits` for a write that became a proposal."""
    if written.proposal:
        raise Waits(written.proposal)


def _checked(source: str) -> str:
    """The source, when it can be kept as it is.

    Raises:
        DolmenError: `invalid-argument`.
    """
    if clean(source)[1]:
        raise DolmenError("invalid-argument", "The file holds NUL characters.", "It is no text: leave it out.")
    return source


def _standing(line: NoteLine | Note) -> Standing:
    return Standing(line.id, line.version, line.updated_at, line.path or line.permalink + SUFFIX, bool(line.path))


def _state(note: Note, scope: str) -> NoteState:
    live, here = note.status != "deleted", note.scope == scope
    return NoteState(_standing(note), note.source, content_sha(note.source), live, here)


def _names(tx: Tx, actor: Actor, note: Note, path: str) -> dict[str, str]:
    """The address and the title that a note has at another path, as far as they came from the path that it had."""
    was = note.path or note.permalink + SUFFIX
    properties = read_properties(note.source)
    names: dict[str, str] = {}
    base = _derived(was)
    numbered = note.permalink.removeprefix(base + "-")
    if not properties.text("permalink") and (note.permalink == base or numbered.isdecimal()):
        names["permalink"] = free_address(tx, actor, *_address_parts(path), but=note.id)
    document = document_of(note)[0]
    if not properties.text("title") and note.title == title_of_file(was, document):
        names["title"] = title_of_file(path, document)
    return names


def _derived(path: str) -> str:
    name, folder = _address_parts(path)
    return derived(name, folder)


def _address_parts(path: str) -> tuple[str, str]:
    return name_of(path).removesuffix(SUFFIX), slug_path(folder_of(path))
