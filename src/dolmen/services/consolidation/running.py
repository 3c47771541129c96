"""One look at a vault: what changed since the last one is compared, what is close judged, what comes of it proposed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dolmen.domain.access import require
from dolmen.domain.audience import everybody
from dolmen.domain.consolidating import judged
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory
from dolmen.domain.values import HOUR, MINUTE, SECOND, Actor
from dolmen.services.consolidation import digests, judging
from dolmen.services.consolidation.candidates import FEW, Pair, comparable, few, many, vectors
from dolmen.services.consolidation.proposing import declined, pending, proposed, withdraw_settled
from dolmen.services.jobs import Handler, Worked, never, work
from dolmen.services.runtime import Runtime
from dolmen.store.contract import Filter, Tx

if TYPE_CHECKING:
    from dolmen.store.contract import Vector

UP_TO = "upkeep.consolidated"
"""Vault setting: the time of change up to which memories have been compared."""
_LOOKED = "upkeep.consolidation"
"""Vault setting: which quarter of an hour has had its look."""
EVERY = 15 * MINUTE
SETTLED = HOUR
"""How long a memory is left alone in the background: its writer may still correct it."""
AT_ONCE = 8
"""Pairs and digests judged at each look in the background: an endpoint may cost money."""
MOST_PENDING = 200
"""Proposals of consolidation that wait for a person at a time; what else was found waits as jobs."""
_PAGE = 500
OVERLAP = 15 * SECOND
"""The looks overlap, since a write that is being committed may be older than one that is; a pair is judged once."""
_LEASE_FOR = 30 * MINUTE

HANDLERS: Mapping[str, Handler] = {judging.KIND: judging.judge, digests.KIND: digests.digest}

Step = Literal["comparing", "judging"]
Progress = Callable[[Step, int, int], None]
"""Called with the step, how much of it is done, and of how much."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a dry run would propose, or have the model judge."""

    verdict: str
    """`duplicate`, `conflict` or `digest`; empty when only a model could tell."""
    keep: str | None
    drop: tuple[str, ...]
    similarity: float
    why: str
    texts: tuple[str, ...]
    """Of `keep`, then of `drop`; of the two, where none is kept."""


@dataclass(frozen=True, slots=True)
class Report:
    compared: int = 0
    """Memories that changed since the last look and were compared."""
    candidates: int = 0
    """Close pairs and sets of old sessions that were not known before."""
    judged: int = 0
    proposed: int = 0
    """New proposals."""
    pending: int = 0
    """Proposals of consolidation that wait for a person now."""
    waiting: int = 0
    """Candidates that nobody has judged yet."""
    withdrawn: int = 0
    """Proposals that another change has settled."""
    failed: int = 0
    outage: str = ""
    found: tuple[Found, ...] = field(default=())
    """A dry run's findings."""


def consolidate(
    rt: Runtime,
    actor: Actor,
    *,
    everything: bool = False,
    dry_run: bool = False,
    limit: int | None = None,
    settled: int = 0,
    stopped: Callable[[], bool] = never,
    progress: Progress | None = None,
) -> Report:
    """Compares what changed since the last look with what is stored, and proposes duplicates, contradictions and
    digests. Changes no memory.

    Args:
        everything: compare all memories again, not only what changed.
        dry_run: only tell what would be proposed; asks no model, writes nothing.
        limit: candidates to judge at most; None for all.
        settled: microseconds for which a memory must not have changed.

    Raises:
        DolmenError: `conflict` when another process is at it.
    """
    require(actor, "admin")
    vault = actor.vault
    if dry_run:
        changed, pairs, _ = _compare(rt, vault, everything, settled, progress)
        with rt.store.read(everybody(vault)) as tx:
            batches = digests.due(tx, vault)
        return Report(len(changed), len(pairs) + len(batches), found=(*_told(pairs), *map(_digest, batches)))
    lease = f"consolidate:{vault}"
    with rt.store.write(everybody(vault)) as tx:
        owner = tx.new_id()
        if not tx.leases.take(lease, owner, tx.now, tx.now + _LEASE_FOR):
            raise DolmenError("conflict", "Another process is comparing the memories.", "Wait until it has finished.")
    try:
        return _run(rt, vault, everything, limit, settled, stopped, progress)
    finally:
        with rt.store.write(everybody(vault)) as tx:
            tx.leases.release(lease, owner)


