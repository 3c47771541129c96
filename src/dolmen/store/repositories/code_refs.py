"""References of memories to code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dolmen.domain.code import CodeRef, Target
from dolmen.store import mapping
from dolmen.store.contract import Filter
from dolmen.store.filter import condition
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import chunks, queries

_TOGETHER = 128
"""Files and symbols that one statement looks up."""


class CodeRefRepository:
    """Implements `contract.CodeRefs`."""

    def __init__(self, session: Session, numbers: ScopeNumbers) -> None:
        self._session = session
        self._numbers = numbers
        self._sql = queries("code_refs")

    def add(self, vault: str, refs: Sequence[CodeRef]) -> int:
        return sum(self._session.run(self._sql["add"], _params(vault, ref)) for ref in refs)

    def save(self, vault: str, refs: Sequence[CodeRef]) -> None:
        ordered = sorted(refs, key=lambda ref: (ref.memory, ref.path, ref.symbol))  # writers never wait in a circle
        if ordered:
            self._session.many(self._sql["save"], [_params(vault, ref) for ref in ordered])

    def remove(self, vault: str, refs: Sequence[CodeRef]) -> None:
        for ref in refs:
            params = {"statement": ref.statement, "path": ref.path, "symbol": ref.symbol}
            self._session.run(self._sql["remove"], {"vault": vault, "memory": ref.memory, **params})

    def of(self, vault: str, memories: Sequence[str]) -> dict[str, list[CodeRef]]:
        found: dict[str, list[CodeRef]] = {}
        for chunk in chunks(memories):
            query, params = self._sql["of"].spread(ids=chunk)
            for row in self._session.all(query, {**params, "vault": vault}):
                found.setdefault(row[0], []).append(CodeRef(*row))
        return found

    def of_text(self, vault: str, memory: str, statement: str) -> list[CodeRef]:
        params: dict[str, Value] = {"vault": vault, "memory": memory, "statement": statement}
        return [CodeRef(*row) for row in self._session.all(self._sql["text"], params)]

    def targets(self, filter: Filter, limit: int, offset: int = 0) -> list[Target]:
        seen = condition(filter, self._numbers.within(filter))
        query = self._sql["targets"].fill(where=seen.where)
        rows = self._session.all(query, {**seen.params, "limit": limit, "offset": offset})
        return [Target(*row[:5]) for row in rows]

    def about(self, filter: Filter, mentions: Sequence[tuple[str, str]]) -> list[CodeRef]:
        seen = condition(filter, self._numbers.within(filter))
        found: list[CodeRef] = []
        wanted = set(mentions)
        for chunk in chunks(sorted(wanted), _TOGETHER):
            paths, symbols = ({mention[n] for mention in chunk} for n in (0, 1))
            query, params = self._sql["about"].spread(paths=sorted(paths), symbols=sorted(symbols))
            rows: list[Row] = self._session.all(query.fill(where=seen.where), {**params, **seen.params})
            found += [ref for row in rows if ((ref := CodeRef(*row)).path, ref.symbol) in set(chunk)]
        return found

    def counts(self, filter: Filter) -> dict[str, int]:
        seen = condition(filter, self._numbers.within(filter))
        return dict(self._session.all(self._sql["counts"].fill(where=seen.where), seen.params))

    def stream(self, vault: str) -> Iterator[CodeRef]:
        for row in self._session.stream(self._sql["stream"], {"vault": vault}):
            yield CodeRef(*row)

    def hold(self, vault: str, memories: Sequence[str]) -> None:
        if memories:
            rows: list[dict[str, Value]] = [{"vault": vault, "memory": id} for id in sorted(set(memories))]
            self._session.many(self._sql["hold"], rows)

    def mark(self, vault: str, memory: str, version: int, attrs: Mapping[str, Any]) -> bool:
        params: dict[str, Value] = {"vault": vault, "memory": memory, "version": version, "attrs": mapping.dump(attrs)}
        return self._session.run(self._sql["mark"], params) > 0


def _params(vault: str, ref: CodeRef) -> dict[str, Value]:
    return {
        "vault": vault,
        "memory": ref.memory,
        "statement": ref.statement,
        "path": ref.path,
        "symbol": ref.symbol,
        "position": ref.position,
        "state": ref.state,
        "anchor_commit": ref.anchor_commit,
        "anchor_hash": ref.anchor_hash,
        "resolved_path": ref.resolved_path,
        "checked_commit": ref.checked_commit,
        "checked_at": ref.checked_at,
    }
