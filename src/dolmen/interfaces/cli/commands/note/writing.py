"""`dolmen note new`, `edit`, `move`, `undo`, `delete`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli import present
from dolmen.interfaces.cli.commands.memory import options
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.services.requests.notes import NoteWritten


@click.command()
@click.argument("text", nargs=-1)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the Markdown from standard input.")
@options.project
@click.option("--kind", default="", help="note, decision, convention, state, reference, or a word of your own.")
@click.option("--title", default="", help="[default: the first line]")
@click.option("--folder", default="", metavar="PATH", help="Where it lies, such as backend/decisions.")
@click.option("--permalink", default="", help="Its address exactly. [default: from folder and title]")
@click.option("--tag", "tags", multiple=True, help="A tag; repeat for several.")
@click.option("--supersedes", metavar="REF", multiple=True, help="A note whose claims no longer hold.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@command
def new(
    here: Here,
    text: tuple[str, ...],
    from_stdin: bool,
    project: str | None,
    kind: str,
    title: str,
    folder: str,
    permalink: str,
    tags: tuple[str, ...],
    supersedes: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Write a note: from TEXT, from standard input, or in your editor."""
    from dolmen.services.notes.creating import create_note
    from dolmen.services.requests.notes import NewNote

    if dry_run:
        here.rehearse()
    content = _content(text, from_stdin=from_stdin)
    if content is None:
        content = _in_editor(here, "")
    request = NewNote(
        content,
        kind=kind,
        title=title,
        folder=folder,
        permalink=permalink,
        tags=tags,
        supersedes=supersedes,
        project=project,
    )
    with here.vault(in_project=not project, create=True) as (rt, actor):
        done = create_note(rt, actor, request, dry_run=dry_run)
    _say(here, done)


@click.command()
@click.argument("ref")
@click.argument("text", nargs=-1)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the new text from standard input.")
@click.option("--append", "op", flag_value="append", help="Add TEXT at the end.")
@click.option("--prepend", "op", flag_value="prepend", help="Add TEXT at the top.")
@click.option("--set", "pair", metavar="KEY=VALUE", help="Set a property of the front matter.")
@click.option("--unset", "unset", metavar="KEY", help="Remove a property.")
@click.option("--reason", default="", help="Why; kept in its history.")
@command
def edit(
    here: Here,
    ref: str,
    text: tuple[str, ...],
    from_stdin: bool,
    op: str | None,
    pair: str | None,
    unset: str | None,
    reason: str,
) -> None:
    """Change a note, or one block of it (`note#blk_…`); without a new text, in your editor.

    What it was before stays in its history, and `dolmen note undo` brings it back.
    """
    from dolmen.services.notes.editing import edit_note
    from dolmen.services.notes.reading import read_note
    from dolmen.services.requests.notes import NoteEdit

    with here.vault() as (rt, actor):
        if pair is not None or unset is not None:
            key, _, value = (pair or unset or "").partition("=")
            request = NoteEdit(ref, "set_property", key=key, value=value if pair is not None else None, reason=reason)
        else:
            found = read_note(rt, actor, ref)
            content = _content(text, from_stdin=from_stdin)
            if content is None:
                content = _in_editor(here, "" if op else found.text)
            if op:
                request = NoteEdit(ref, op, content, reason=reason)  # type: ignore[arg-type]  # a flag's value
            elif found.block:
                request = NoteEdit(found.ref, "replace_block", content, reason=reason)
            else:
                request = NoteEdit(ref, "replace_note", content, expected_sha=found.sha, reason=reason)
        done = edit_note(rt, actor, request)
    _say(here, done)


def _content(text: tuple[str, ...], *, from_stdin: bool) -> str | None:
    """The text of the arguments or of standard input, byte for byte; None when neither was given."""
    if text == ("-",):
        text, from_stdin = (), True
    if not from_stdin:
        return " ".join(text) if text else None
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise DolmenError(
            "invalid-argument", "Standard input is not UTF-8.", "Convert it first, such as with `iconv -t utf-8`."
        ) from error


def _in_editor(here: Here, text: str) -> str:
    if not sys.stdin.isatty():
        raise DolmenError("invalid-argument", "There is nothing to write.", "Pass the text, or --stdin.")
    return here.edited(text)


@click.command()
@click.argument("ref")
@click.argument("permalink", default="")
@click.option("--title", default="", help="A new title.")
@click.option("--reason", default="", help="Why; kept in its history.")
@command
def move(here: Here, ref: str, permalink: str, title: str, reason: str) -> None:
    """Give a note another address, another title, or both. What links to it still finds it."""
    from dolmen.services.notes.moving import move_note

    with here.vault() as (rt, actor):
        done = move_note(rt, actor, ref, permalink, title=title, reason=reason)
    _say(here, done)


@click.command()
@click.argument("ref")
@click.option(
    "--version", metavar="N", type=click.IntRange(1), help="The version to go back to. [default: the one before]"
)
@click.option("--reason", default="", help="Why; kept in its history.")
@command
def undo(here: Here, ref: str, version: int | None, reason: str) -> None:
    """Take back the last change of a note, or go back to a version; also of one that was deleted."""
    from dolmen.services.notes.moving import restore_note

    with here.vault() as (rt, actor):
        done = restore_note(rt, actor, ref, version, reason=reason)
    _say(here, done)


@click.command()
@click.argument("ref")
@click.option("--reason", required=True, help="Why; kept forever.")
@command
def delete(here: Here, ref: str, reason: str) -> None:
    """Delete a note and its memories. `dolmen note undo` brings them back."""
    from dolmen.services.notes.editing import edit_note
    from dolmen.services.requests.notes import NoteEdit

    with here.vault() as (rt, actor):
        done = edit_note(rt, actor, NoteEdit(ref, "delete_note", reason=reason))
    _say(here, done)


def _say(here: Here, done: NoteWritten) -> None:
    value = present.plain(done)
    del value["note"]
    name = here.out.style(done.permalink or done.ref, fg="yellow")
    counts = [
        f"{len(ids)} {what}"
        for what, ids in (("added", done.added), ("changed", done.changed), ("removed", done.removed))
        if ids
    ]
    version = f", version {done.version}" if done.version else ""
    lines = [f"{name} {done.outcome}{version}{': ' + ', '.join(counts) if counts else ''}"]
    lines += [f"  replaces {old}" for old in done.superseded]
    if done.address_in_use:
        lines.append(f"  {done.address_in_use['suggestion']}")
    lines += [f"  {note}" for note in done.notes]
    here.out.result(value, lines)
