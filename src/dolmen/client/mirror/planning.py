"""What has to be done so that folder and vault say the same. Nothing is written here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Literal

from dolmen.client.mirror.files import FileText, Folder, Unsteady
from dolmen.client.mirror.names import fold, numbered, path_for, same_name
from dolmen.client.mirror.renames import renames
from dolmen.client.mirror.scanning import Found, Scan
from dolmen.client.mirror.state import Entry, State
from dolmen.client.mirror.vault import BROKEN, Vault
from dolmen.domain.errors import DolmenError
from dolmen.domain.mirroring import NoteState, Standing
from dolmen.markdown import merge_sources

_BURIED = "its note was deleted, and what the file says was declined: change the file to propose it"

Kind = Literal[
    "settle", "forget",  # nothing but what is known changes
    "rename", "create", "change", "merge", "propose", "retract", "restore",  # the vault follows the folder
    "move", "write", "add", "remove",  # the folder follows the vault
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Action:
    kind: Kind
    entry: Entry
    found: Found | None = None
    file: str = ""
    """Sha of the file."""
    note: str = ""
    """Sha of the note."""
    text: str = ""
    """What both are to say."""
    standing: Standing | None = None


@dataclass(slots=True)
class Plan:
    actions: list[Action] = field(default_factory=list)
    refused: dict[str, DolmenError] = field(default_factory=dict)
    """By path: files that can be no notes."""
    passed: dict[str, str] = field(default_factory=dict)
    """By path: left alone, and why."""
    waiting: list[str] = field(default_factory=list)
    """Paths whose two versions wait for a person."""
    later: list[str] = field(default_factory=list)
    """Paths that are being written just now."""
    older: list[str] = field(default_factory=list)
    """Paths whose notes are older than what both sides had in common, or were lost."""
    missing: set[str] = field(default_factory=set)
    """Notes whose files were not found."""

    def number(self, kind: Kind) -> int:
        return sum(action.kind == kind for action in self.actions)


@dataclass(slots=True)
class Planner:
    folder: Folder
    state: State
    vault: Vault
    scan: Scan
    standing: dict[str, Standing]
    steady: Callable[[Found], bool] = lambda found: True
    """Whether nobody writes a file just now."""
    missed: Collection[str] | None = None
    """Notes whose files were missing at the last look too; None to believe the first one."""
    done: Plan = field(default_factory=Plan)
    _tracked: dict[str, Entry] = field(default_factory=dict)
    _renamed: set[str] = field(default_factory=set)
    _planned: set[str] = field(default_factory=set)
    _restless: bool = False
    """A new file is still being written: it may be one that seems to be gone."""

    def plan(self) -> Plan:
        self._tracked = {id: self._landed(entry) for id, entry in self.state.entries.items()}
        self.done.passed |= self.scan.passed
        fresh = self._follow()
        new = [self.standing[id] for id in self.standing.keys() - self._tracked.keys()]
        # A copy of the folder has the name that a file got where the address itself could be none: `_con.md`.
        places = {same_name(file_path(each)): each.id for each in new} | {
            same_name(each.place): each.id for each in new
        }
        if self.vault.together > 1:
            self._expect(fresh, places)
        for entry in self._tracked.values():
            found = self.scan.files.get(same_name(entry.path))
            if found is None:
                self._gone(entry)
            elif not self._as_it_was(entry, found):
                self._try(found, self._there, entry.but(path=found.path))  # it may be spelled otherwise now
        for found in fresh:
            self._try(found, self._fresh, places)
        held = self._held(places)
        for each in sorted(new, key=lambda each: each.place):
            if each.id not in self._tracked and each.id not in held:
                self._add(Entry(each.id, self._free(each)), each)
        return self.done

    def _held(self, places: dict[str, str]) -> set[str]:
        """Notes whose files are there, but could not be looked at."""
        paths = map(same_name, (*self.done.refused, *self.done.passed, *self.done.later))
        return {id for path in paths for id in (self.state.shared.get(path), places.get(path)) if id is not None}

    def _act(self, kind: Kind, entry: Entry, found: Found | None = None, **more: str) -> None:
        standing = self.standing.get(entry.id)
        self.done.actions.append(Action(kind, entry, found, standing=standing, **more))

    def _landed(self, entry: Entry) -> Entry:
        """The entry after a run that was killed, when its file has gone since: what it said may stand in the note."""
        if not entry.next or entry.next != entry.seen or same_name(entry.path) in self.scan.files:
            return entry
        if self.vault.source(entry.id, entry.next, after=entry.version) is None:
            return entry
        return entry.but(file=entry.next, base=entry.next, next="")

    def _expect(self, fresh: Sequence[Found], places: Mapping[str, str]) -> None:
        """Tells the vault what is about to be asked."""
        paths = [same_name(found.path) for found in fresh]
        named = filter(None, (self.state.shared.get(path) or places.get(path) for path in paths))
        entries = [each for each in self._tracked.values() if self._to_be_read(each)]
        self.vault.expect(
            [*(each.id for each in entries), *named],
            [(each.id, each.next, each.version) for each in entries if each.next],
            [each.proposal for each in entries if each.proposal],
        )

    def _to_be_read(self, entry: Entry) -> bool:
        found = self.scan.files.get(same_name(entry.path))
        return entry.id not in self.standing if found is None else not self._as_it_was(entry, found)

    # --------------------------------------------------------------------------------------------------------- renames
    def _follow(self) -> list[Found]:
        """Gives entries the new paths of their files; the files that are left are new."""
        known = {same_name(entry.path): entry for entry in self._tracked.values()}
        fresh = [self.scan.files[path] for path in self.scan.files.keys() - known.keys()]
        missing = [entry for path, entry in known.items() if entry.file and path not in self.scan.files]
        fresh.sort(key=lambda found: found.path)
        self._restless = not all(map(self.steady, fresh))
        moved = renames(missing, fresh, self.state.shared, self._text, self._before)
        for id, found in moved.items():
            before = self._tracked[id]
            self._tracked[id] = entry = before.but(path=found.path)
            self._renamed.add(id)
            if id in self.standing:
                self._act("rename", entry, found)
        taken = {found.path for found in moved.values()}
        return [found for found in fresh if found.path not in taken]

    def _text(self, found: Found) -> str | None:
        try:
            return self.folder.read(found.path).text if self.steady(found) else None
        except (DolmenError, Unsteady):
            return None

    def _before(self, entry: Entry) -> str | None:
        return self.vault.source(entry.id, entry.base) if entry.base else None

    # --------------------------------------------------------------------------------------------------- known files
    def _as_it_was(self, entry: Entry, found: Found) -> bool:
        """Whether neither side was touched since both said the same."""
        now = self.standing.get(entry.id)
        return (
            now is not None
            and entry.mark == found.mark
            and (entry.version, entry.changed_at, entry.place) == (now.version, now.changed_at, now.place)
            and not entry.proposal
            and not entry.next
        )

    def _gone(self, entry: Entry) -> None:
        """The file is not there."""
        now = self.standing.get(entry.id)
        if self.scan.hides(entry.path):
            self.done.passed.setdefault(same_name(entry.path), "its folder is a link, or cannot be looked into")
            return
        if self.folder.exists(entry.path):
            self.done.passed.setdefault(same_name(entry.path), "another file has its name on this file system")
            return
        if now is None:
            note = self.vault.read(entry.id)
            if note is None or not note.live:
                self._act("forget", entry)
            return
        if not entry.file:
            self._add(entry, now)
            return
        if entry.proposal and not entry.seen and not self._declined(entry, now):
            self.done.waiting.append(entry.path)
            return
        self.done.missing.add(entry.id)
        if self._restless or (self.missed is not None and entry.id not in self.missed):
            self.done.later.append(entry.path)
        elif entry.proposal and not entry.seen:
            self._add(entry.but(file="", base="", mark=None), now)
        elif (entry.version, entry.changed_at) == (now.version, now.changed_at):
            self._act("retract", entry, note=entry.base)
        else:
            note = self.vault.read(entry.id)
            if note is not None and note.live and note.sha == entry.base:
                self._act("retract", entry, note=note.sha)
            elif note is not None and note.live:
                self._add(entry.but(file="", base="", mark=None), now)

    def _declined(self, entry: Entry, now: Standing) -> bool:
        """Whether a deletion that was proposed will not come: a person said no, or the note was changed since."""
        same = (entry.version, entry.changed_at) == (now.version, now.changed_at)
        return not same or self.vault.proposal(entry.proposal) != "pending"

    def _try(self, found: Found, look: Callable[..., None], argument: object) -> None:
        """Looks at a file; one that can be no note is refused and leaves the others alone."""
        try:
            if not self.steady(found):
                raise Unsteady(found.path)
            look(found, argument)
        except Unsteady:
            self.done.later.append(found.path)
        except DolmenError as error:
            if error.code in BROKEN:
                raise
            self.done.refused[found.path] = error

    def _there(self, found: Found, entry: Entry) -> None:
        """A known note's file is there, and one of the two may have changed."""
        file = self._sha(entry, found)
        note = self.vault.read(entry.id)
        if note is None:
            self._purged(entry, found, file)
        elif not note.here or (note.live and entry.id not in self.standing):
            self.done.passed[found.path] = "its note belongs to another project now"
        elif not note.live:
            self._buried(entry, found, file, note)
        else:
            if not self._place(entry, found, note):
                self._compare(self._arrived(entry, file, note), found, file, note)

    def _sha(self, entry: Entry, found: Found) -> str:
        return entry.seen if entry.mark == found.mark and entry.seen else self._read(found).sha

    def _read(self, found: Found) -> FileText:
        text = self.folder.read(found.path)
        if text.mark != found.mark:
            raise Unsteady(found.path)
        return text

    def _arrived(self, entry: Entry, file: str, note: NoteState) -> Entry:
        """The entry after a run that was killed: what it was writing got there, or did not."""
        if entry.next and self.vault.source(entry.id, entry.next, after=entry.version) is not None:
            if entry.next == entry.seen:
                return entry.but(file=entry.next, base=entry.next, next="")
            if file == entry.seen:  # both versions are in what the note says
                return entry.but(file=file, base=note.sha, next="")
        if not entry.base and not entry.proposal and entry.version == note.standing.version:
            return entry.but(file=note.sha, base=note.sha)  # the file was just made of this version
        return entry.but(next="")

    def _compare(self, entry: Entry, found: Found, file: str, note: NoteState) -> None:
        if file == note.sha:
            self._act("settle", entry, found, file=file, note=note.sha)
        elif note.standing.version < entry.version:
            self._older("change", entry, found, file, note.sha)
        elif entry.proposal and entry.against and file == entry.seen:  # else it was about the note, not its words
            self._decided(entry, found, file, note)
        elif file == entry.file:
            self._act("write", entry, found, file=file, note=note.sha)
        elif note.sha == entry.base == entry.file:
            self._act("change", entry, found, file=file, note=note.sha)
        else:
            self._reconcile(entry, found, file, note)

    def _decided(self, entry: Entry, found: Found, file: str, note: NoteState) -> None:
        """Both sides changed the same blocks, and the file's version was proposed."""
        if self.vault.proposal(entry.proposal) != "pending":
            self._act("write", entry, found, file=file, note=note.sha)
        elif note.sha == entry.against:
            self.done.waiting.append(found.path)
        else:
            self._reconcile(entry, found, file, note)

    def _reconcile(self, entry: Entry, found: Found, file: str, note: NoteState) -> None:
        """Both sides changed since they said the same."""
        base = self.vault.source(entry.id, entry.base) if entry.base else None
        own = self._read(found).text
        both = None if base is None else merge_sources(base, own, note.source)
        kind: Kind = "merge" if both is not None and not both.clash else "propose"
        self._act(kind, entry, found, file=file, note=note.sha, text=own if both is None else both.source)

    def _purged(self, entry: Entry, found: Found, file: str) -> None:
        """The vault has no such note: it was destroyed, hidden from this reader, never made, or lost."""
        if not entry.base:
            if not self._undecided(entry, found, file, "its note was declined: change the file to propose it again"):
                self._act("create", entry, found, file=file)
        elif not self.vault.purged([entry.id]):
            self._older("create", entry, found, file)
        elif file == entry.file:
            self._act("remove", entry, found, file=file)
        else:
            why = "its note was purged or made private, and it says something else now: rename it to keep it"
            self.done.passed[found.path] = why

    def _undecided(self, entry: Entry, found: Found, file: str, declined: str) -> bool:
        """Whether a note that was proposed with these words, or brought back, is still to come, or never will."""
        if not entry.proposal or file != entry.seen:
            return False
        if self.vault.proposal(entry.proposal) == "pending":
            self.done.waiting.append(found.path)
        else:
            self.done.passed[found.path] = declined
        return True

    def _older(self, kind: Kind, entry: Entry, found: Found, file: str, note: str = "") -> None:
        """The vault does not know a version that it had: an older copy of its store was restored. The file has the only
        words that are left of it."""
        self.done.older.append(found.path)
        self._act(kind, entry, found, file=file, note=note)

    def _buried(self, entry: Entry, found: Found, file: str, note: NoteState) -> None:
        """The note was deleted. A file that says nothing new goes too, unless somebody put it there since: then the
        note comes back. In a folder that is looked at for the first time, a file may just be old."""
        old = not self.state.entries and self.vault.source(entry.id, file) is not None
        if note.standing.version < entry.version:
            self._older("restore", entry, found, file)
        elif file == entry.file or old:
            self._act("remove", entry, found, file=file)
        elif self._undecided(entry, found, file, _BURIED):
            return
        else:
            self._act("restore", entry, found, file=file)

    def _place(self, entry: Entry, found: Found, note: NoteState) -> bool:
        """A moved note takes its file along, unless somebody renamed that one; what else changed comes next."""
        place = note.standing.place
        if place == entry.place or not entry.place or entry.id in self._renamed:
            return False
        if fold(file_path(note.standing)) == fold(entry.path):
            return False
        self._act("move", entry, found, text=self._free(note.standing), note=note.sha)
        self.done.later.append(found.path)
        return True

    # ------------------------------------------------------------------------------------------------------- new ones
    def _fresh(self, found: Found, places: dict[str, str]) -> None:
        """A file that no known note has."""
        text = self._read(found)
        path = same_name(found.path)
        id = self.state.shared.get(path)
        if id is None or id in self._tracked:
            id = places.get(path)
        note = None if id is None else self.vault.read(id)
        entry = Entry(id or "", found.path)
        if id is not None:
            self._tracked[id] = entry
        if note is None:
            self._act("create", entry, found, file=text.sha)
        elif not note.here or (note.live and entry.id not in self.standing):
            self.done.passed[found.path] = "its note belongs to another project"
        elif not note.live:
            self._buried(entry, found, text.sha, note)
        elif note.sha != text.sha and self.vault.source(entry.id, text.sha) is not None:
            self._act("write", entry.but(file=text.sha), found, file=text.sha, note=note.sha)
        else:
            self._compare(entry, found, text.sha, note)

    def _add(self, entry: Entry, standing: Standing) -> None:
        known = entry.but(version=standing.version, changed_at=standing.changed_at, place=standing.place)
        self._act("add", known)

    def _free(self, standing: Standing) -> str:
        """A path for a note's file that nothing else has, also where case makes no difference."""
        wanted = file_path(standing)
        paths = (wanted if n == 1 else numbered(wanted, n) for n in count(1))
        path = next(each for each in paths if fold(each) not in self.scan.taken and fold(each) not in self._planned)
        self._planned.add(fold(path))
        return path


def file_path(standing: Standing) -> str:
    """The path that a note's file gets: one that was a file's name stays; an agent's is one for every system."""
    return path_for(standing.place, standing.id, anywhere=not standing.was_file)
