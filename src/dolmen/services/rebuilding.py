"""The search index of a memory, made again from its row and its revisions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from dolmen.domain.memory import Memory, Revision
from dolmen.services.indexing import index, words
from dolmen.store.contract import Tx


def rebuild(tx: Tx, memory: Memory, revisions: Sequence[Revision]) -> None:
    """Puts the passages that the memory had at each time, as if its changes were happening now; it has none before."""
    states = [*(revision.memory.with_(audience=memory.audience) for revision in revisions), memory]
    index(tx, states[0])
    for before, after in pairwise(states):
        if words(before) != words(after) or before.scope != after.scope:
            tx.index.retire(after.vault, after.id, after.updated_at)
            index(tx, after)
        elif (before.status == "active") != (after.status == "active"):
            tx.index.set_live(after.vault, after.id, after.status == "active")
