"""`dolmen vault`: several memories on one server, with nothing that crosses between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dolmen.interfaces.cli import present
from dolmen.interfaces.cli.groups import CommandGroup
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.services.vaults import Vault


@click.group(cls=CommandGroup)
def vault() -> None:
    """List, make, rename and remove vaults.

    A vault has its own people, keys and memories. Every command takes --vault NAME; DOLMEN_VAULT says which one is
    meant without it.
    """


@vault.command("list")
@command
def list_(here: Here) -> None:
    """List the vaults of this store."""
    from dolmen.services import vaults

    with here.vault() as (rt, actor):
        found = vaults.vaults(rt, actor)
    out = here.out
    rows = [
        (
            out.style(each.name, fg="yellow"),
            f"{each.memories:,}",
            f"{each.notes:,}",
            str(each.people),
            str(each.keys),
            "this one" if each.here else "",
        )
        for each in found
    ]
    headings = ("name", "memories", "notes", "people", "keys", "")
    out.result({"vaults": [present.plain(each) for each in found]}, out.listing(headings, rows, "There is none."))


@vault.command()
@click.argument("name")
@command
def add(here: Here, name: str) -> None:
    """Make a vault; you are its owner."""
    from dolmen.services import vaults

    with here.vault(create=True) as (rt, actor):
        made = vaults.add_vault(rt, actor, name)
    here.out.result(present.plain(made), [f"{made.name} is there."])
    if not here.out.as_json:
        flag = f"--vault {made.name!r}"
        here.out.note(f"Use it with {flag}, or DOLMEN_VAULT; keys of it: `dolmen key create AGENT {flag}`.")


@vault.command()
@click.argument("name")
@click.argument("new_name")
@command
def rename(here: Here, name: str, new_name: str) -> None:
    """Give a vault another name; its keys and clients stay."""
    from dolmen.services import vaults

    with here.vault() as (rt, actor):
        renamed = vaults.rename_vault(rt, actor, name, new_name)
    here.out.result(present.plain(renamed), [f"{name} is {renamed.name} now."])


@vault.command()
@click.argument("name")
@click.option("--dry-run", is_flag=True, help="Only say what would be destroyed.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@command
def remove(here: Here, name: str, dry_run: bool, yes: bool) -> None:
    """Destroy a vault with everything in it, for good.

    Memories, notes, their history, the search index, proposals, keys, clients, and the people who are in no other
    vault. Nothing brings them back: `dolmen export --vault NAME` first.
    """
    from dolmen.services import vaults

    with here.vault() as (rt, actor):
        found = vaults.remove_vault(rt, actor, name, dry_run=True)
        if dry_run:
            here.out.result({"would_remove": present.plain(found)}, [f"Would destroy {_said(found)}."])
            return
        here.confirm(f"Destroy {_said(found)} for good?", yes=yes)
        vaults.remove_vault(rt, actor, name)
    here.out.result({"removed": present.plain(found)}, [f"{found.name} is destroyed."])


def _said(found: Vault) -> str:
    more = found.everything - found.memories
    memories = f"{_counted(found.memories, 'memory', 'memories')}{f' and {more:,} of the past' if more else ''}"
    notes, keys = _counted(found.notes, "note", "notes"), _counted(found.keys, "key", "keys")
    return f"{found.name}: {memories}, {notes}, {keys}, {_counted(found.people, 'person', 'people')}"


def _counted(number: int, one: str, several: str) -> str:
    return f"{number:,} {one if number == 1 else several}"
