"""`dolmen memory verify`."""

from __future__ import annotations

import click

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import VERIFICATIONS
from dolmen.interfaces.cli import present
from dolmen.interfaces.cli.here import Here, command


@click.command()
@click.argument("refs", nargs=-1, required=True)
@click.option(
    "--state", type=click.Choice(VERIFICATIONS), default="verified", show_default=True, help="What the check showed."
)
@click.option("--note", metavar="TEXT", default="", help="What was looked at; kept in its history.")
@command
def verify(here: Here, refs: tuple[str, ...], state: str, note: str) -> None:
    """Mark memories after checking them against reality; their text stays.

    What you mark as verified counts as confirmed by you from then on, and no longer as stale because of its code.
    A ref of a note (`dolmen://…`) marks every claim in it, one of a block that claim.
    """
    from dolmen.services.listing import full_ref
    from dolmen.services.notes.marking import verify_claims

    with here.vault() as (rt, actor):
        meant = [ref if _in_a_note(ref) else full_ref(rt, actor, ref) for ref in refs]
        done = verify_claims(rt, actor, meant, state, note)
    lines = [f"{here.out.style(present.short(ref), fg='yellow')} {done.state}" for ref in done.marked]
    here.out.result(present.plain(done), lines or ["There is no claim in it to mark."])
    if done.missing:
        raise DolmenError(
            "not-found",
            f"Not here: {', '.join(done.missing)}.",
            "The others are marked. `dolmen memory search` finds them again.",
        )


def _in_a_note(ref: str) -> bool:
    return ref.startswith("dolmen://") and not ref.startswith("dolmen://memory/")
