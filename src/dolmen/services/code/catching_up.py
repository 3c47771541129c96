"""Recording what memories mention that were stored before their code was followed."""

from __future__ import annotations

from dolmen.domain.code import KINDS
from dolmen.services.code.following import record
from dolmen.services.runtime import Runtime
from dolmen.store.contract import Filter

DONE = "upkeep.code_refs"
"""Vault setting: the rules by which every memory was read, or the memory up to which that has come."""
RULES = "rules 3"
"""Count on when the rules of `domain.code.mentions` find more: every memory is then read again, and keeps its
anchors."""
_PAGE = 200


def catch_up(rt: Runtime) -> int:
    """Reads what was not read yet, page by page; returns how many references were new. Takes a moment once done."""
    with rt.store.read() as tx:
        todo = [vault for vault, _ in tx.accounts.vaults() if tx.accounts.setting(vault, DONE) != RULES]
    return sum(_vault(rt, vault) for vault in todo)


def _vault(rt: Runtime, vault: str) -> int:
    new = 0
    while True:
        with rt.store.write() as tx:
            came_to = tx.accounts.setting(vault, DONE) or ""
            if came_to == RULES:
                return new
            after = came_to.partition(": ")[2] if came_to.startswith(f"{RULES}: ") else ""
            if after and tx.memories.get(vault, after) is None:
                after = ""  # purged meanwhile: from the start again, which does no harm
            sight = Filter(vault, None, tx.now, statuses=("active", "proposed"), kinds=KINDS)
            page = tx.memories.select(sight, "oldest", _PAGE, after or None)
            new += sum(record(tx, memory) for memory in page)
            tx.accounts.set(vault, DONE, f"{RULES}: {page[-1].id}" if len(page) == _PAGE else RULES)
