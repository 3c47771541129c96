"""Notes, the addresses that they had, and their revisions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from dolmen.domain.errors import DolmenError
from dolmen.domain.note import Note, NoteRevision, key, name_of
from dolmen.domain.values import Change
from dolmen.store.contract import Filter, NoteLine, NoteOrder
from dolmen.store.filter import condition
from dolmen.store.mapping import dump
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import Query, chunks, queries

_COLUMNS = (
    "scope_id", "permalink", "title", "folder", "kind", "label", "path", "status", "note_reason", "superseded_by",
    "agent", "person", "connection", "session", "created_at", "updated_at", "blocks", "source",
)  # fmt: skip
"""What the note and note_revision tables have alike."""
_LINE = (
    "id", "scope_id", "permalink", "title", "folder", "kind", "label", "path", "status", "agent", "created_at",
    "updated_at", "version",
)  # fmt: skip
_KEYS: Mapping[NoteOrder, tuple[str, ...]] = {"address": ("address_key", "id"), "changed": ("updated_at", "id")}


@cache
def _filled() -> Mapping[str, Query]:
    def listed(alias: str, names: Sequence[str] = _COLUMNS) -> str:
        return ", ".join(f"{alias}.{name}" if alias else name for name in names)

    pieces = {
        "columns": listed(""),
        "n_columns": listed("n"),
        "r_columns": listed("r"),
        "values": ", ".join(_typed(name) for name in _COLUMNS),
        "assignments": ", ".join(f"{name} = :{name}" for name in _COLUMNS),
    }
    return {
        name: query.fill(**pieces, lines=listed("m" if name == "select" else "n", _LINE))
        for name, query in queries("notes").items()
    }


def _typed(name: str) -> str:
    """In a SELECT, PostgreSQL has to be told what a parameter is."""
    return f"CAST(:{name} AS {'BIGINT' if name in ('scope_id', 'created_at', 'updated_at') else 'TEXT'})"


class NoteRepository:
    """Implements `contract.Notes`."""

    def __init__(self, session: Session, numbers: ScopeNumbers) -> None:
        self._session = session
        self._numbers = numbers
        self._sql = _filled()

    # ------------------------------------------------------------------------------------------------------- writes
    def add(self, note: Note) -> bool:
        params = self._params(note)
        if not self._session.run(self._sql["add"], params):
            return False
        # The insert may have waited for a move away from this address, whose note keeps it, and which it did not see.
        if note.status != "deleted" and self._session.one(self._sql["elsewhere"], params):
            self._session.run(self._sql["take_back"], params)
            return False
        return True

    def lock(self, vault: str, id: str) -> None:
        self._session.run(self._sql["lock"], {"vault": vault, "id": id})

    def update(self, before: Note, after: Note, change: Change) -> None:
        if (after.id, after.vault, after.version) != (before.id, before.vault, before.version + 1):
            raise ValueError("the new state must be the next version of the same note")
        params = self._params(after) | {"version": before.version}
        if after.status != "deleted" and (other := self._session.one(self._sql["other"], params)):
            raise DolmenError(
                "conflict",
                f"Another note has the address {after.permalink!r}.",
                "Choose another address, or change that note.",
                current=other[0],
            )
        kept = self._session.run(self._sql["keep"], params | _change_params(change))
        if not kept or not self._session.run(self._sql["replace"], params):
            raise DolmenError(
                "conflict",
                f"{before.permalink} was changed by somebody else meanwhile.",
                "Read it again and repeat the change.",
            )
        if after.audience != before.audience:
            for name in ("share_alias", "unshare_alias"):
                moved = {"vault": after.vault, "id": after.id, "audience": after.audience}
                self._session.run(self._sql[name], moved)
        old, new = key(before.permalink), key(after.permalink)
        if old != new:
            for name, address in (("unalias", new), ("alias", old)):
                named: dict[str, Value] = {"vault": after.vault, "id": after.id, "address_key": address}
                self._session.run(self._sql[name], {**named, "audience": after.audience})

    def restore(self, note: Note, revisions: Sequence[NoteRevision], aliases: Sequence[str] = ()) -> bool:
        if not self.add(note):
            return False
        for revision in revisions:
            self._session.run(self._sql["import_revision"], self._params(revision.note) | _revision_params(revision))
        for address in aliases:
            named: dict[str, Value] = {"vault": note.vault, "id": note.id, "address_key": key(address)}
            self._session.run(self._sql["alias"], {**named, "audience": note.audience})
        return True

    def rewrite(self, note: Note, revisions: Sequence[NoteRevision], forget: Sequence[str] = ()) -> None:
        self._session.run(self._sql["rewrite"], self._params(note))
        for revision in revisions:
            params = self._params(revision.note) | {"reason": revision.reason}
            self._session.run(self._sql["rewrite_revision"], params)
        for address in forget:
            self._session.run(self._sql["unalias"], {"vault": note.vault, "id": note.id, "address_key": address})

    def purge(self, vault: str, ids: Sequence[str]) -> None:
        for chunk in chunks(ids):
            for table in ("proposal", "note_alias", "note_revision", "note"):
                query, params = self._sql[f"purge_{table}"].spread(ids=chunk)
                self._session.run(query, params | {"vault": vault})

    # -------------------------------------------------------------------------------------------------------- reads
    def get(self, vault: str, id: str) -> Note | None:
        return self._one(vault, "get", {"vault": vault, "id": id})

    def many(self, vault: str, ids: Sequence[str]) -> dict[str, Note]:
        found: dict[str, Note] = {}
        for chunk in chunks(ids):
            query, params = self._sql["many"].spread(ids=chunk)
            for row in self._session.all(query, {**params, "vault": vault}):
                if self._numbers.sees(vault, row[2]):
                    found[row[1]] = self._note(vault, row)
        return found

    def known(self, vault: str, ids: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for chunk in chunks(ids):
            query, params = self._sql["known"].spread(ids=chunk)
            found |= {row[0] for row in self._session.all(query, {**params, "vault": vault})}
        return found

    def at_address(self, vault: str, permalink: str) -> Note | None:
        params: dict[str, Value] = {"vault": vault, "address_key": key(permalink), "name_key": key(name_of(permalink))}
        note = self._one(vault, "at_address", params)
        if note is not None and note.status != "deleted":
            return note
        moved = self._one(vault, "moved_from", params)
        return note if moved is None else moved

    def _one(self, vault: str, name: str, params: dict[str, Value]) -> Note | None:
        """The first one that the viewer may see."""
        unseen, hidden = self._numbers.unseen(vault, "n.scope_id")
        row = self._session.one(self._sql[name].fill(unseen=unseen), params | hidden)
        return self._note(vault, row) if row is not None and self._numbers.sees(vault, row[2]) else None

    def named(self, vault: str, keys: Sequence[str]) -> dict[str, list[NoteLine]]:
        found: dict[str, list[tuple[int, NoteLine]]] = {}
        for chunk in chunks(list(dict.fromkeys(keys))):
            for name in ("named", "once_named"):
                query, params = self._sql[name].spread(keys=chunk)
                for row in self._session.all(query, {**params, "vault": vault}):
                    if not self._numbers.sees(vault, row[5]):
                        continue
                    line = self._line(vault, row[4:])
                    for rank, own in ((0, row[0]), (1, row[3]), (2, row[2]), (3, row[1])):
                        if own in chunk and line not in [each for _, each in found.get(own, ())]:
                            found.setdefault(own, []).append((rank, line))
        return {
            name: [line for _, line in sorted(lines, key=lambda each: (each[0], len(each[1].permalink), each[1].id))]
            for name, lines in found.items()
        }

    def select(
        self,
        filter: Filter,
        order: NoteOrder = "address",
        limit: int = 50,
        after: str | None = None,
        deepest: int | None = None,
    ) -> list[NoteLine]:
        seen = condition(replace(filter, include_expired=True), self._numbers.reach(filter))
        keys = [f"m.{name}" for name in _KEYS[order]]
        down, sign = ("", ">") if order == "address" else (" DESC", "<")
        params: dict[str, Value] = {**seen.params, "limit": limit}
        page = _shallow(filter, deepest, params)
        if after is not None:
            unseen, hidden = self._numbers.unseen(filter.vault, "m.scope_id")
            position = self._sql["position"].fill(key=", ".join(keys), unseen=unseen)
            row = self._session.one(position, {"f_vault": filter.vault, "after": after, **hidden})
            if row is None:
                raise DolmenError(
                    "gone", "The page before ended at a note that is no longer here.", "Start from the first page."
                )
            names = [f"after_{i}" for i in range(len(row))]
            params |= dict(zip(names, row))
            page += f" AND ({', '.join(keys)}) {sign} ({', '.join(':' + name for name in names)})"
        query = self._sql["select"].fill(where=seen.where, page=page, order=", ".join(each + down for each in keys))
        return [self._line(filter.vault, row) for row in self._session.all(query, params)]

    def folders(self, filter: Filter) -> dict[str, int]:
        seen = condition(replace(filter, include_expired=True), self._numbers.reach(filter))
        query = self._sql["folders"].fill(where=seen.where)
        return {row[0]: row[1] for row in self._session.all(query, seen.params)}

    def revisions(self, vault: str, id: str, *, every: bool = False) -> list[NoteRevision]:
        if not self._numbers.unbounded and self.get(vault, id) is None:
            return []
        rows = self._session.all(self._sql["revisions"], {"vault": vault, "id": id})
        seen = [row for row in rows if every or self._numbers.sees(vault, row[8])]
        return [NoteRevision(self._note(vault, (row[0], *row[7:])), *row[1:7]) for row in seen]

    def at(self, vault: str, id: str, at: int) -> Note | None:
        note = self.get(vault, id)
        past = self._session.one(self._sql["past"], {"vault": vault, "id": id, "at": at})
        if past is not None and note is not None:
            note = self._note(vault, past) if self._numbers.sees(vault, past[2]) else None
        return None if note is None or note.created_at > at else note

    def aliases(self, vault: str) -> Mapping[str, str]:
        unseen, hidden = self._numbers.unseen(vault, "n.scope_id")
        rows = self._session.all(self._sql["aliases"].fill(unseen=unseen), {"vault": vault, **hidden})
        return {row[0]: row[1] for row in rows}

    def stream(self, vault: str) -> Iterator[Note]:
        for row in self._session.stream(self._sql["stream"], {"vault": vault}):
            if self._numbers.sees(vault, row[2]):
                yield self._note(vault, row)

    # ----------------------------------------------------------------------------------------------------- privately
    def _params(self, note: Note) -> dict[str, Value]:
        return {
            "vault": note.vault,
            "id": note.id,
            "version": note.version,
            "address_key": key(note.permalink),
            "name_key": key(name_of(note.permalink)),
            "title_key": key(note.title),
            "scope_id": self._numbers.ensure(note.vault, note.scope, note.audience),
            "audience": note.audience,
            "permalink": note.permalink,
            "title": note.title,
            "folder": note.folder,
            "kind": note.kind,
            "label": note.label,
            "path": note.path,
            "status": note.status,
            "note_reason": note.reason,
            "superseded_by": note.superseded_by,
            "agent": note.agent,
            "person": note.person,
            "connection": note.connection,
            "session": note.session,
            "created_at": note.created_at,
            "updated_at": note.updated_at,
            "blocks": dump(list(note.blocks)),
            "source": note.source,
        }

    def _note(self, vault: str, row: Row) -> Note:
        # fmt: off
        (version, id, scope_id, permalink, title, _, kind, label, path, status, reason, superseded_by, agent, person,
         connection, session, created_at, updated_at, blocks, source) = row
        # fmt: on
        return Note(
            id=id,
            vault=vault,
            scope=self._numbers.name(vault, scope_id),
            audience=self._numbers.audience(vault, scope_id),
            permalink=permalink,
            title=title,
            source=source,
            blocks=tuple(json.loads(blocks)),
            kind=kind,
            label=label,
            path=path,
            status=status,
            reason=reason,
            superseded_by=superseded_by,
            agent=agent,
            person=person,
            connection=connection,
            session=session,
            created_at=created_at,
            updated_at=updated_at,
            version=version,
        )

    def _line(self, vault: str, row: Row) -> NoteLine:
        return NoteLine(row[0], self._numbers.name(vault, row[1]), *row[2:])


def _shallow(filter: Filter, deepest: int | None, params: dict[str, Value]) -> str:
    """The condition that keeps deep folders out; of one folder alone its name, for which there is an index."""
    if deepest is None:
        return ""
    here = (filter.folder or "").rstrip("/")
    if deepest == (here.count("/") + 1 if here else 0):
        params["here"] = here
        return "AND m.folder = :here"
    params["deepest"] = deepest
    return "AND (m.folder = '' OR LENGTH(m.folder) - LENGTH(REPLACE(m.folder, '/', '')) < :deepest)"


def _change_params(change: Change) -> dict[str, Value]:
    return {
        "at": change.at,
        "op": change.op,
        "change_agent": change.agent,
        "change_person": change.person,
        "change_connection": change.connection,
        "reason": change.reason,
    }


def _revision_params(revision: NoteRevision) -> dict[str, Value]:
    at, op, reason = revision.at, revision.op, revision.reason
    return _change_params(Change(at, op, revision.agent, revision.person, revision.connection, reason))
