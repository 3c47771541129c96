"""`dolmen extract`: let the chat model read what sessions left behind, now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from dolmen.domain.errors import DolmenError
from dolmen.domain.timeframe import format_utc
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime


@click.command()
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Sessions to read at most.")
@click.option("--retry", is_flag=True, help="Also those that failed: at once, and however often.")
@command
def extract(here: Here, limit: int | None, retry: bool) -> None:
    """Look for memories in session summaries, with the chat model.

    A running server does this by itself, a few minutes after a session, unless the setting `extract` is off. What is
    found waits in `dolmen review`.
    """
    from dolmen.services import extraction
    from dolmen.services.jobs import work

    progress = here.out.progress("reading sessions")
    with here.vault(models=True) as (rt, actor):
        require_chat(rt)
        revived = extraction.again(rt, actor) if retry else 0
        # Who asks now does not wait the minutes in which a session may still go on.
        scheduled = extraction.schedule(replace(rt, options=replace(rt.options, extract_after=0)))
        handlers = {extraction.KIND: extraction.extract}
        worked = work(rt, handlers, vault=actor.vault, limit=limit, progress=progress)
        progress.end()
        with rt.read(actor) as tx:
            waiting = tx.jobs.counts(actor.vault, tx.now).get(extraction.KIND, {}).get("waiting", 0)
            later = [job for job in tx.jobs.select(actor.vault, extraction.KIND, "waiting", 10_000) if not job.owner]
            retry_of = min((job for job in later if job.due_at > tx.now), key=lambda job: job.due_at, default=None)
            next_try = None if retry_of is None else here.out.when(retry_of.due_at)
            proposed = len(tx.proposals.select(actor.vault, "pending", None, 10_000))
    if worked.outage:
        here.out.warn(f"The chat model is not available: {worked.outage}")
    here.out.result(
        {
            "scheduled": scheduled,
            "revived": revived,
            "done": worked.done,
            "failed": worked.failed,
            "dead": worked.dead,
            "waiting": waiting,
            "next_try": None if retry_of is None else format_utc(retry_of.due_at),
            "outage": worked.outage,
        },
        [
            f"{worked.done:,} sessions read, {worked.failed + worked.dead:,} failed, {waiting:,} wait",
            *([] if retry_of is None else [f"The next try is at {next_try}, after: {retry_of.error}"]),
            *([] if retry_of is None else ["`dolmen extract --retry` tries at once."]),
            f"{proposed:,} {'proposal waits' if proposed == 1 else 'proposals wait'} for you: `dolmen review`"
            if proposed
            else "Nothing waits for you.",
        ],
    )


def require_chat(rt: Runtime) -> None:
    """Refuses work that only a chat model can do.

    Raises:
        DolmenError: `configuration`.
    """
    if rt.chat is None:
        raise DolmenError(
            "configuration",
            "There is no chat model.",
            "Set DOLMEN_CHAT_URL and DOLMEN_CHAT_MODEL to an OpenAI-compatible endpoint.",
        )
