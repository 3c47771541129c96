"""`dolmen memory add`, `edit`, `undo`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from dolmen.domain.audience import visibility_of
from dolmen.domain.errors import DolmenError
from dolmen.domain.text import clean
from dolmen.domain.values import USER_SCOPE
from dolmen.interfaces.cli import present
from dolmen.interfaces.cli.commands.memory import options
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.services.requests import Edited, Remembered


@click.command()
@click.argument("text", nargs=-1)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the text from standard input.")
@options.project
@options.facts
@click.option("--pinned", is_flag=True, help="Never let it fade.")
@click.option("--supersedes", metavar="REF", multiple=True, help="A memory that this one replaces.")
@click.option("--private", is_flag=True, help="Only you see it, and whom you name with --with.")
@click.option("--with", "people", metavar="NAME", multiple=True, help="Somebody else who sees it; repeatable.")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
@command
def add(
    here: Here,
    text: tuple[str, ...],
    from_stdin: bool,
    project: str | None,
    kind: Any,
    title: str | None,
    folder: str | None,
    tags: tuple[str, ...],
    importance: float | None,
    source: str | None,
    ttl: int | None,
    pinned: bool,
    supersedes: tuple[str, ...],
    private: bool,
    people: tuple[str, ...],
    dry_run: bool,
) -> None:
    """Store a memory.

    TEXT of `-` alone, like --stdin, reads it from standard input, to its end.
    """
    from dolmen.services.listing import full_ref
    from dolmen.services.remember import remember
    from dolmen.services.requests import NewMemory

    if dry_run:
        here.rehearse()
    with here.vault(in_project=not project, create=True) as (rt, actor):
        item = NewMemory(
            content=_content(here, text, from_stdin=from_stdin) or "",
            kind=kind,
            visibility="private" if private or people else None,
            shared_with=people,
            project=project,
            title=title or "",
            folder=folder or "",
            tags=tags,
            importance=importance,
            source=source or "",
            ttl_seconds=ttl,
            pinned=pinned,
            supersedes=tuple(full_ref(rt, actor, ref) for ref in supersedes),
        )
        [result] = remember(rt, actor, [item], dry_run=dry_run)
    if result.error is not None:
        raise DolmenError(**result.error)  # type: ignore[arg-type]  # what as_dict gave
    value = present.plain(result)
    del value["memory"]
    here.out.result(value, _remembered_lines(here, result))


def _remembered_lines(here: Here, result: Remembered) -> list[str]:
    ref = here.out.style(present.short(result.ref), fg="yellow") + " " if result.ref else ""
    lines = [f"{ref}{result.outcome}: {result.kind} in {result.scope.removeprefix('project:')}{_reach(result)}"]
    lines += [line for note in result.notes for line in here.out.lines(note, "  ")]
    lines += [f"  replaces {present.short(old)}" for old in result.superseded]
    lines += [f"  similar: {present.short(each.ref)} ({each.similarity:.2f}) {each.text}" for each in result.similar]
    return lines


def _reach(result: Remembered) -> str:
    """Where it is seen, and how to choose otherwise."""
    if result.memory is not None and visibility_of(result.memory.audience) == "private":
        where = "every project" if result.scope == USER_SCOPE else "this project"
        return f" (private: {present.seen_by(result.memory.audience)}, in {where})"
    if result.scope == USER_SCOPE:
        return " (seen in every project; --project NAME: only in that one)"
    return " (seen in this project alone; --user: in every one)"


def _content(here: Here, text: tuple[str, ...], *, from_stdin: bool) -> str | None:
    """The text of the arguments or of standard input; None when neither was given."""
    if text == ("-",):
        text, from_stdin = (), True
    if not from_stdin:
        return _told(here, " ".join(text)) if text else None
    if text:
        raise DolmenError("invalid-argument", "The text is given twice.", "Pass it as an argument or with --stdin.")
    given = sys.stdin.buffer.read()
    try:
        return _told(here, given.decode("utf-8").removesuffix("\n"))
    except UnicodeDecodeError as error:
        line = given.count(b"\n", 0, error.start) + 1
        raise DolmenError(
            "invalid-argument",
            f"Standard input is not UTF-8: byte 0x{given[error.start]:02x} at offset {error.start}, line {line}. "
            "Nothing was stored.",
            "Convert it first, such as with `iconv -f latin1 -t utf-8`.",
        ) from error


def _told(here: Here, text: str) -> str:
    """The text; says so when a part of it cannot be stored as it is."""
    if clean(text)[1]:
        here.out.warn("characters that no text can hold (NUL, half a surrogate pair) are stored as U+FFFD")
    return text


@click.command()
@click.argument("ref")
@click.argument("text", nargs=-1)
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the new text from standard input.")
@options.facts
@click.option("--pinned/--not-pinned", default=None, help="Whether it may fade.")
@click.option("--no-ttl", is_flag=True, help="It expires no more.")
@click.option("--supersede", is_flag=True, help="Store the new text as a memory of its own that replaces this one.")
@click.option("--reason", default="", help="Why; kept in its history.")
@command
def edit(
    here: Here,
    ref: str,
    text: tuple[str, ...],
    from_stdin: bool,
    kind: str | None,
    title: str | None,
    folder: str | None,
    tags: tuple[str, ...],
    importance: float | None,
    source: str | None,
    ttl: int | None,
    pinned: bool | None,
    no_ttl: bool,
    supersede: bool,
    reason: str,
) -> None:
    """Change a memory; without a new text or field, in your editor.

    What it was before stays in its history, and `dolmen memory undo` brings it back.
    """
    from dolmen.services.edit import edit as change
    from dolmen.services.listing import full_ref
    from dolmen.services.reading import read
    from dolmen.services.requests import Edit

    fields: dict[str, Any] = {
        name: value
        for name, value in (
            ("kind", kind),
            ("title", title),
            ("folder", folder),
            ("tags", tags or None),
            ("importance", importance),
            ("source", source),
            ("ttl_seconds", ttl),
            ("pinned", pinned),
        )
        if value is not None
    }
    if no_ttl:
        fields["ttl_seconds"] = None
    with here.vault() as (rt, actor):
        found = read(rt, actor, full_ref(rt, actor, ref))
        content = _content(here, text, from_stdin=from_stdin)
        if content is None and (not fields or supersede):
            content = _in_editor(here, found.memory.text)
        edited = change(
            rt,
            actor,
            Edit(
                ref=found.memory.id,
                op="supersede" if supersede else "amend",
                content=content,
                fields=fields,
                reason=reason,
                expected_sha=found.sha,
            ),
        )
    _say(here, edited)


def _in_editor(here: Here, text: str) -> str:
    if not sys.stdin.isatty():
        raise DolmenError("invalid-argument", "There is nothing to change.", "Pass the new text, --stdin, or a field.")
    return here.edited(text).removesuffix("\n")


@click.command()
@click.argument("ref")
@click.option(
    "--version", metavar="N", type=click.IntRange(1), help="The version to go back to. [default: the one before]"
)
@click.option("--reason", default="", help="Why; kept in its history.")
@command
def undo(here: Here, ref: str, version: int | None, reason: str) -> None:
    """Take back the last change of a memory, or go back to a version."""
    from dolmen.services.edit import edit as change
    from dolmen.services.listing import full_ref
    from dolmen.services.requests import Edit

    with here.vault() as (rt, actor):
        request = Edit(full_ref(rt, actor, ref), "restore", version=version, reason=reason)
        edited = change(rt, actor, request)
    _say(here, edited, done="restored")


def _say(here: Here, edited: Edited, done: str = "updated") -> None:
    value = present.plain(edited)
    del value["memory"]
    ref = here.out.style(present.short(edited.new_ref or edited.ref), fg="yellow")
    replaced = f", replaces {present.short(edited.ref)}" if edited.new_ref else ""
    outcome = done if edited.outcome == "updated" else edited.outcome
    here.out.result(value, [f"{ref} {outcome}{replaced}, version {edited.version}"])
