"""`open` and `private` of memories and notes: who sees them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from dolmen.interfaces.cli import present
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.domain.audience import Visibility

_WITH = click.option("--with", "people", metavar="NAME", multiple=True, help="Somebody else who sees it; repeatable.")


@click.command("open")
@click.argument("refs", nargs=-1, required=True)
@command
def open_memory(here: Here, refs: tuple[str, ...]) -> None:
    """Show memories to everybody of the vault."""
    _share(here, refs, "open")


@click.command("private")
@click.argument("refs", nargs=-1, required=True)
@_WITH
@command
def private_memory(here: Here, refs: tuple[str, ...], people: tuple[str, ...]) -> None:
    """Keep memories to you and whom you name."""
    _share(here, refs, "private", people)


@click.command("open")
@click.argument("ref")
@command
def open_note(here: Here, ref: str) -> None:
    """Show a note to everybody of the vault."""
    _share_note(here, ref, "open")


@click.command("private")
@click.argument("ref")
@_WITH
@command
def private_note(here: Here, ref: str, people: tuple[str, ...]) -> None:
    """Keep a note to you and whom you name."""
    _share_note(here, ref, "private", people)


def _share(here: Here, refs: Sequence[str], visibility: Visibility, people: Sequence[str] = ()) -> None:
    from dolmen.services.listing import full_ref
    from dolmen.services.sharing import share

    with here.vault() as (rt, actor):
        done = [share(rt, actor, full_ref(rt, actor, ref), visibility, people) for ref in refs]
    value = [{"ref": each.ref, "outcome": each.outcome, "visibility": visibility} for each in done]
    here.out.result({"memories": value}, [f"{present.short(each.ref)} is {visibility}." for each in done])


def _share_note(here: Here, ref: str, visibility: Visibility, people: Sequence[str] = ()) -> None:
    from dolmen.services.notes.sharing import share_note

    with here.vault() as (rt, actor):
        done = share_note(rt, actor, ref, visibility, people)
    value = {"ref": done.ref, "outcome": done.outcome, "visibility": visibility}
    here.out.result(value, [f"{done.permalink} is {visibility}."])
