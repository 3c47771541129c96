"""`dolmen refs`: keep memory true to the code of this repository."""

from __future__ import annotations

import click

from dolmen.interfaces.cli.commands.refs.hooking import hook
from dolmen.interfaces.cli.commands.refs.status import status
from dolmen.interfaces.cli.commands.refs.syncing import sync
from dolmen.interfaces.cli.groups import CommandGroup


@click.group(cls=CommandGroup)
def refs() -> None:
    """Keep memory true to the code: check what memories refer to.

    Memories of a project mention files and symbols. `sync` looks in this checkout whether those are still as they were
    when they were first seen, and reports it; memories whose code has changed or is gone rank lower and are marked.
    """


for each in (sync, status, hook):
    refs.add_command(each)
