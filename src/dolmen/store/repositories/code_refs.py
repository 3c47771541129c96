"""References of memories to code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dolmen.domain.code import CodeRef, Target
from dolmen.store import mapping
from dolmen.store.contract import Filter
from dolmen.store.filter import condition
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Session, Value
from dolmen.store.sql import chunks, queries


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
        seen = condition(filter, self._numbers.reach(filter))
        query = self._sql["targets"].fill(where=seen.where)
        rows = self._session.all(query, {**seen.params, "limit": limit, "offset": offset})
        return [Target(*row[:5]) for row in rows]

    def about(self, filter: Filter, mentions: Sequence[tuple[str, str]]) -> list[CodeRef]:
        # Not one join: planned without statistics, it may look up every reference for every memory of the project.
        wanted = set(mentions)
        found = self._named("in_files", filter.vault, {path for path, _ in wanted if path})
        found += self._named("in_no_file", filter.vault, {symbol for path, symbol in wanted if not path})
        found = [ref for ref in found if (ref.path, ref.symbol) in wanted]
        texts = self._texts(filter, sorted({ref.memory for ref in found}))
        seen = [ref for ref in found if texts.get(ref.memory) == ref.statement]
        return sorted(seen, key=lambda ref: (ref.memory, ref.path, ref.symbol))

    def _named(self, name: str, vault: str, names: set[str]) -> list[CodeRef]:
        found: list[CodeRef] = []
        for chunk in chunks(sorted(names)):
            query, params = self._sql[name].spread(names=chunk)
            found += [CodeRef(*row) for row in self._session.all(query, {**params, "vault": vault})]
        return found

    def _texts(self, filter: Filter, memories: Sequence[str]) -> dict[str, str]:
        """The statements of those of the memories that pass the filter."""
        seen = condition(filter, self._numbers.reach(filter))
        texts: dict[str, str] = {}
        for chunk in chunks(memories):
            query, params = self._sql["texts"].spread(ids=chunk)
            texts.update(self._session.all(query.fill(where=seen.where), {**params, **seen.params}))
        return texts

    def counts(self, filter: Filter) -> dict[str, int]:
        seen = condition(filter, self._numbers.reach(filter))
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
