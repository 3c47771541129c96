"""References as readers see them (C-232)."""

from __future__ import annotations

from collections.abc import Sequence

from dolmen.domain.access import require
from dolmen.domain.code import MARK, View, said, views
from dolmen.domain.memory import Memory
from dolmen.domain.values import Actor
from dolmen.services.runtime import Runtime
from dolmen.store.contract import Tx


def refs_of(tx: Tx, vault: str, memories: Sequence[str]) -> dict[str, tuple[View, ...]]:
    """The files and symbols that memories refer to, each with its state, by the memory's id.

    What nobody could find is left out, and so is a memory that refers to nothing.
    """
    found = {id: views(refs) for id, refs in tx.code_refs.of(vault, memories).items()}
    return {id: shown for id, shown in found.items() if shown}


def code_refs(rt: Runtime, actor: Actor, memories: Sequence[str]) -> dict[str, tuple[View, ...]]:
    """`refs_of`, in a transaction of its own, within the actor's vault."""
    require(actor, "read")
    with rt.read(actor) as tx:
        return refs_of(tx, actor.vault, memories)


def is_stale(memory: Memory) -> bool:
    """Whether the last check found that code which the memory refers to has changed or is gone."""
    return memory.attrs.get(MARK) in ("changed", "gone")


def become(tx: Tx, memory: Memory) -> tuple[str, ...]:
    """What has become of the code that a memory speaks of, a sentence each; nothing for one whose code is as it says,
    which costs no look-up."""
    if MARK not in memory.attrs:
        return ()
    refs = tx.code_refs.of(memory.vault, [memory.id]).get(memory.id, [])
    return tuple(filter(None, map(said, refs)))
