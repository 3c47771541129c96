"""`dolmen memory`: find, show, add, change and remove memories by hand (B227)."""

from __future__ import annotations

import click

from dolmen.interfaces.cli.commands import sharing
from dolmen.interfaces.cli.commands.memory import checking, reading, removing, writing
from dolmen.interfaces.cli.groups import CommandGroup


@click.group(cls=CommandGroup)
def memory() -> None:
    """Find, show, add, change and remove memories.

    A REF is the id of a memory or a part of it: the ref that a list printed (its last characters), or at least four
    characters of its start or end that no other id has.
    """


for each in (
    reading.list_,
    reading.search,
    reading.show,
    reading.history,
    writing.add,
    writing.edit,
    writing.undo,
    sharing.open_memory,
    sharing.private_memory,
    checking.verify,
    removing.forget,
    removing.purge,
):
    memory.add_command(each)
