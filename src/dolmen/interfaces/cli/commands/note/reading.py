"""`dolmen note list`, `show`, `history`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from dolmen.interfaces.cli import present
from dolmen.interfaces.cli.commands.memory import options
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.domain.note import Note
    from dolmen.services.requests.notes import NoteListing, NoteView
    from dolmen.services.runtime import Runtime


@click.command("list")
@click.argument("folder", default="")
@options.project
@click.option(
    "--depth", metavar="N", type=click.IntRange(1, 100), default=100, help="Levels of folders. [default: all]"
)
@click.option("--since", metavar="WHEN", help="Only what was written since then, newest first.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 10_000), default=200, show_default=True, help="Notes at most."
)
@click.option("--cursor", metavar="ID", help="Go on after this note, the last of the page before.")
@command
def list_(
    here: Here, folder: str, project: str | None, depth: int, since: str | None, limit: int, cursor: str | None
) -> None:
    """List notes by their addresses."""
    from dolmen.services.notes.reading import browse_notes

    with here.vault(in_project=not project) as (rt, actor):
        moment = _moment(here, rt, since)
        listing = browse_notes(
            rt, actor, folder, depth, project=project, changed_since=moment, limit=limit, cursor=cursor
        )
    here.out.result(present.plain(listing), _listing(here, listing))
    if listing.cursor and not here.out.as_json:
        here.out.note(f"There are more: --cursor {listing.cursor}")


def _moment(here: Here, rt: Runtime, said: str | None, edge: Literal["start", "end"] = "start") -> int | None:
    if said is None:
        return None
    from dolmen.domain.timeframe import parse

    with rt.store.read() as tx:
        return parse(said, tx.now, here.zone, edge=edge)


def _listing(here: Here, listing: NoteListing) -> list[str]:
    out = here.out
    rows = [
        (out.style(each.permalink, fg="yellow"), each.kind, each.scope.removeprefix("project:"),
         out.when(each.updated_at), each.title)
        for each in listing.notes
    ]  # fmt: skip
    return out.listing(("address", "kind", "scope", out.in_zone("changed"), "title"), rows, "No notes here.")


@click.command()
@click.argument("ref")
@click.option("--section", metavar="HEADING", help="Only this heading and what is below it.")
@click.option("--blocks", is_flag=True, help="The addresses and the standing of its statements instead of the text.")
@click.option("--links", is_flag=True, help="What it links to, and what links to it, instead of the text.")
@click.option("--as-of", metavar="WHEN", help="As it was then.")
@command
def show(here: Here, ref: str, section: str | None, blocks: bool, links: bool, as_of: str | None) -> None:
    """Print a note, a section or a block, as Markdown."""
    from dolmen.services.notes.reading import read_note

    with here.vault() as (rt, actor):
        when = _moment(here, rt, as_of, "end")
        found = read_note(rt, actor, ref, "links" if links else "content", section, when)
    if blocks:
        lines = _blocks(here, found)
    elif links:
        lines = _links(found) or ["No links."]
    else:
        lines = found.text.removesuffix("\n").split("\n")
    here.out.result(_value(found), lines)
    if found.note.status != "active" and not here.out.as_json:
        here.out.note(_ended(found.note))


def _ended(note: Note) -> str:
    """What its text alone would not tell."""
    if note.status == "superseded":
        return f"{note.permalink} was superseded: another note holds instead."
    return f"{note.permalink} is deleted ({note.reason}); `dolmen note undo {note.permalink}` brings it back."


def _links(found: NoteView) -> list[str]:
    open_ = {True: "", False: "  (not written yet)"}
    return [f"{each.source} {each.rel} {each.to}{open_[each.resolved]}" for each in found.links]


def _value(found: NoteView) -> dict[str, Any]:
    value: dict[str, Any] = present.plain(found)
    for block in value["blocks"]:
        del block["memory"]
    del value["revisions"]
    del value["note"]["source"]
    del value["note"]["blocks"]
    return value


def _blocks(here: Here, found: NoteView) -> list[str]:
    out = here.out
    rows = [
        (out.style(each.ref, fg="yellow"), each.kind or each.type, each.verification,
         each.memory.text if each.memory else "")
        for each in found.blocks
    ]  # fmt: skip
    return out.listing(("address", "kind", "standing", "text"), rows, "No blocks.")


@click.command()
@click.argument("ref")
@command
def history(here: Here, ref: str) -> None:
    """Show what became of a note or a block: who changed it, when, and how."""
    from dolmen.services.notes.reading import read_note

    with here.vault() as (rt, actor):
        found = read_note(rt, actor, ref, "history")
    out = here.out
    lines: list[str] = []
    for entry in found.history:
        reason = f": {entry.reason}" if entry.reason else ""
        changed = f" ({', '.join(entry.changed)})" if entry.changed else ""
        head = f"version {entry.version}  {entry.op}{changed}  {out.when(entry.at)} by {entry.agent}"
        lines.append(out.bold(head) + reason)
        lines += [f"  {line}" for line in out.diff(entry.diff)]
    out.result(present.plain(found.history), lines)
