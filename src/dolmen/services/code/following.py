"""Recording what a memory mentions, and keeping that true through every change of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dolmen.domain.code import CodeRef, mark_of, mentions, recorded, with_mark
from dolmen.domain.memory import Memory
from dolmen.domain.text import content_key
from dolmen.store.contract import Tx

_TRIES = 3


def record(tx: Tx, memory: Memory) -> int:
    """Records what a memory mentions, as far as it is not recorded yet (C-223); returns how much was new."""
    return tx.code_refs.add(memory.vault, _wanted(memory))


def follow(tx: Tx, before: Memory, after: Memory, op: str) -> Memory:
    """Keeps the references of a memory that was changed; returns it with the mark that it then carries.

    A text that was changed is read anew, and what it mentions waits to be anchored again: its author has just said how
    things are. A text that was brought back (`restore`) finds the anchors that it had.
    """
    was, now = _recorded(before), _recorded(after)
    if was == now and before.text == after.text and before.attrs == after.attrs:
        return after
    if (was != now or before.text != after.text) and (was or now):
        _reread(tx, before, after, op)
    return _marked(tx, after, tx.code_refs.of(after.vault, [after.id]).get(after.id, []))


def renew(tx: Tx, memory: Memory) -> None:
    """Somebody checked that a memory holds: what it mentions is anchored anew to the code as it is next seen."""
    known = tx.code_refs.of(memory.vault, [memory.id]).get(memory.id, [])
    if anchored := [ref for ref in known if ref.anchor_hash]:
        fresh = [CodeRef(ref.memory, ref.statement, ref.path, ref.symbol, ref.position) for ref in anchored]
        tx.code_refs.save(memory.vault, fresh)
        remark(tx, memory.vault, [memory.id])


def remark(tx: Tx, vault: str, ids: Iterable[str]) -> None:
    """Makes the marks of memories say what their references say."""
    waiting = sorted(set(ids))
    for _ in range(_TRIES):
        refs = tx.code_refs.of(vault, waiting)
        memories = tx.memories.many(vault, waiting)
        # Whoever changed a memory meanwhile has read its references after this transaction's, or is read again here.
        waiting = [id for id, memory in sorted(memories.items()) if not _mark(tx, memory, refs.get(id, []))]
        if not waiting:
            return


def _marked(tx: Tx, memory: Memory, refs: list[CodeRef]) -> Memory:
    _mark(tx, memory, refs)
    return replace(memory, attrs=with_mark(memory.attrs, mark_of(refs)))


def _mark(tx: Tx, memory: Memory, refs: list[CodeRef]) -> bool:
    attrs = with_mark(memory.attrs, mark_of(refs))
    return attrs == memory.attrs or tx.code_refs.mark(memory.vault, memory.id, memory.version, attrs)


def _recorded(memory: Memory) -> bool:
    return recorded(memory.kind, memory.scope)


def _wanted(memory: Memory) -> list[CodeRef]:
    if not _recorded(memory):
        return []
    statement = content_key(memory.text)
    return [
        CodeRef(memory.id, statement, each.path, each.symbol, position)
        for position, each in enumerate(mentions(memory.text))
    ]


def _reread(tx: Tx, before: Memory, after: Memory, op: str) -> None:
    statement = content_key(after.text)
    known = tx.code_refs.of_text(after.vault, after.id, statement)
    wanted = _wanted(after)
    if op != "restore" or not wanted:
        same_words = _recorded(before) and content_key(before.text) == statement
        kept = {(ref.path, ref.symbol) for ref in wanted} if same_words else set()
        tx.code_refs.remove(after.vault, [ref for ref in known if (ref.path, ref.symbol) not in kept])
    tx.code_refs.add(after.vault, wanted)
