"""What keeps a store in order while nobody asks for anything, and what tells how it is."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import STATUSES
from dolmen.domain.text import ANALYZER_VERSION
from dolmen.domain.values import DAY, HOUR, SECOND, Actor
from dolmen.services import backfill as _backfill
from dolmen.services import people
from dolmen.services.code.catching_up import catch_up
from dolmen.services.rebuilding import rebuild
from dolmen.services.recording import audit, revise
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import EVERY_PROJECT, visible
from dolmen.services.stats import health, stats
from dolmen.store.contract import Filter, Tx

if TYPE_CHECKING:
    from dolmen.services.working import Worker

__all__ = ["Upkeep", "backfill", "expire", "follow_analyzer", "health", "outdated", "reindex", "stats", "trim"]

_log = logging.getLogger(__name__)

IDLE = 3.0
"""Seconds between two looks for work."""
_PATIENCE = 30.0
"""Seconds to wait after a failure."""
_PAGE = 100
_EXPIRED_AT_ONCE = 200
OWN_SETTINGS = "upkeep."
"""Vault settings with this prefix are its own notes."""
REINDEX = "upkeep.reindex"
"""Vault setting: the id up to which an unfinished reindex has come; not there, or empty, when there is none."""
ANALYZER = "upkeep.analyzer"
"""Vault setting: the version of the analyzer that made the tokens of the index."""
_FIRST_ANALYZER = "1"
"""That of the releases which did not note it."""
_TIDIED = "upkeep.tidied"
_START = "start"
_LEASE_FOR = 120 * SECOND

Progress = Callable[[int, int], None]
"""Called with (done, of how many)."""


def backfill(rt: Runtime, limit: int | None = None, progress: _backfill.Progress | None = None) -> int:
    """Embeds what has no vector of the current model; returns how many passages. See `Backfill.run`."""
    return _backfill.Backfill(rt).run(limit, progress)


# -------------------------------------------------------------------------------------------------------------- reindex
def reindex(rt: Runtime, actor: Actor, progress: Progress | None = None, *, fresh: bool = False) -> int:
    """Makes the search index of the vault again from its memories; returns how many. Vectors follow by backfill.

    Memory by memory, so that search goes on meanwhile; each page is committed. `fresh` empties the index first, which
    mends one that is damaged. A fresh one that was killed is resumed by the next call.

    Raises:
        DolmenError: `conflict` when another process is at it.
    """
    require(actor, "admin")
    lease = f"reindex:{actor.vault}"
    with rt.store.write() as tx:
        owner = tx.new_id()
        if not tx.leases.take(lease, owner, tx.now, tx.now + _LEASE_FOR):
            raise DolmenError("conflict", "Another process is making the index again.", "Wait until it has finished.")
        resumed = tx.accounts.setting(actor.vault, REINDEX) or ""
        if fresh and not resumed:
            tx.index.clear(actor.vault)
            tx.accounts.set(actor.vault, REINDEX, _START)
        total = sum(tx.memories.count(_everything(tx, actor)).values())
        audit(tx, actor, "reindex")
    after = resumed if resumed not in ("", _START) else None
    done = 0
    try:
        while (page := _page(rt, actor, after, lease, owner, marked=fresh or bool(resumed)))[0]:
            done, after = done + page[0], page[1]
            if progress:
                progress(done, max(total, done))
        with rt.store.write() as tx:
            tx.accounts.set(actor.vault, ANALYZER, str(ANALYZER_VERSION))
        return done
    finally:
        with rt.store.write() as tx:
            tx.leases.release(lease, owner)


def _page(rt: Runtime, actor: Actor, after: str | None, lease: str, owner: str, *, marked: bool) -> tuple[int, str]:
    with rt.store.write() as tx:
        memories = tx.memories.select(_everything(tx, actor), "oldest", _PAGE, after)
        tx.index.drop(actor.vault, [memory.id for memory in memories])
        here = tx.memories.many(actor.vault, [memory.id for memory in memories])  # since then nobody changes them
        for memory in here.values():
            rebuild(tx, memory, tx.memories.revisions(actor.vault, memory.id) if memory.version > 1 else ())
        last = memories[-1].id if memories else ""
        if marked:
            tx.accounts.set(actor.vault, REINDEX, last)
        tx.leases.take(lease, owner, tx.now, tx.now + _LEASE_FOR)
        return len(memories), last


def outdated(tx: Tx, vault: str) -> bool:
    """Whether another version of the analyzer made the index, so that some words may not find what has them."""
    return tx.accounts.setting(vault, ANALYZER) not in (None, str(ANALYZER_VERSION))


def follow_analyzer(rt: Runtime) -> list[str]:
    """Makes the index of each vault again that another version of the analyzer has made; returns those vaults."""
    old = []
    with rt.store.write() as tx:
        for vault, _ in tx.accounts.vaults():
            if tx.accounts.setting(vault, ANALYZER) is None:
                filled = tx.memories.select(_everything(tx, _itself(vault)), limit=1)
                tx.accounts.set(vault, ANALYZER, _FIRST_ANALYZER if filled else str(ANALYZER_VERSION))
            if outdated(tx, vault):
                old.append(vault)
    for vault in old:
        _log.info("the index of vault %s was made by another version and is made again", vault)
        reindex(rt, _itself(vault))
    return old


def _everything(tx: Tx, actor: Actor) -> Filter:
    return visible(tx, actor, EVERY_PROJECT, statuses=STATUSES, include_expired=True)


# ----------------------------------------------------------------------------------------------------------------- tidy
def expire(rt: Runtime) -> int:
    """Retires memories whose author gave them an expiry that has passed; they stay as history. Returns how many."""
    done = 0
    with rt.store.read() as tx:
        vaults = [id for id, _ in tx.accounts.vaults()]
    for vault in vaults:
        with rt.store.write() as tx:
            for memory in tx.memories.expired(vault, tx.now, _EXPIRED_AT_ONCE):
                revise(tx, _itself(vault), memory, "expire", status="deleted")
                done += 1
    return done


def trim(rt: Runtime, keep_days: int) -> int:
    """Forgets recall events that no feedback names and that are older than that; returns how many."""
    with rt.store.write() as tx:
        return sum(tx.journal.trim(vault, tx.now - keep_days * DAY) for vault, _ in tx.accounts.vaults())


def _itself(vault: str) -> Actor:
    return Actor(vault=vault, person="", agent="dolmen", mode="admin", connection="upkeep")


class Upkeep:
    """A background thread: loads the model, embeds what waits, and once an hour tidies; with a chat model, another one
    that works with it. Any number of processes may
    run one; leases make sure that one works at a time."""

    def __init__(self, rt: Runtime, *, keep_events_days: int = 90) -> None:
        self._rt = rt
        self._keep = keep_events_days
        self._backfill = _backfill.Backfill(rt)
        self._worker: Worker | None = None
        self._stop = threading.Event()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, *, after: float = 0.0) -> None:
        """Starts the thread, unless it runs. Call it when clients have their first answer, or give it seconds to wait:
        loading a model takes the processor from whoever is shaking hands (B202)."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, args=(after,), name="dolmen-upkeep", daemon=True)
            self._thread.start()
        if self._worker is None and self._rt.chat is not None:
            from dolmen.services.working import Worker  # what most processes need not load

            self._worker = Worker(self._rt)
            self._worker.start(after=after)

    def poke(self) -> None:
        """There is something to embed now."""
        self._wake.set()

    def stop(self, timeout: float = 10.0) -> None:
        """Ends the thread after what it is doing, at most a batch. Harmless to repeat, and before `start`."""
        self._stop.set()
        self._wake.set()
        if self._worker is not None:
            self._worker.stop()
        if self._thread is not None:
            self._thread.join(timeout)

    def _run(self, after: float) -> None:
        if self._stop.wait(after):
            return
        if self._rt.embedder is not None:
            self._rt.embedder.warm()
        self._attempt(lambda: follow_analyzer(self._rt))
        while not self._stop.is_set():
            good = self._attempt(self._tidy) and self._attempt(self._embed)
            self._wake.wait(IDLE if good else _PATIENCE)
            self._wake.clear()

    def _attempt(self, work: Callable[[], object]) -> bool:
        try:
            work()
        except DolmenError as error:
            level = logging.INFO if error.code in ("store-busy", "model-unavailable") else logging.WARNING
            _log.log(level, "upkeep will try again: %s", error.message)
            return False
        except Exception:
            _log.exception("upkeep failed and will try again")
            return False
        return True

    def _embed(self) -> None:
        embedder = self._rt.embedder
        if embedder is None or (embedder.dim == 0 and not embedder.ready):  # no model, and none to come
            return
        if self._backfill.waiting():
            self._backfill.run(stopped=self._stop.is_set)

    def _tidy(self) -> None:
        with self._rt.store.read() as tx:
            now, ticket = tx.now, f"{tx.now // HOUR}"
            last = {vault: tx.accounts.setting(vault, _TIDIED) for vault, _ in tx.accounts.vaults()}
        if all(done == ticket for done in last.values()):
            return
        with self._rt.store.write() as tx:
            if not tx.leases.take("tidy", tx.new_id(), now, now + _LEASE_FOR):
                return
            for vault in last:
                tx.accounts.set(vault, _TIDIED, ticket)
        expire(self._rt)
        trim(self._rt, self._keep)
        people.forget_old(self._rt)
        catch_up(self._rt)
        self._rt.store.tidy()
        self._finish_reindex()

    def _finish_reindex(self) -> None:
        with self._rt.store.read() as tx:
            unfinished = [vault for vault, _ in tx.accounts.vaults() if tx.accounts.setting(vault, REINDEX)]
        for vault in unfinished:
            reindex(self._rt, _itself(vault))
