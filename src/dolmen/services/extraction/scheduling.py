"""Which session summaries are to be read: those that are a few minutes old and that nobody has read yet."""

from __future__ import annotations

from dolmen.domain.access import require
from dolmen.domain.audience import everybody
from dolmen.domain.memory import Memory
from dolmen.domain.values import DAY, MINUTE, Actor
from dolmen.services.extraction.reading import KIND
from dolmen.services.runtime import Runtime
from dolmen.store.contract import Filter, Job, Tx

UP_TO = "upkeep.extracted"
"""Vault setting: the time up to which summaries have been scheduled."""
_FIRST = DAY
"""How far back the first look goes, when a chat model is set for a store that has summaries already."""
_PAGE = 200
_OVERLAP = MINUTE
_KEPT = 30 * DAY
"""How long a job that is done is kept."""


def schedule(rt: Runtime) -> int:
    """Makes a job of every summary of every vault that is old enough; returns how many. Cheap when there are none."""
    with rt.store.read() as tx:
        vaults = [vault for vault, _ in tx.accounts.vaults()]
    return sum(_schedule(rt, vault) for vault in vaults if _fresh(rt, vault))


def _fresh(rt: Runtime, vault: str) -> bool:
    """Whether a look would find anything besides what the overlap shows again."""
    with rt.store.read(everybody(vault)) as tx:
        since = tx.accounts.setting(vault, UP_TO)
        newest = tx.memories.select(_sight(tx, rt, vault), "newest", 1)
    return any(since is None or memory.created_at >= int(since) for memory in newest)


def again(rt: Runtime, actor: Actor) -> int:
    """Jobs that failed too often begin again, those that wait for their next try begin now; returns how many."""
    require(actor, "admin")
    with rt.store.write() as tx:
        return tx.jobs.revive(actor.vault, KIND, tx.now)


def _schedule(rt: Runtime, vault: str) -> int:
    made, after = 0, None
    while True:
        with rt.store.write(everybody(vault)) as tx:
            page = tx.memories.select(_sight(tx, rt, vault), "oldest", _PAGE, after)
            made += sum(tx.jobs.enqueue(_job(tx, memory)) for memory in page if memory.session)
            if len(page) < _PAGE:
                tx.accounts.set(vault, UP_TO, str(tx.now - rt.options.extract_after))
                tx.jobs.trim(vault, KIND, tx.now - _KEPT)
                return made
            after = page[-1].id


def _sight(tx: Tx, rt: Runtime, vault: str) -> Filter:
    """Summaries that came since the last look and are old enough.

    The looks overlap a little, since a write that is being committed may be older than one that is; a job is made once.
    """
    since = tx.accounts.setting(vault, UP_TO)
    return Filter(
        vault=vault,
        scopes=None,
        now=tx.now,
        statuses=("active", "proposed"),
        kinds=("episode",),
        since=tx.now - _FIRST if since is None else int(since) - _OVERLAP,
        until=tx.now - rt.options.extract_after,
    )


def _job(tx: Tx, memory: Memory) -> Job:
    return Job(tx.new_id(), memory.vault, KIND, memory.id, {"ref": memory.id}, due_at=tx.now, created_at=tx.now)
