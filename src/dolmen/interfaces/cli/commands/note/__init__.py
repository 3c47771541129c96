"""`dolmen note`: Markdown notes by hand, and folders of them."""

from __future__ import annotations

import click

from dolmen.interfaces.cli.commands import sharing
from dolmen.interfaces.cli.commands.note import files, reading, writing
from dolmen.interfaces.cli.groups import CommandGroup


@click.group(cls=CommandGroup)
def note() -> None:
    """Read, write and move notes, and folders of Markdown files.

    A note is Markdown whose every statement is a memory.

    A REF is the address of a note, such as backend/auth-decision.
    """


for each in (
    reading.list_,
    reading.show,
    reading.history,
    writing.new,
    writing.edit,
    writing.move,
    writing.undo,
    sharing.open_note,
    sharing.private_note,
    writing.delete,
    files.import_,
    files.export_,
):
    note.add_command(each)
