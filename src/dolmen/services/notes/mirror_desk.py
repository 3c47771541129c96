"""What a mirror on another machine asks of a vault: many notes in one call, and every write safe to send again."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.mirroring import MirrorWrite, NoteState, Standing, Waiting, Waits
from dolmen.domain.note import content_sha
from dolmen.domain.proposal import Proposal
from dolmen.domain.text import clean
from dolmen.domain.values import Actor
from dolmen.services.notes.mirroring import Mirroring
from dolmen.services.policy import by_mirror, by_versions, under_policy
from dolmen.services.recording import refuse_secrets
from dolmen.services.runtime import Runtime

WRITES, READS, PAGE = 100, 500, 5_000
"""Writes and notes read in one call, and notes of a page."""
CHARACTERS = 2_000_000
"""Of the sources in one answer; the one that goes over it is the last."""
_PATH = 1_000
_BROKEN = ("store-busy", "unavailable", "internal")
"""Errors of the store, which are no note's own."""
_PENDING = 10_000
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""No engine is asked for what it cannot hold."""
_SHA = re.compile(r"[0-9a-f]{8,64}")

Source = tuple[str, str, int]
"""The id of a note, the sha of what it said, and the version after which it said so."""
Done = NoteState | Waits | DolmenError | None
"""What became of a write; None where there is no note to show."""


@dataclass(frozen=True, slots=True)
class Read:
    """What was asked for, from the beginning on; the rest did not fit and is asked for again."""

    notes: list[NoteState | None] = field(default_factory=list)
    sources: list[str | None] = field(default_factory=list)
    proposals: list[Waiting] = field(default_factory=list)
    purged: set[str] = field(default_factory=set)
    """Of the notes that are not here, the ids of those that a purge destroyed or that became private."""


@dataclass(frozen=True, slots=True)
class MirrorDesk:
    """The notes of one project, for one call of a mirror elsewhere."""

    rt: Runtime
    actor: Actor
    notes: Mirroring
    _pending: list[Proposal] = field(default_factory=list)
    """Proposed new notes of this connection; read once, when the first one is asked for."""

    @classmethod
    def of(cls, rt: Runtime, actor: Actor, project: str | None) -> MirrorDesk:
        """The desk of an actor, whose writes go by the vault's policy as it is now.

        Raises:
            DolmenError: `forbidden` for a connection whose tools know no notes.
        """
        if actor.toolset not in ("core", "kmem"):
            raise DolmenError(
                "forbidden",
                f"This key is for the toolset {actor.toolset} alone, which has no notes.",
                "Use a key without --toolset (`dolmen key create AGENT`), or sign in with `dolmen login`.",
            )
        actor = under_policy(rt, actor, by_mirror if actor.toolset == "kmem" else by_versions)
        return cls(rt, actor, Mirroring(rt, actor, project))

    def vault(self) -> str:
        """What tells this vault from every other one, also of another store: the first ones have the same id."""
        return self.notes.vault()

    def page(self, after: str | None = None) -> tuple[list[Standing], str | None]:
        """Live notes by their addresses, and the id to go on after; None behind the last.

        Raises:
            DolmenError: `gone` when the note `after` is no longer here.
        """
        if after is not None and not _ID.fullmatch(after):
            raise DolmenError("gone", "There is no such place in the list.", "Begin the list again.")
        found = self.notes.standing(PAGE + 1, after)
        page = found[:PAGE]
        return page, page[-1].id if len(found) > PAGE else None

    def read(self, ids: Sequence[str], sources: Sequence[Source], proposals: Sequence[str]) -> Read:
        """Notes, what they said once, and what became of proposals: as much as fits in one answer.

        Raises:
            DolmenError: `too-large` for more than `READS` of them.
        """
        require(self.actor, "read")
        _few(len(ids) + len(sources) + len(proposals), READS, "notes, sources and proposals")
        answer, room = Read(), CHARACTERS
        for note in map(self._shown, ids):
            answer.notes.append(note)
            room -= len(note.source) if note is not None else 0
            if room <= 0:
                break
        missing = [id for id, note in zip(ids, answer.notes, strict=False) if note is None and _ID.fullmatch(id)]
        if missing:
            answer.purged.update(self.notes.purged(missing))
        if room <= 0:
            return answer
        for id, sha, after in sources:
            said = self.notes.source(id, sha, after) if _ID.fullmatch(id) else None
            answer.sources.append(said)
            room -= len(said or "")
            if room <= 0:
                return answer
        answer.proposals.extend(self.notes.proposal(id) if _ID.fullmatch(id) else "refused" for id in proposals)
        return answer

    def _shown(self, id: str) -> NoteState | None:
        note = self.notes.read(id) if _ID.fullmatch(id) else None
        if note is None or note.here:
            return note
        return NoteState(note.standing, "", "", note.live, here=False)  # another project's words are none of its own

    def write(self, writes: Sequence[MirrorWrite], enough: Callable[[], bool]) -> Iterator[Done]:
        """What becomes of each write, each in a transaction of its own, until it is `enough`; the first one is always
        done.

        Raises:
            DolmenError: `read-only`; `too-large` for more than `WRITES`; what says that the store does not work.
        """
        require(self.actor, "write")
        _few(len(writes), WRITES, "writes")
        for number, write in enumerate(writes):
            if number and enough():
                return
            try:
                yield self._written(_checked(write))
            except Waits as waits:
                yield waits
            except DolmenError as error:
                if error.code not in _BROKEN:
                    yield error
                elif number:
                    return  # those that are left come again
                else:
                    raise

    def _written(self, write: MirrorWrite) -> NoteState | None:
        notes = self.notes
        if write.op == "withdraw":
            notes.withdraw(write.id)
            return None
        if write.op == "propose":
            raise Waits(notes.propose(write.id, write.source, write.seen, write.reason))
        if (done := self._done_before(write)) is not None:
            return done
        if (waiting := self._waiting(write)) is not None:
            raise Waits(waiting)
        if write.op == "create":
            return notes.create(write.id, write.path, write.source)
        if write.op == "change":
            return notes.change(write.id, write.source, write.seen)
        if write.op == "delete":
            return notes.delete(write.id, write.seen)
        return notes.revive(write.id) if write.op == "revive" else notes.refile(write.id, write.path)

    def _done_before(self, write: MirrorWrite) -> NoteState | None:
        """The note, where the write was done and its answer was lost."""
        if write.op not in ("create", "change", "delete"):
            return None  # the others come to nothing the second time
        note = self.notes.read(write.id)
        if note is None:
            return None
        if write.op == "delete":
            return None if note.live else note
        sha = content_sha(write.source)
        if write.op == "change":
            return note if note.live and note.sha == sha else None
        return note if note.here and self.notes.source(write.id, sha) is not None else None

    def _waiting(self, write: MirrorWrite) -> str | None:
        """The same write of this connection, where it waits already. One that would make the same note of older words
        is taken back."""
        if write.op == "create":
            return self._waiting_note(write)
        with self.rt.read(self.actor) as tx:
            known = tx.proposals.for_note(self.actor.vault, write.id)
        own = [each for each in known if each.status == "pending" and each.connection == self.actor.connection]
        return next((each.id for each in own if _same(each, write)), None)

    def _waiting_note(self, write: MirrorWrite) -> str | None:
        if not self._pending:
            with self.rt.read(self.actor) as tx:
                who = self.actor.connection
                self._pending.extend(tx.proposals.select(self.actor.vault, "pending", who, _PENDING))
        for each in self._pending:
            given: Mapping[str, Any] = each.payload.get("note") or {}
            if each.op == "note_create" and given.get("id") == write.id:
                if given.get("content") == write.source:
                    return each.id
                self.notes.withdraw(each.id)
        return None


def _same(proposal: Proposal, write: MirrorWrite) -> bool:
    given = proposal.payload
    if write.op == "change":
        return (given.get("op"), given.get("content"), given.get("base_sha")) == (
            "replace_note", write.source, write.seen,
        )  # fmt: skip
    if write.op == "delete":
        return (given.get("op"), given.get("base_sha")) == ("delete_note", write.seen)
    if write.op == "refile":
        return proposal.op == "note_move" and given.get("path") == write.path
    return write.op == "revive" and proposal.op == "note_restore"


def _checked(write: MirrorWrite) -> MirrorWrite:
    if not _ID.fullmatch(write.id):
        raise DolmenError("invalid-argument", f"{write.id[:80]!r} is no id.", "Make a UUID of version 7.")
    if len(write.path) > _PATH or clean(write.path)[1]:
        raise DolmenError("invalid-argument", "The path is none.", f"Use at most {_PATH} characters, without NUL.")
    if write.op in ("create", "refile") and not write.path:
        raise DolmenError("invalid-argument", f"{write.op} needs a path.", "Name the file, relative to its folder.")
    if write.op in ("change", "delete", "propose") and not _SHA.fullmatch(write.seen):
        raise DolmenError("invalid-argument", f"{write.op} needs seen.", "Give the sha of the version that was read.")
    refuse_secrets(write.path)
    return write


def _few(number: int, most: int, what: str) -> None:
    if number > most:
        raise DolmenError("too-large", f"{number} {what} at once.", f"Send at most {most}, and the rest after them.")
