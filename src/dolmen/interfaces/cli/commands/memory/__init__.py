"""`dolmen memory`: find, show, add, change and remove memories by hand (B227)."""

from __future__ import annotations

from copy import copy

import click

from dolmen.interfaces.cli.commands import review, sharing
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

for name, command in (("review", review.walk), ("approve", review.apply), ("reject", review.reject)):
    alias = copy(command)  # as Kenfold spells them
    alias.hidden = True
    memory.add_command(alias, name)
