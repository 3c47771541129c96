"""`dolmen memory forget`, `purge`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from dolmen.interfaces.cli import present
from dolmen.interfaces.cli.here import Here, command
from dolmen.interfaces.cli.output import shorten

if TYPE_CHECKING:
    from dolmen.services.requests import Forgotten


@click.command()
@click.argument("refs", nargs=-1, required=True)
@click.option("--invalid", is_flag=True, help="Keep it as history that no longer holds.")
@click.option("--reason", default="", help="Why; kept in its history.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@command
def forget(here: Here, refs: tuple[str, ...], invalid: bool, reason: str, dry_run: bool) -> None:
    """Take memories out of sight; `dolmen memory undo` brings them back."""
    from dolmen.services.forget import forget as take_away
    from dolmen.services.listing import full_ref
    from dolmen.services.requests import Forget

    with here.vault() as (rt, actor):
        request = Forget(
            refs=tuple(full_ref(rt, actor, ref) for ref in refs),
            mode="invalidate" if invalid else "soft",
            reason=reason,
            dry_run=dry_run,
        )
        _say(here, take_away(rt, actor, request))


@click.command()
@click.argument("refs", nargs=-1)
@click.option("--containing", metavar="WORDS", help="Instead of refs: whatever holds these words, now or ever.")
@click.option("--reason", default="", help="Why; kept in the audit.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@command
def purge(here: Here, refs: tuple[str, ...], containing: str | None, reason: str, yes: bool, dry_run: bool) -> None:
    """Destroy memories and their history for good.

    With --containing, in every project: texts, titles, old versions, next steps, the recalls and feedback that hold
    the words, and what session hooks keep on this machine. Nothing brings them back.
    """
    from dolmen.services.forget import forget as take_away
    from dolmen.services.listing import full_ref
    from dolmen.services.requests import Forget

    if bool(refs) == bool(containing):
        raise click.UsageError("Give refs, or --containing WORDS.")
    with here.vault() as (rt, actor):
        asked = Forget(refs=tuple(full_ref(rt, actor, ref) for ref in refs), query=containing, mode="purge")
        would = take_away(rt, actor, replace(asked, dry_run=True))
        if dry_run:
            _say(here, would, _in_sessions(containing, dry_run=True))
            return
        if not yes and not here.out.as_json:
            for ref, text in zip(would.refs, would.texts, strict=True):
                here.out.note(f"{present.short(ref)}  {shorten(text, 90)}")
            for trace in would.traces:
                here.out.note(shorten(trace, 100))
        number = len(would.refs)
        here.confirm(f"Destroy {number} {'memory' if number == 1 else 'memories'} for good?", yes=yes)
        done = take_away(rt, actor, replace(asked, reason=reason))
        _say(here, done, _in_sessions(containing))


def _in_sessions(containing: str | None, *, dry_run: bool = False) -> int:
    """How much of what the hook keeps on this machine holds the words, and goes."""
    from dolmen.client.hook.purging import purge as clean

    return clean(containing, dry_run=dry_run) if containing else 0


def _say(here: Here, answer: Forgotten, in_sessions: int = 0) -> None:
    would = answer.outcome == "would"
    lines = [
        f"{here.out.style(present.short(ref), fg='yellow')} {'would go' if would else answer.outcome}"
        + (f": {shorten(answer.texts[n], 80)}" if answer.texts else "")
        for n, ref in enumerate(answer.refs)
    ]
    lines += [shorten(trace, 100) for trace in answer.traces]
    if in_sessions:
        lines.append(f"{in_sessions} lines of session logs {'would go' if would else 'removed'}")
    if answer.truncated:
        lines.append("There is more: run it again.")
    here.out.result(present.plain(answer), lines)
