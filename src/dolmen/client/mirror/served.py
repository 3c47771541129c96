"""The vault of a server on another machine, over its REST interface: implements `Vault`.

A note is asked for together with those that are asked for next, and writes go many in a call, so that thousands of
notes take tens of calls. Ids are made here, before a note is: sent again, a write finds itself done.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, TypeVar
from urllib.parse import urlencode

from dolmen.client.mirror.wire import Wire, refusal
from dolmen.domain.errors import DolmenError
from dolmen.domain.mirroring import MirrorWrite, NoteState, Standing, Waiting, Waits
from dolmen.domain.note import content_sha

_TOGETHER, _READ = 100, 200
"""Writes in one call, and notes read in one."""
_BODY = 1_500_000
"""Bytes of a call: a server takes four million where nothing else is set."""
_LISTINGS = 3
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

Source = tuple[str, str, int]
_Key = TypeVar("_Key")
_Done = NoteState | Waits | DolmenError | None


@dataclass(slots=True)
class ServedVault:
    wire: Wire
    project: str | None = None
    mode: Literal["read", "suggest", "write"] = "read"
    together: int = _TOGETHER
    _wanted: dict[str, None] = field(default_factory=dict)
    _sources_wanted: dict[Source, None] = field(default_factory=dict)
    _proposals_wanted: dict[str, None] = field(default_factory=dict)
    _notes: dict[str, NoteState | None] = field(default_factory=dict)
    _sources: dict[Source, str | None] = field(default_factory=dict)
    _proposals: dict[str, Waiting] = field(default_factory=dict)
    _purged: set[str] = field(default_factory=set)
    """Of the notes that were read and are not there, those that were destroyed on purpose."""
    _held: dict[MirrorWrite, _Done] = field(default_factory=dict)
    """What became of writes that were done ahead."""

    def about(self) -> tuple[str, str]:
        """The id of the vault and the scope of the notes; `mode` is known from then on."""
        found = self._about()
        with _understood():
            return str(found["vault"]), str(found["scope"])

    def _about(self) -> dict[str, Any]:
        found = self._get("/mirror")
        if found.get("mode") not in ("read", "suggest", "write"):
            raise DolmenError("configuration", "What answers there is no Dolmen server.", "Is the address right?")
        self.mode = found["mode"]
        return found

    # ---------------------------------------------------------------------------------------------------------- reading
    def standing(self) -> Sequence[Standing]:
        self._forget()
        for _ in range(_LISTINGS):
            try:
                return list(self._pages())
            except DolmenError as error:
                if error.code != "gone":  # a note went while the list was read
                    raise
        return list(self._pages())

    def _pages(self) -> Iterator[Standing]:
        after: str | None = None
        while True:
            page = self._get("/mirror/notes", **({} if after is None else {"after": after}))
            with _understood():
                found = [_standing(each) for each in page["notes"]]
                after = page["next"]
            yield from found
            if after is None:
                return

    def newest(self) -> object:
        return self._about()["newest"]

    def expect(self, notes: Iterable[str], sources: Iterable[Source] = (), proposals: Iterable[str] = ()) -> None:
        self._forget()
        self._wanted = dict.fromkeys(notes)
        self._sources_wanted = dict.fromkeys(sources)
        self._proposals_wanted = dict.fromkeys(proposals)

    def read(self, id: str) -> NoteState | None:
        if id not in self._notes:
            self._read(notes=_next(id, self._wanted))
        return self._notes.pop(id)

    def purged(self, ids: Sequence[str]) -> Collection[str]:
        return self._purged & set(ids)

    def source(self, id: str, sha: str, after: int = 0) -> str | None:
        wanted = (id, sha, after)
        if wanted not in self._sources:
            self._read(sources=_next(wanted, self._sources_wanted))
        return self._sources.pop(wanted)

    def proposal(self, id: str) -> Waiting:
        if id not in self._proposals:
            self._read(proposals=_next(id, self._proposals_wanted))
        return self._proposals.pop(id)

    def _read(self, notes: Sequence[str] = (), sources: Sequence[Source] = (), proposals: Sequence[str] = ()) -> None:
        """Asks for these; the answer may hold the first ones only."""
        wanted = [{"id": id, "sha": sha, "after": after} for id, sha, after in sources]
        found = self._post("/mirror/read", {"notes": notes, "sources": wanted, "proposals": proposals})
        with _understood():
            self._notes |= zip(notes, map(_state, found["notes"]))
            self._sources |= zip(sources, found["sources"])
            self._proposals |= zip(proposals, found["proposals"])
            self._purged |= set(found.get("purged", ())) & set(notes)
            if not any(found.values()) and (notes or sources or proposals):
                raise ValueError("nothing of what was asked for")
        for id in notes:
            self._wanted.pop(id, None)
        for source in sources:
            self._sources_wanted.pop(source, None)
        for proposal in proposals:
            self._proposals_wanted.pop(proposal, None)

    def _forget(self) -> None:
        """What was read before may be another one by now."""
        for known in (self._notes, self._sources, self._proposals, self._purged, self._held):
            known.clear()

    # ---------------------------------------------------------------------------------------------------------- writing
    def new_ids(self, count: int) -> Sequence[str]:
        return [_new_id() for _ in range(count)]

    def ahead(self, writes: Iterable[MirrorWrite]) -> None:
        self._held.clear()
        if self.mode == "read":
            return
        batch: list[tuple[MirrorWrite, str]] = []
        size = 0
        for write in writes:
            text = _encoded(write)
            length = len(text.encode("utf-8", "replace"))
            if batch and (size + length > _BODY or len(batch) >= _TOGETHER):
                self._send(batch)
                batch, size = [], 0
            batch.append((write, text))
            size += length
        if batch:
            self._send(batch)

    def _send(self, batch: Sequence[tuple[MirrorWrite, str]]) -> None:
        """Writes them all; the server may do the first ones only, and has to be asked for the rest."""
        while batch:
            texts = ",".join(text for _, text in batch)
            body = f'{{"project":{json.dumps(self.project)},"writes":[{texts}]}}'
            try:
                results = self.wire.ask("/mirror/write", body).get("results") or []
            except DolmenError as error:
                if error.code != "too-large":
                    raise
                if len(batch) == 1:
                    self._held[batch[0][0]] = error
                    return
                half = len(batch) // 2
                self._send(batch[:half])
                self._send(batch[half:])
                return
            with _understood():
                for (write, _), result in zip(batch, results):
                    self._held[write] = _done(write, result)
                if not results:
                    raise ValueError("none of the writes was done")
            batch = batch[len(results) :]

    def _write(self, write: MirrorWrite) -> NoteState | None:
        self._notes.pop(write.id, None)
        if write not in self._held:
            self._send([(write, _encoded(write))])
        done = self._held.pop(write)
        if isinstance(done, DolmenError | Waits):
            raise done
        return done

    def _note(self, write: MirrorWrite) -> NoteState:
        note = self._write(write)
        if note is None:
            raise DolmenError("gone", "The note was just purged.", "Run the mirror again.")
        return note

    def create(self, id: str, path: str, source: str) -> NoteState:
        return self._note(MirrorWrite("create", id, path=path, source=source))

    def change(self, id: str, source: str, seen: str) -> NoteState:
        return self._note(MirrorWrite("change", id, source=source, seen=seen))

    def delete(self, id: str, seen: str) -> NoteState:
        return self._note(MirrorWrite("delete", id, seen=seen))

    def revive(self, id: str) -> NoteState:
        return self._note(MirrorWrite("revive", id))

    def refile(self, id: str, path: str) -> NoteState:
        """Where only reading is allowed, the file has another path here and nowhere else."""
        if self.mode != "read":
            return self._note(MirrorWrite("refile", id, path=path))
        note = self.read(id)
        if note is None:
            raise DolmenError("gone", "The note was just purged.", "Run the mirror again.")
        return note

    def propose(self, id: str, source: str, seen: str, reason: str) -> str:
        try:
            self._write(MirrorWrite("propose", id, source=source, seen=seen, reason=reason))
        except Waits as waits:
            return waits.proposal
        raise DolmenError("internal", "The server named no proposal.", "Run the mirror again.")

    def withdraw(self, proposal: str) -> None:
        if self.mode != "read":
            self._write(MirrorWrite("withdraw", proposal))

    # ------------------------------------------------------------------------------------------------------------ calls
    def _get(self, path: str, **query: str) -> dict[str, Any]:
        given = query if self.project is None else {"project": self.project, **query}
        return self.wire.ask(f"{path}?{urlencode(given)}" if given else path)

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return self.wire.ask(path, json.dumps({"project": self.project, **body}, ensure_ascii=False))


def _next(wanted: _Key, others: Iterable[_Key]) -> list[_Key]:
    """What is wanted now, and what comes next."""
    found = [wanted]
    for each in others:
        if len(found) == _READ:
            break
        if each != wanted:
            found.append(each)
    return found


def _state(given: dict[str, Any] | None, source: str = "") -> NoteState | None:
    if given is None:
        return None
    said, sha = given.get("source", source), given["sha"]
    if not (isinstance(said, str) and isinstance(sha, str)):
        raise TypeError("a note says something else than text")
    said.encode()
    return NoteState(_standing(given["standing"]), said, sha, given["live"] is True, given["here"] is True)


def _standing(given: dict[str, Any]) -> Standing:
    """A note of a listing. A file's name may be made of its id, so what is none goes no further."""
    id, place = given["id"], given["place"]
    if not (isinstance(id, str) and _ID.fullmatch(id) and isinstance(place, str)):
        raise ValueError("a note has no id, or no place")
    if type(given["version"]) is not int or type(given["changed_at"]) is not int:
        raise TypeError("a note's version or time is no number")
    return Standing(**given)


@contextmanager
def _understood() -> Iterator[None]:
    """Around the reading of an answer.

    Raises:
        DolmenError: `configuration` for one that is not as it should be.
    """
    try:
        yield
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DolmenError(
            "configuration",
            f"The server's answer is none that a mirror understands ({error}).",
            "Bring the server and this program to the same version.",
        ) from error


def _done(write: MirrorWrite, result: dict[str, Any]) -> _Done:
    """What became of a write. The server does not send back what was sent."""
    if (error := result.get("error")) is not None:
        return refusal(error)
    if (proposal := result.get("proposal")) is not None:
        return Waits(str(proposal))
    given = result.get("note")
    same = given is not None and given["sha"] == content_sha(write.source)
    return _state(given, write.source if same else "")


def _encoded(write: MirrorWrite) -> str:
    return json.dumps({name: value for name, value in asdict(write).items() if value}, ensure_ascii=False)


def _new_id() -> str:
    """UUID version 7 (RFC 9562)."""
    value = time.time_ns() // 1_000_000 << 80 | 0x7 << 76 | int.from_bytes(os.urandom(10)) & ((1 << 76) - 1)
    value = value & ~(0b11 << 62) | 0b10 << 62
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
