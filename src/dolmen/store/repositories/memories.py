"""Memories, their tags and their revisions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from dolmen.domain.audience import OPEN
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Kind, Memory, Revision
from dolmen.domain.ranking import Place
from dolmen.domain.values import Change
from dolmen.store import mapping
from dolmen.store.contract import Filter, Order
from dolmen.store.filter import Condition, condition
from dolmen.store.indexing import EngineIndex
from dolmen.store.repositories.history import keep
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import Query, chunks

_KEYS: dict[Order, tuple[str, ...]] = {
    "newest": ("created_at", "id"),
    "oldest": ("created_at", "id"),
    "changed": ("updated_at", "id"),
    "importance": ("importance", "created_at", "id"),
}
_BY = {"kind": "kind", "status": "status", "scope": "scope_id", "agent": "agent", "folder": "folder"}


class MemoryRepository:
    """Implements `contract.Memories`."""

    def __init__(self, session: Session, numbers: ScopeNumbers, index: EngineIndex) -> None:
        self._session = session
        self._numbers = numbers
        self._index = index
        self._sql = mapping.filled("memories")

    # ------------------------------------------------------------------------------------------------------- writes
    def add(self, memory: Memory, content_key: str) -> bool:
        return self._insert(self._sql["add"], memory, content_key)

    def update(self, before: Memory, after: Memory, change: Change, content_key: str) -> None:
        if (after.id, after.vault, after.version) != (before.id, before.vault, before.version + 1):
            raise ValueError("the new state must be the next version of the same memory")
        scope_id = self._number(after)
        params = mapping.params(after, scope_id) | {"content_key": content_key, "version": before.version}
        single = not after.note and after.status in ("active", "proposed")
        if single and (twin := self._session.one(self._sql["twin"], params)):
            raise DolmenError(
                "conflict", "Another memory already says this.", f"Use {twin[0]} instead.", current=twin[0]
            )
        kept = keep(self._session, before.vault, before.id, before.version, change)
        if not kept or not self._session.run(self._sql["replace"], params):
            raise DolmenError(
                "conflict",
                f"{before.id} was changed by somebody else meanwhile.",
                "Read it again and repeat the change.",
            )
        if after.tags != before.tags:
            self._untag(after.vault, [after.id])
            self._tag(after)
        if (after.scope, after.audience) != (before.scope, before.audience):
            self._index.move(after.vault, [after.id], scope_id)

    def note(self, vault: str, id: str, attrs: Mapping[str, Any]) -> None:
        self._session.run(self._sql["note"], {"vault": vault, "id": id, "attrs": mapping.dump(attrs)})

    def strip(self, vault: str, ids: Sequence[str], attr: str) -> None:
        for memory in self.many(vault, ids).values():
            for revision in self.revisions(vault, memory.id):
                if attr in revision.memory.attrs:
                    params = {"vault": vault, "id": memory.id, "attrs": _without(revision.memory, attr)}
                    self._session.run(self._sql["note_revision"], params | {"version": revision.memory.version})
            if attr in memory.attrs:
                self._session.run(self._sql["note"], {"vault": vault, "id": memory.id, "attrs": _without(memory, attr)})

    def add_blocks(self, blocks: Sequence[tuple[Memory, str]]) -> None:
        for chunk in chunks(blocks):
            rows = [mapping.params(memory, self._number(memory)) | {"content_key": key} for memory, key in chunk]
            self._session.many(self._sql["add"], rows)
            tags = [(memory, tag) for memory, _ in chunk for tag in memory.tags]
            if tags:
                named = [{"vault": memory.vault, "id": memory.id, "tag": tag} for memory, tag in tags]
                self._session.many(self._sql["tag"], named)

    def place(self, before: Memory, after: Memory, content_key: str) -> None:
        scope_id = self._number(after)
        params = mapping.params(after, scope_id) | {"content_key": content_key, "version": before.version}
        if not self._session.run(self._sql["place"], params):
            raise DolmenError(
                "conflict", f"{before.id} was changed by somebody else meanwhile.", "Read the note again."
            )
        if after.tags != before.tags:
            self._untag(after.vault, [after.id])
            self._tag(after)
        if after.audience != before.audience:
            self._index.move(after.vault, [after.id], scope_id)

    def matching(self, vault: str, part: str, limit: int) -> list[str]:
        params: dict[str, Value] = {"vault": vault, "part": part, "length": len(part), "limit": limit}
        params["beyond"] = part + "g"  # comes after every id that starts with `part`
        unseen, hidden = self._numbers.unseen(vault, "m.scope_id")
        return [row[0] for row in self._session.all(self._sql["matching"].fill(unseen=unseen), params | hidden)]

    def restore(self, memory: Memory, revisions: Sequence[Revision], content_key: str) -> bool:
        if not self._insert(self._sql["restore"], memory, content_key):
            return False
        for revision in revisions:
            old = revision.memory
            params = mapping.params(old, self._number(old))
            params |= {
                "revision": old.version,
                "at": revision.at,
                "op": revision.op,
                "change_agent": revision.agent,
                "change_person": revision.person,
                "change_connection": revision.connection,
                "reason": revision.reason,
            }
            self._session.run(self._sql["import_revision"], params)
        return True

    def purge(self, vault: str, ids: Sequence[str]) -> None:
        for chunk in chunks(ids):
            self._index.drop(vault, chunk)
            self._untag(vault, chunk)
            for name in ("revisions", "links", "keys", "proposals", "code_refs", "memories"):
                query, params = self._sql[f"purge_{name}"].spread(ids=chunk)
                self._session.run(query, params | {"vault": vault})
            self._purge_journal(vault, chunk)

    def _purge_journal(self, vault: str, ids: Sequence[str]) -> None:
        """What was asked when a memory was found may repeat its words."""
        named = " OR ".join(f"refs LIKE :named_{n}" for n in range(len(ids)))
        params: dict[str, Value] = {f"named_{n}": f'%"{id}"%' for n, id in enumerate(ids)}
        for name in ("events", "feedback"):
            self._session.run(self._sql[f"purge_{name}"].fill(named=named), params | {"vault": vault})

    # -------------------------------------------------------------------------------------------------------- reads
    def get(self, vault: str, id: str) -> Memory | None:
        row = self._session.one(self._sql["get"], {"vault": vault, "id": id})
        return next(self._memories(vault, [] if row is None else [row]), None)

    def many(self, vault: str, ids: Sequence[str]) -> dict[str, Memory]:
        return {memory.id: memory for memory in self._by_ids("many", vault, ids)}

    def places(self, vault: str, ids: Sequence[str]) -> dict[str, Place]:
        if not ids or self._session.one(self._sql["any_session"], {"vault": vault}) is None:
            return {}
        places: dict[str, Place] = {}
        for chunk in chunks(ids):
            query, params = self._sql["places"].spread(ids=chunk)
            for id, session, length, *before in self._session.all(query, params | {"vault": vault}):
                places[id] = Place(session, length, tuple(each for each in before if each is not None))
        return places

    def blocks(self, vault: str, note: str) -> list[Memory]:
        return list(self._memories(vault, self._session.all(self._sql["blocks"], {"vault": vault, "note": note})))

    def by_content(
        self, vault: str, scope: str, label: str, kind: Kind, content_key: str, audience: str = OPEN
    ) -> Memory | None:
        scope_id = self._numbers.number(vault, scope, audience)
        params = {"vault": vault, "scope_id": scope_id, "label": label, "kind": kind, "content_key": content_key}
        row = None if scope_id is None else self._session.one(self._sql["by_content"], params)
        return next(self._memories(vault, [] if row is None else [row]), None)

    def saying(self, vault: str, scope: str, content_key: str, audience: str = OPEN) -> list[Memory]:
        scope_id = self._numbers.number(vault, scope, audience)
        params = {"vault": vault, "scope_id": scope_id, "content_key": content_key}
        rows = [] if scope_id is None else self._session.all(self._sql["saying"], params)
        return list(self._memories(vault, rows))

    def select(
        self, filter: Filter, order: Order = "newest", limit: int = 50, after: str | None = None
    ) -> list[Memory]:
        # One statement per scope and status: each then walks an index in the order that is asked for and stops early.
        reach = self._numbers.reach(filter)
        found: list[Row] = []
        for part in [reach] if reach.scopes is None else [reach.only(scope) for scope in reach.scopes]:
            found += self._page(condition(filter, part), order, limit, after)
        found.sort(key=lambda row: row[1:], reverse=order != "oldest")
        ids = [row[0] for row in found[:limit]]
        states = self.many(filter.vault, ids) if filter.as_of is None else self.at(filter.vault, ids, filter.as_of)
        return [states[id] for id in ids if id in states]

    def _page(self, seen: Condition, order: Order, limit: int, after: str | None) -> list[Row]:
        keys = [seen.column(key) if key != "id" else "m.id" for key in _KEYS[order]]
        down, sign = ("", ">") if order == "oldest" else (" DESC", "<")
        params: dict[str, Value] = {**seen.params, "limit": limit}
        page = ""
        if after is not None:
            vault = str(seen.params["f_vault"])
            unseen, hidden = self._numbers.unseen(vault, "m.scope_id")
            position = self._sql["position"].fill(key=", ".join(keys), joins=seen.joins, unseen=unseen)
            asked = {**_time(seen.params), "f_vault": vault, "after": after}
            row = self._session.one(position, asked | hidden)
            if row is None:
                raise DolmenError(
                    "gone", "The page before ended at a memory that is no longer here.", "Start from the first page."
                )
            names = [f"after_{i}" for i in range(len(row))]
            params |= dict(zip(names, row))
            page = f"AND ({', '.join(keys)}) {sign} ({', '.join(':' + name for name in names)})"
        query = self._sql["select"].fill(
            key=", ".join(keys), joins=seen.joins, where=seen.where, page=page, order=", ".join(k + down for k in keys)
        )
        return self._session.all(query, params)

    def count(
        self, filter: Filter, by: Literal["", "kind", "status", "scope", "agent", "folder"] = ""
    ) -> dict[str, int]:
        seen = condition(filter, self._numbers.reach(filter))
        column = seen.column(_BY[by]) if by else "''"
        group = f"GROUP BY {column}" if by else ""
        query = self._sql["count"].fill(by=column, joins=seen.joins, where=seen.where, group=group)
        counts: dict[str, int] = {}
        for key, number in self._session.all(query, seen.params):
            name = self._numbers.name(filter.vault, key) if by == "scope" else key
            counts[name] = counts.get(name, 0) + number
        return counts

    def written_by(self, vault: str, connection: str) -> int:
        [(number,)] = self._session.all(self._sql["written_by"], {"vault": vault, "connection": connection})
        return int(number)

    def expired(self, vault: str, now: int, limit: int) -> list[Memory]:
        rows = self._session.all(self._sql["expired"], {"vault": vault, "now": now, "limit": limit})
        return list(self._memories(vault, rows))

    def revisions(self, vault: str, id: str) -> list[Revision]:
        if not self._numbers.unbounded and self.get(vault, id) is None:
            return []
        rows = self._session.all(self._sql["revisions"], {"vault": vault, "id": id})
        return [
            Revision(
                memory=self._memory(vault, (row[0], *row[7:])),
                at=row[1],
                op=row[2],
                agent=row[3],
                person=row[4],
                connection=row[5],
                reason=row[6],
            )
            for row in rows
            if self._numbers.sees(vault, row[8])
        ]

    def at(self, vault: str, ids: Sequence[str], at: int) -> dict[str, Memory]:
        if not self._numbers.unbounded:
            ids = list(self.many(vault, ids))  # what is hidden now was not there for this viewer in the past either
        states = self._by_ids("present", vault, ids, at=at) + self._by_ids("past", vault, ids, at=at)
        return {memory.id: memory for memory in states}

    def stream(self, vault: str) -> Iterator[Memory]:
        yield from self._memories(vault, self._session.stream(self._sql["stream"], {"vault": vault}))

    # ----------------------------------------------------------------------------------------------------- privately
    def _memory(self, vault: str, row: Row) -> Memory:
        numbers = self._numbers
        return mapping.memory(vault, row, lambda number: (numbers.name(vault, number), numbers.audience(vault, number)))

    def _memories(self, vault: str, rows: Iterable[Row]) -> Iterator[Memory]:
        """Those that the viewer may see."""
        return (self._memory(vault, row) for row in rows if self._numbers.sees(vault, row[2]))

    def _number(self, memory: Memory) -> int:
        return self._numbers.ensure(memory.vault, memory.scope, memory.audience)

    def _by_ids(self, name: str, vault: str, ids: Sequence[str], **params: Value) -> list[Memory]:
        rows: list[Row] = []
        for chunk in chunks(ids):
            query, listed = self._sql[name].spread(ids=chunk)
            rows += self._session.all(query, {**listed, **params, "vault": vault})
        return list(self._memories(vault, rows))

    def _insert(self, query: Query, memory: Memory, content_key: str) -> bool:
        params = mapping.params(memory, self._number(memory))
        if not self._session.run(query, params | {"content_key": content_key}):
            return False
        self._tag(memory)
        return True

    def _tag(self, memory: Memory) -> None:
        rows: list[dict[str, Value]] = [{"vault": memory.vault, "id": memory.id, "tag": tag} for tag in memory.tags]
        if rows:
            self._session.many(self._sql["tag"], rows)

    def _untag(self, vault: str, ids: Sequence[str]) -> None:
        query, params = self._sql["untag"].spread(ids=ids)
        self._session.run(query, params | {"vault": vault})


def _time(params: Mapping[str, Value]) -> dict[str, Value]:
    return {"f_as_of": params["f_as_of"]} if "f_as_of" in params else {}


def _without(memory: Memory, attr: str) -> str:
    return mapping.dump({name: value for name, value in memory.attrs.items() if name != attr})
