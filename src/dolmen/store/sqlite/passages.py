"""Writing the search index: passages, their tokens in FTS5, and the clock that other processes follow."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dolmen.store.contract import Passage
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import chunks, queries

_INDEXABLE = re.compile(r"[A-Za-z0-9_=@~:\x80-\ud7ff\ue000-\U0010ffff]+")


def indexable(token: str) -> bool:
    """Whether the tokenizer of the text index keeps a token whole; the analyzer emits no others."""
    return _INDEXABLE.fullmatch(token) is not None


def place(scope: int, live: bool | int) -> str:
    """What stands in front of each token in the text index, so that a search looks at its scopes only."""
    return f"{'s' if live else 'x'}{scope}:"


class PassageWriter:
    """The writing half of `contract.Index`, for one transaction."""

    def __init__(self, session: Session, numbers: ScopeNumbers) -> None:
        self._session = session
        self._numbers = numbers
        self._seq = 0
        self._sql = queries("search", "sqlite")

    @property
    def wrote(self) -> bool:
        """Whether this transaction changed the index: what it sees must then not reach the process's memory."""
        return self._seq > 0

    def tick(self) -> int:
        """The clock's value for the changes of this transaction. Writers are serial, so it rises in commit order."""
        if not self._seq:
            row = self._session.one(self._sql["tick"])
            assert row is not None
            self._seq = row[0]
        return self._seq

    def put(self, vault: str, passages: Sequence[Passage]) -> list[int]:
        ids: list[int] = []
        for passage in passages:
            scope_id = self._numbers.ensure(vault, passage.scope, passage.audience)
            params: dict[str, Value] = {
                "vault": vault,
                "memory": passage.memory,
                "scope_id": scope_id,
                "live": int(passage.live),
                "ord": passage.ord,
                "start": passage.start,
                "end": passage.end,
                "length": len(passage.tokens),
                "valid_from": passage.valid_from,
                "valid_to": passage.valid_to,
                "seq": self.tick(),
                "tokens": " ".join(passage.tokens),
            }
            row = self._session.one(self._sql["add"], params)
            if row is None:
                raise ValueError(f"there is no memory {passage.memory} that a passage could belong to")
            self._index(row[0], scope_id, passage.live, passage.tokens)
            ids.append(row[0])
        return ids

    def retire(self, vault: str, memory: str, at: int) -> None:
        for id, scope_id, live, tokens in self._current(vault, memory):
            self._session.run(self._sql["retire"], {"id": id, "at": at, "seq": self.tick()})
            if live:
                self._reindex(id, scope_id, False, tokens)

    def set_live(self, vault: str, memory: str, live: bool) -> None:
        for id, scope_id, was_live, tokens in self._current(vault, memory):
            if bool(was_live) != live:
                self._session.run(self._sql["set_live"], {"id": id, "live": int(live), "seq": self.tick()})
                self._reindex(id, scope_id, live, tokens)

    def move(self, vault: str, memories: Sequence[str], scope: int) -> None:
        for id, scope_id, live, tokens in self._of(vault, memories):
            if scope_id != scope:
                self._session.run(self._sql["move"], {"id": id, "scope_id": scope, "seq": self.tick()})
                self._reindex(id, scope, live, tokens)

    def drop(self, vault: str, memories: Sequence[str]) -> None:
        gone = [row[0] for row in self._of(vault, memories)]
        if gone:
            self._session.run(self._sql["purged"])
        for id in gone:
            self._session.run(self._sql["unindex"], {"id": id})
            self._forget(id)

    def clear(self, vault: str) -> None:
        alone = self._session.one(self._sql["others"], {"vault": vault}) is None
        if alone:
            self._session.run(self._sql["empty"])
        for row in self._session.all(self._sql["of_vault"], {"vault": vault}):
            if not alone:
                self._session.run(self._sql["unindex"], {"id": row[0]})
            self._forget(row[0])
        self.tick()
        self._session.run(self._sql["new_epoch"])
        self._session.run(self._sql["no_centre"])

    def _forget(self, id: int) -> None:
        self.tick()
        for name in ("drop_vector", "drop_signature", "drop"):
            self._session.run(self._sql[name], {"id": id})

    def _current(self, vault: str, memory: str) -> list[Row]:
        return self._session.all(self._sql["current"], {"vault": vault, "memory": memory})

    def _of(self, vault: str, memories: Sequence[str]) -> list[Row]:
        rows: list[Row] = []
        for chunk in chunks(memories):
            query, params = self._sql["of_memories"].spread(ids=chunk)
            rows += self._session.all(query, params | {"vault": vault})
        return rows

    def _reindex(self, id: int, scope: int, live: bool, tokens: str) -> None:
        self._session.run(self._sql["unindex"], {"id": id})
        self._index(id, scope, live, tokens.split(" "))

    def _index(self, id: int, scope: int, live: bool, tokens: Iterable[str]) -> None:
        # Each token once: the text index tells which passages have it; how often is read from the passage.
        at = place(scope, live)
        body = " ".join([at + token for token in dict.fromkeys(tokens) if indexable(token)])
        self._session.run(self._sql["index"], {"id": id, "body": body})