def due(rt: Runtime, stopped: Callable[[], bool] = never) -> None:
    """The look in the background: every quarter of an hour, whichever process comes first; not while sessions wait to
    be read in the background too, since what they yield is compared as well."""
    with rt.store.read() as tx:
        ticket = str(tx.now // EVERY)
        idle = not rt.options.extract or not tx.jobs.counts(None, tx.now).get("extract", {}).get("waiting")
        vaults = [vault for vault, _ in tx.accounts.vaults() if tx.accounts.setting(vault, _LOOKED) != ticket]
    for vault in vaults if idle else []:
        with rt.store.write() as tx:
            if tx.accounts.setting(vault, _LOOKED) == ticket:
                continue
            tx.accounts.set(vault, _LOOKED, ticket)
        itself = Actor(vault, "", "dolmen", "admin", "upkeep")
        try:
            report = consolidate(rt, itself, limit=AT_ONCE, settled=SETTLED, stopped=stopped)
        except DolmenError as error:
            if error.code == "conflict":  # somebody has it done by hand right now
                continue
            raise
        if report.outage:
            raise DolmenError("model-unavailable", f"The chat model is not available: {report.outage}", "")


def _run(
    rt: Runtime,
    vault: str,
    everything: bool,
    limit: int | None,
    settled: int,
    stopped: Callable[[], bool],
    progress: Progress | None,
) -> Report:
    changed, pairs, up_to = _compare(rt, vault, everything, settled, progress)
    with rt.store.write(everybody(vault)) as tx:
        withdrawn = withdraw_settled(tx, vault)
        before = len(pending(tx, vault))
        fresh = sum(judging.enqueue(tx, pair) for pair in pairs)
        fresh += sum(digests.enqueue(tx, batch) for batch in digests.due(tx, vault))
        tx.accounts.set(vault, UP_TO, str(up_to))
    worked = _judge(rt, vault, limit, stopped, progress)
    with rt.store.read(everybody(vault)) as tx:
        counts = tx.jobs.counts(vault, tx.now)
        waiting = sum(counts.get(kind, {}).get("waiting", 0) for kind in HANDLERS)
        after = len(pending(tx, vault))
    return Report(
        compared=len(changed),
        candidates=fresh,
        judged=worked.done,
        proposed=after - before,
        pending=after,
        waiting=waiting,
        withdrawn=withdrawn,
        failed=worked.failed + worked.dead,
        outage=worked.outage,
    )


def _judge(
    rt: Runtime, vault: str, limit: int | None, stopped: Callable[[], bool], progress: Progress | None
) -> Worked:
    """Judges what waits, until a person has enough to decide."""
    with rt.store.read(everybody(vault)) as tx:
        counts = tx.jobs.counts(vault, tx.now)
    total = sum(counts.get(kind, {}).get("waiting", 0) for kind in HANDLERS)
    total = total if limit is None else min(limit, total)
    done = failed = 0
    while True:
        with rt.store.read(everybody(vault)) as tx:
            room = MOST_PENDING - len(pending(tx, vault))
        most = min(room, total - done - failed)
        if most <= 0 or stopped():
            return Worked(done, failed)
        at = done + failed
        told = (lambda n, at=at: progress("judging", at + n, total)) if progress else None
        worked = work(rt, HANDLERS, vault=vault, limit=most, stopped=stopped, progress=told)
        done, failed = done + worked.done, failed + worked.failed + worked.dead
        if worked.outage or not worked.done + worked.failed + worked.dead:
            return Worked(done, failed, 0, worked.outage)


def _compare(
    rt: Runtime, vault: str, everything: bool, settled: int, progress: Progress | None
) -> tuple[list[Memory], list[Pair], int]:
    """(memories that changed, close pairs that nobody has decided about, likeliest first, the time up to which this
    is so)."""
    stored: list[Memory] | None = None
    known: Mapping[str, Vector] = {}
    with rt.store.read(everybody(vault)) as tx:
        until = tx.now - settled
        mark = None if everything else tx.accounts.setting(vault, UP_TO)
        changed = [] if mark is None else _changed(tx, vault, int(mark) - OVERLAP, until)
        if mark is None or len(changed) > FEW:
            stored = [memory for memory in tx.memories.stream(vault) if comparable(memory)]
            changed = [memory for memory in stored if memory.updated_at <= until] if mark is None else changed
            known = vectors(rt, tx, stored)
        pairs = few(rt, tx, changed) if stored is None else []
    if progress:
        progress("comparing", 0, len(changed))
    if stored is not None:
        pairs = many(rt, stored, known, frozenset(memory.id for memory in changed))
    likely = [pair for pair in pairs if rt.chat is not None or judged(pair.first, pair.second) is not None]
    with rt.store.read(everybody(vault)) as tx:
        said_no = declined(tx, vault)
        fresh = [pair for pair in likely if not proposed(tx, pair.first, pair.second, said_no)]
    fresh.sort(key=lambda pair: (-pair.similarity, pair.first.id, pair.second.id))
    return changed, fresh, until


def _changed(tx: Tx, vault: str, mark: int, until: int) -> list[Memory]:
    """Comparable memories that changed after the mark, the latest first."""
    sight = Filter(vault, None, tx.now)
    found: list[Memory] = []
    after: str | None = None
    while True:
        page = tx.memories.select(sight, "changed", _PAGE, after)
        found += [each for each in page if mark < each.updated_at <= until and comparable(each)]
        if len(page) < _PAGE or page[-1].updated_at <= mark:
            return found
        after = page[-1].id


def _told(pairs: list[Pair]) -> list[Found]:
    found: list[Found] = []
    for pair in pairs:
        judgement = judged(pair.first, pair.second)
        if judgement is None:
            refs, texts = (pair.first.id, pair.second.id), (pair.first.text, pair.second.text)
            found.append(Found("", None, refs, pair.similarity, "", texts))
        else:
            keep, drop = judgement.keep, judgement.drop
            texts = (keep.text, drop.text)
            found.append(Found(judgement.verdict, keep.id, (drop.id,), pair.similarity, judgement.why, texts))
    return found


def _digest(batch: digests.Batch) -> Found:
    drop = tuple(each.id for each in batch.members)
    return Found(
        "digest", None, drop, 0.0, f"{len(drop)} sessions older than a month", (digests.extract(batch.members),)
    )
