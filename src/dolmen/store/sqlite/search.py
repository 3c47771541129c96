"""The search index of the embedded engine: words by FTS5, vectors by signatures, both over one table of passages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dolmen.store.contract import Filter, IndexHealth, Pending, Vector
from dolmen.store.indexing import single
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Row
from dolmen.store.sql import chunks, queries
from dolmen.store.sqlite.passages import PassageWriter
from dolmen.store.sqlite.session import SqliteSession
from dolmen.store.sqlite.vectors import SharedVectors, VectorSearch, unpacked
from dolmen.store.sqlite.words import Common, WordSearch


@dataclass(slots=True)
class SharedIndex:
    """What a process remembers of the index; all of it can be forgotten at any time."""

    common: Common = field(default_factory=dict)
    vectors: SharedVectors = field(default_factory=SharedVectors)


class SqliteIndex:
    """Implements `contract.Index` and `indexing.EngineIndex` for one transaction."""

    def __init__(self, session: SqliteSession, numbers: ScopeNumbers, shared: SharedIndex) -> None:
        self._session = session
        self._numbers = numbers
        self._sql = queries("search", "sqlite")
        writer = PassageWriter(session, numbers)
        words = WordSearch(session, numbers, shared.common)
        vectors = VectorSearch(session, numbers, writer, shared.vectors)
        self.put, self.retire, self.set_live = writer.put, writer.retire, writer.set_live
        self.drop, self.clear, self.move = writer.drop, writer.clear, writer.move
        self.frequencies, self.match, self.likeliest = words.frequencies, words.match, words.likeliest
        self.model, self.find_model, self.set_vectors = vectors.model, vectors.find_model, vectors.set_vectors
        self.nearest, self.cosines, self.background = vectors.nearest, vectors.cosines, vectors.background

    def vectors(self, vault: str, model: int, memories: Sequence[str]) -> dict[str, Vector]:
        rows: list[Row] = []
        for chunk in chunks(memories):
            query, listed = self._sql["vectors_of_memories"].spread(ids=chunk)
            rows += self._session.all(query, {**listed, "vault": vault, "model": model})
        return {id: unpacked(data) for id, data in single(rows).items()}

    def pending(self, model: int, limit: int) -> list[Pending]:
        found: list[Pending] = []
        waiting = self._session.all(self._sql["waiting"], {"model": model})
        for live in (1, 0):
            rows: list[Row] = []
            for scope_id, place_live, vector_model in waiting:
                if place_live == live:
                    where = {"scope_id": scope_id, "live": live, "vector_model": vector_model}
                    rows += self._session.all(self._sql["pending"], {**where, "limit": limit - len(found)})
            rows.sort(key=lambda row: row[0])
            found += [_pending(row) for row in rows[: limit - len(found)]]
            if len(found) >= limit:
                break
        return found

    def health(self, filter: Filter, model: int | None) -> IndexHealth:
        every = self._numbers.every(filter.vault)
        within = self._numbers.reach(filter).scopes
        scopes = every if within is None else within
        passages, embedded, oldest = 0, 0, None
        for scope_id, vector_model, number in self._session.among(self._sql["totals"], scopes):
            passages += number
            if vector_model == model:
                embedded += number
            elif model is not None:
                row = self._session.one(
                    self._sql["oldest_pending"], {"scope_id": scope_id, "vector_model": vector_model}
                )
                if row is not None and row[0] is not None:
                    oldest = row[0] if oldest is None else min(oldest, row[0])
        models: dict[str, int] = {}
        for name, number in self._session.among(self._sql["models"], every):
            models[name] = models.get(name, 0) + number
        return IndexHealth(passages, embedded, oldest, models)

    def spans(self, vault: str, passages: Sequence[int]) -> dict[int, tuple[int, int]]:
        rows = self._session.among(self._sql["spans"], passages, {"vault": vault})
        return {row[0]: (row[1], row[2]) for row in rows}


def _pending(row: Row) -> Pending:
    id, vault, memory, start, end, text = row
    return Pending(vault=vault, passage=id, memory=memory, text=(text or "")[start:end])


def tidy(session: SqliteSession) -> None:
    """Merges segments of the text index; after a purge all of them, so that no destroyed word stays in the file."""
    sql = queries("search", "sqlite")
    row = session.one(sql["is_purged"])
    if row and row[0]:
        session.run(sql["optimize"])
        session.run(sql["cleaned"])
    else:
        session.run(sql["merge"])
