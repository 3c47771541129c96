"""Work that waits as rows: who leases a job does its slow part without a transaction, then writes and ends it in one.

A killed process loses nothing and does nothing twice: its lease runs out, another process begins the job again, and
what the first one had written was written together with the job's end, or not at all.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from dolmen.domain.audience import everybody
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import HOUR, MINUTE, SECOND
from dolmen.models.chat import Unanswered
from dolmen.models.contract import ModelUnavailable
from dolmen.services.runtime import Runtime
from dolmen.store.contract import Job, Tx

MOST = 6
"""Times that a job is begun before it is left for a person to look at (`dead`)."""
AGAIN = (1 * MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 8 * HOUR)
"""How long a failed job waits, by the number of times that it was begun."""
OUTAGE = 5 * MINUTE
"""How long one waits that could not begin, because the model is down."""
_log = logging.getLogger(__name__)

Write = Callable[[Tx], None]
"""What a job writes; its end is written in the same transaction."""
Handler = Callable[[Runtime, Job], Write]
"""The slow part of a job: may ask a model, opens short read transactions only."""


class Later(Exception):
    """A job cannot be done yet; that is no failure."""

    def __init__(self, after: int, why: str) -> None:
        super().__init__(why)
        self.after = after


class _Lost(Exception):
    """Somebody else has the job: its lease ran out. Takes the write back."""


@dataclass(frozen=True, slots=True)
class Worked:
    """What became of the jobs of one run."""

    done: int = 0
    failed: int = 0
    """Will be tried again."""
    dead: int = 0
    outage: str = ""
    """Why the run ended early: what is wrong with the model."""


def never() -> bool:
    return False


def work(
    rt: Runtime,
    handlers: Mapping[str, Handler],
    *,
    vault: str | None = None,
    limit: int | None = None,
    stopped: Callable[[], bool] = never,
    progress: Callable[[int], None] | None = None,
) -> Worked:
    """Does what is due, one job after the other, until nothing is, the limit is reached, or the model is down."""
    done = failed = dead = 0
    while not stopped() and (limit is None or done + failed + dead < limit):
        job = _lease(rt, tuple(handlers), vault)
        if job is None:
            break
        try:
            became = _one(rt, handlers[job.kind], job, stopped)
        except ModelUnavailable as outage:
            _end(rt, job, outage.reason, OUTAGE, counted=False)
            return Worked(done, failed, dead, outage.reason)
        done, failed, dead = done + (became == "done"), failed + (became == "failed"), dead + (became == "dead")
        if progress:
            progress(done + failed + dead)
    return Worked(done, failed, dead)


def _lease(rt: Runtime, kinds: tuple[str, ...], vault: str | None) -> Job | None:
    with rt.store.read() as tx:
        now = tx.now
        waiting = tx.jobs.counts(vault, now)
    if not any(waiting.get(kind, {}).get("waiting") for kind in kinds):
        return None
    with rt.store.write() as tx:
        return tx.jobs.lease(kinds, tx.new_id(), tx.now, tx.now + lease_for(rt), vault)


def lease_for(rt: Runtime) -> int:
    """Microseconds that one job may take: a few questions, each with its time limit, and a minute."""
    return int(4 * rt.options.chat_timeout * SECOND) + MINUTE


def _one(rt: Runtime, handler: Handler, job: Job, stopped: Callable[[], bool]) -> str:
    """What became of one job: `done`, `failed`, `dead`, or `` when it is somebody else's or waits.

    Raises:
        ModelUnavailable: an outage; the job was not ended.
    """
    if job.attempts > MOST:
        return _end(rt, job, job.error or "it was begun often and never ended", 0)
    try:
        write = handler(rt, job)
        if stopped():
            return _end(rt, job, job.error, 0, counted=False)
        with rt.store.write(everybody(job.vault)) as tx:  # what only some may see is no work for models
            write(tx)
            if not tx.jobs.finish(job, tx.now):
                raise _Lost
        return "done"
    except _Lost:
        return ""
    except Later as wait:
        return _end(rt, job, str(wait), wait.after, counted=False)
    except Unanswered as failure:
        return _end(rt, job, failure.reason)
    except ModelUnavailable:
        raise
    except DolmenError as error:
        _log.info("a job (%s) failed: %s", job.kind, error.code)
        return _end(rt, job, error.code)
    except Exception as error:
        _log.exception("a job (%s) failed", job.kind)
        return _end(rt, job, type(error).__name__)


def _end(rt: Runtime, job: Job, error: str, after: int | None = None, *, counted: bool = True) -> str:
    """Puts a job back, or buries one that was begun too often. An error never repeats what anybody said."""
    with rt.store.write() as tx:
        if counted and job.attempts >= MOST:
            return "dead" if tx.jobs.bury(job, tx.now, error) else ""
        wait = AGAIN[min(job.attempts, len(AGAIN)) - 1] if after is None else after
        ended = tx.jobs.put_back(job, tx.now + wait, error, counted=counted)
    return "failed" if ended and counted else ""
