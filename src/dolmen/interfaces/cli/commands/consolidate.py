"""`dolmen consolidate`: find duplicates, contradictions and old sessions, and propose what to do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.services.consolidation import Found, Report

_SHOWN = 50


@click.command()
@click.option("--dry-run", is_flag=True, help="Only show what would be proposed; asks no model.")
@click.option("--all", "everything", is_flag=True, help="Compare all memories again, not only what changed.")
@click.option("--limit", metavar="N", type=click.IntRange(1), help="Pairs and sets of sessions to judge at most.")
@command
def consolidate(here: Here, dry_run: bool, everything: bool, limit: int | None) -> None:
    """Find memories that say the same or contradict each other.

    And old sessions that one digest can stand for. Nothing is changed: what is found waits in `dolmen
    review`, and what you reject is never proposed again. With a chat model, it reads each pair twice, and only what it
    finds both times is proposed; without one, only what the words alone show. Only what changed since the last time is
    compared.
    """
    from dolmen.interfaces.cli import present
    from dolmen.services.consolidation import consolidate as look

    progress = here.out.progress("comparing memories")
    with here.vault(models=True) as (rt, actor):
        report = look(
            rt,
            actor,
            everything=everything,
            dry_run=dry_run,
            limit=limit,
            progress=lambda step, done, total: progress(done, total),
        )
        progress.end()
        judge = rt.chat.model if rt.chat else "the words alone"
    if report.outage:
        here.out.warn(f"The chat model is not available: {report.outage}")
    lines = _rehearsed(here, report) if dry_run else _told(report, judge)
    here.out.result(present.plain(report), lines)


def _told(report: Report, judge: str) -> Iterator[str]:
    yield f"{report.compared:,} memories compared, {report.candidates:,} new candidates"
    failed = f", {report.failed:,} failed" if report.failed else ""
    waiting = f", {report.waiting:,} still to be judged" if report.waiting else ""
    yield f"{report.judged:,} judged by {judge}, {report.proposed:,} proposed{failed}{waiting}"
    if report.withdrawn:
        yield f"{report.withdrawn:,} earlier proposals were settled by other changes"
    if report.pending:
        yield f"{report.pending:,} wait for you: `dolmen review`"


def _rehearsed(here: Here, report: Report) -> Iterator[str]:
    yield f"{report.compared:,} memories compared, {report.candidates:,} candidates; nothing was changed"
    for found in report.found[:_SHOWN]:
        yield ""
        yield from _candidate(here, found)
    if (more := len(report.found) - _SHOWN) > 0:
        yield f"… and {more:,} more: --json shows all"


def _candidate(here: Here, found: Found) -> Iterator[str]:
    from dolmen.interfaces.cli import present

    likeness = f" ({found.similarity:.2f} alike)" if found.similarity else ""
    yield here.out.bold(found.verdict or "only a reader can tell") + likeness + (f": {found.why}" if found.why else "")
    if found.verdict == "digest":
        yield from here.out.diff("\n".join(f"+{line}" for line in found.texts[0].splitlines()))
        return
    refs = (*([found.keep] if found.keep else []), *found.drop)
    signs = (" ", "-") if found.keep else ("?", "?")
    for sign, ref, text in zip(signs, refs, found.texts, strict=True):
        yield from here.out.diff(f"{sign}{present.short(ref)} {' '.join(text.split())}")
