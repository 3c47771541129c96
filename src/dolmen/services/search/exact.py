"""Searching like grep: memories that contain the words as they are written, in any script, newest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dolmen.domain.memory import Memory
from dolmen.domain.text import fold
from dolmen.services.search.first import Found, Result
from dolmen.services.search.query import Query
from dolmen.store.contract import Filter, Tx

SCANNED = 20_000
"""The newest memories, which are read whatever is looked for."""
_PAGE = 500
_INDEXED = 1_000
"""Passages that the index is asked for: what has the words whole is found however old it is."""


def exact(tx: Tx, sight: Filter, query: Query, depth: int) -> Result:
    """Up to `depth` memories that contain the query, but for case and width.

    Bounded: those that have its words whole come from the index, of any age; those that have it inside of longer words
    from the newest `SCANNED`. A note says when there are more.
    """
    needle = fold(query.text.strip())
    found = {m.id: m for m in _indexed(tx, sight, query) if needle in fold(m.text)}
    scanned, complete = 0, False
    certain: list[Memory] = []
    for page in _newest(tx, sight):
        scanned += len(page)
        complete = len(page) < _PAGE
        found |= {m.id: m for m in page if needle in fold(m.text)}
        certain = [m for m in found.values() if _place(m) >= _place(page[-1])] if page else []
        if len(certain) >= depth or scanned >= SCANNED:
            break
    notes = query.notes
    if not complete and scanned >= SCANNED and len(certain) < depth:
        notes = (*notes, f"looked through the newest {scanned:,} memories; older ones only for whole words")
    memories = sorted(found.values(), key=_place, reverse=True)
    listed = tuple(Found(m.id, 0, 1.0) for m in memories)
    return Result(listed, {m.id: m for m in memories}, ("exact",), notes, {})


def _place(memory: Memory) -> tuple[int, str]:
    """In the order of time, which is that of the listing."""
    return memory.created_at, memory.id


def _indexed(tx: Tx, sight: Filter, query: Query) -> list[Memory]:
    if not query.tokens:
        return []
    hits = tx.index.match(sight, list(query.tokens), _INDEXED)
    ids = tuple(dict.fromkeys(hit.memory for hit in hits))
    return tx.memories.select(replace(sight, ids=ids), limit=len(ids)) if ids else []


def _newest(tx: Tx, sight: Filter) -> Iterator[list[Memory]]:
    after: str | None = None
    while True:
        page = tx.memories.select(sight, limit=_PAGE, after=after)
        yield page
        if len(page) < _PAGE:
            return
        after = page[-1].id
