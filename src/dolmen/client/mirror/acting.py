"""Does what a plan says, one note at a time: whatever moved on since is left for the next look."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dolmen.client.mirror.files import Folder, Mark, Unsteady
from dolmen.client.mirror.names import fold
from dolmen.client.mirror.planning import Action, Kind, file_path
from dolmen.client.mirror.state import Entry, State
from dolmen.client.mirror.vault import BROKEN, Vault
from dolmen.domain.errors import DolmenError
from dolmen.domain.mirroring import MirrorWrite, NoteState, Standing, Waits
from dolmen.domain.note import content_sha

_RACY = 2_000_000_000
"""Nanoseconds in which a file may be written again without looking another way: coarse clocks of file systems."""
_ALSO = "The file and the note were both changed in the same places."


@dataclass(slots=True)
class Acting:
    folder: Folder
    state: State
    vault: Vault
    told: Callable[[Action], None] = lambda action: None
    """Called for each that was done."""
    clock: Callable[[], int] = time.time_ns
    refused: dict[str, DolmenError] = field(default_factory=dict)
    later: list[str] = field(default_factory=list)

    def run(self, actions: Sequence[Action]) -> None:
        """Does them all; an error of one leaves the others alone.

        Raises:
            DolmenError: when the vault does not answer.
        """
        renames = [action for action in actions if action.kind == "rename"]
        self._run(renames)
        # What is announced has its new path: where the note does not have that yet, the next run has to find it again.
        stuck = {each.entry.id for each in renames if self.state.entries[each.entry.id].path != each.entry.path}
        others = [each for each in actions if each.kind != "rename" and each.entry.id not in stuck]
        self._run(self._announce(others))

    def _run(self, actions: Sequence[Action]) -> None:
        self.vault.expect(action.entry.id for action in actions if action.kind in ("settle", "write", "add"))
        step = max(1, self.vault.together)
        for first in range(0, len(actions), step):
            some = actions[first : first + step]
            if step > 1:
                self.vault.ahead(filter(None, map(self._asked, some)))
            for action in some:
                self._do(action)

    def _do(self, action: Action) -> None:
        try:
            _DO[action.kind](self, action)
        except Unsteady:
            self.later.append(action.entry.path)
        except Waits as waits:
            self._waits(action, waits.proposal)
            self.told(replace(action, kind="propose"))
        except DolmenError as error:
            if error.code in BROKEN:
                raise
            self._failed(action, error)
        else:
            self.told(action)

    def _asked(self, action: Action) -> MirrorWrite | None:
        """What an action asks of the vault, where that can be said before it is done."""
        id, path = action.entry.id, action.entry.path
        try:
            if action.kind == "create":
                return MirrorWrite("create", id, path=path, source=self._text(action))
            if action.kind == "change":
                return MirrorWrite("change", id, source=self._text(action), seen=action.note)
        except (Unsteady, DolmenError):
            return None  # said when it is its turn
        if action.kind == "settle" and action.entry.proposal:
            return MirrorWrite("withdraw", action.entry.proposal)
        if action.kind == "retract" and not self.folder.exists(path):
            return MirrorWrite("delete", id, seen=action.note)
        return MirrorWrite("refile", id, path=path) if action.kind == "rename" else None

    def _waits(self, action: Action, proposal: str) -> None:
        """A person decides about it; until then both sides stay as they are."""
        entry = self._entry(action)
        if entry.proposal and entry.proposal != proposal:
            self.vault.withdraw(entry.proposal)
        known = entry.but(proposal=proposal, against=action.note, mark=None, seen=action.file, next="")
        if action.kind == "rename":  # the file has its new path here, whatever becomes of the note's
            known = entry.but(path=action.entry.path)
        elif action.kind == "create":
            known = known.but(file=action.file)
        self.state.put(known)

    def _announce(self, actions: Sequence[Action]) -> list[Action]:
        """Writes down what is about to be written, so that a run that is killed is understood by the next one."""
        ids = iter(self.vault.new_ids(sum(not action.entry.id for action in actions)))
        out: list[Action] = []
        for action in actions:
            entry = action.entry if action.entry.id else action.entry.but(id=next(ids))
            if action.kind in ("create", "change", "restore"):
                self.state.put(_announced(action, entry, action.file))
            elif action.kind == "add":
                self.state.put(entry)
            out.append(Action(action.kind, entry, action.found, action.file, action.note, action.text, action.standing))
        self.state.flush()
        return out

    def _failed(self, action: Action, error: DolmenError) -> None:
        entry = action.entry
        if error.code in ("conflict", "gone", "not-found"):  # it moved on since
            self.later.append(entry.path)
        else:
            self.refused[entry.path] = error
        if action.kind == "rename":  # it is tried again
            return
        if entry.base or entry.proposal:
            self.state.put(entry)
        elif action.kind in ("create", "restore", "add"):
            self.state.drop(entry.id)

    # ---------------------------------------------------------------------------------------------- what is known now
    def _common(self, action: Action, sha: str, note: NoteState, mark: Mark) -> None:
        """Both sides say the same."""
        entry = self._entry(action)
        if entry.proposal:
            self.vault.withdraw(entry.proposal)
        same = note.sha == sha  # else somebody was faster: the next look sees it
        self.state.put(
            Entry(
                entry.id,
                entry.path,
                file=sha,
                base=sha,
                version=note.standing.version if same else 0,
                changed_at=note.standing.changed_at if same else 0,
                place=_place(entry, note.standing),
                mark=self._trusted(mark),
                seen=sha,
            )
        )

    def _trusted(self, mark: Mark) -> Mark | None:
        """The mark of a file, unless it was written so lately that another write could leave it the same."""
        changed = mark[0] if os.name == "nt" else mark[3]
        return mark if self.clock() - changed > _RACY else None

    def _entry(self, action: Action) -> Entry:
        """The entry with what an action before this one did to it."""
        entry = self.state.entries.get(action.entry.id)
        return action.entry if entry is None else entry.but(path=action.entry.path)

    def _mark(self, action: Action) -> Mark:
        if action.found is None:
            raise Unsteady(action.entry.path)
        return action.found.mark

    def _text(self, action: Action) -> str:
        """What the file says, if it is still what the plan is about."""
        found = self.folder.read(action.entry.path)
        if found.sha != action.file or found.mark != self._mark(action):
            raise Unsteady(action.entry.path)
        return found.text

    def _note(self, action: Action) -> NoteState:
        """The note, if it still is what the plan is about."""
        note = self.vault.read(action.entry.id)
        if note is None or not note.live or (action.note and note.sha != action.note):
            raise Unsteady(action.entry.path)
        return note

    # -------------------------------------------------------------------------------------------- the vault follows
    def _settle(self, action: Action) -> None:
        self._common(action, action.file, self._note(action), self._mark(action))

    def _forget(self, action: Action) -> None:
        if action.entry.proposal:
            self.vault.withdraw(action.entry.proposal)
        self.state.drop(action.entry.id)

    def _rename(self, action: Action) -> None:
        note = self.vault.refile(action.entry.id, action.entry.path)
        entry, now = self._entry(action), note.standing
        version = now.version if note.sha == entry.base else 0  # what else changed is still to be seen
        self.state.put(entry.but(path=action.entry.path, place=now.place, version=version, changed_at=now.changed_at))

    def _create(self, action: Action) -> None:
        note = self.vault.create(action.entry.id, action.entry.path, self._text(action))
        self._common(action, action.file, note, self._mark(action))

    def _change(self, action: Action) -> None:
        note = self.vault.change(action.entry.id, self._text(action), action.note)
        self._common(action, action.file, note, self._mark(action))

    def _restore(self, action: Action) -> None:
        text = self._text(action)
        note = self.vault.revive(action.entry.id)
        if note.sha != action.file:
            note = self.vault.change(action.entry.id, text, note.sha)
        self._common(action, action.file, note, self._mark(action))

    def _merge(self, action: Action) -> None:
        self._text(action)
        entry = self._entry(action)
        merged = content_sha(action.text)
        self.state.put(_announced(action, entry, merged))
        self.state.flush()
        note = self.vault.change(entry.id, action.text, action.note)
        if note.sha != merged:
            raise Unsteady(entry.path)
        mark = self.folder.write(entry.path, note.source, self._mark(action))
        self._common(action, note.sha, note, mark)

    def _propose(self, action: Action) -> None:
        self._text(action)
        entry = self._entry(action)
        proposal = self.vault.propose(entry.id, action.text, action.note, _ALSO)
        if entry.proposal and entry.proposal != proposal:
            self.vault.withdraw(entry.proposal)
        mark = self._trusted(self._mark(action))
        self.state.put(entry.but(proposal=proposal, against=action.note, mark=mark, seen=action.file, next=""))

    def _retract(self, action: Action) -> None:
        if self.folder.exists(action.entry.path):
            raise Unsteady(action.entry.path)
        self.vault.delete(action.entry.id, action.note)
        self.state.drop(action.entry.id)

    # ------------------------------------------------------------------------------------------- the folder follows
    def _move(self, action: Action) -> None:
        entry, standing = action.entry, action.standing
        self.folder.rename(entry.path, action.text)
        place = entry.place if standing is None else standing.place
        self.state.put(entry.but(path=action.text, place=place, mark=None))

    def _write(self, action: Action) -> None:
        note = self._note(action)
        mark = self.folder.write(self._entry(action).path, note.source, self._mark(action))
        self._common(action, note.sha, note, mark)

    def _add(self, action: Action) -> None:
        note = self._note(action)
        mark = self.folder.write(action.entry.path, note.source, None)
        self._common(action, note.sha, note, mark)

    def _remove(self, action: Action) -> None:
        self.folder.remove(action.entry.path, self._mark(action))
        self.state.drop(action.entry.id)


_DO: Mapping[Kind, Callable[[Acting, Action], None]] = {
    "settle": Acting._settle,
    "forget": Acting._forget,
    "rename": Acting._rename,
    "create": Acting._create,
    "change": Acting._change,
    "merge": Acting._merge,
    "propose": Acting._propose,
    "retract": Acting._retract,
    "restore": Acting._restore,
    "move": Acting._move,
    "write": Acting._write,
    "add": Acting._add,
    "remove": Acting._remove,
}


def _place(entry: Entry, now: Standing) -> str:
    """Where the note says that its file belongs, as far as the file is there: a note that was moved since the plan was
    made is still to take its file along."""
    return now.place if not entry.place or fold(file_path(now)) == fold(entry.path) else entry.place


def _announced(action: Action, entry: Entry, next: str) -> Entry:
    """The entry while the note is being written: arrived is what stands in a version after the one that there is."""
    version = 0 if action.standing is None else action.standing.version
    return entry.but(next=next, seen=action.file, mark=None, version=version, changed_at=0)
