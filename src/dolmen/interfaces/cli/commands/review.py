"""`dolmen review`: what agents proposed, and what becomes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dolmen.domain.values import Actor
    from dolmen.services.requests import ReviewItem
    from dolmen.services.runtime import Runtime

_SHORTEST = 4
_MOST_NAMED = 5
_STATUSES = ("pending", "applied", "rejected", "withdrawn")
_REASONS = {
    "mode": "may only suggest",
    "kind": "preferences wait for you",
    "purge": "would destroy",
    "import": "waited before it was imported",
}


@click.group()
def review() -> None:
    """Decide about what agents proposed."""


@review.command("list")
@click.option("--status", type=click.Choice([*_STATUSES, "any"]), default="pending", show_default=True)
@click.option("--limit", type=click.IntRange(1, 1000), default=50, show_default=True)
@command
def list_(here: Here, status: Any, limit: int) -> None:
    """List proposals, the oldest first."""
    from dolmen.interfaces.cli import present
    from dolmen.services.review import pending

    with here.vault() as (rt, actor):
        items = pending(rt, actor, None if status == "any" else status, limit)
    out = here.out
    rows = [
        (
            out.style(present.short(item.id), fg="yellow"),
            item.op,
            item.agent,
            out.dim(out.when(item.created_at)),
            item.status + (", memory changed since" if item.stale else ""),
            _gist(item.diff),
        )
        for item in items
    ]
    headings = ("proposal", "wants to", "agent", out.in_zone("made"), "status", "change")
    out.result({"proposals": present.plain(items)}, out.listing(headings, rows, "Nothing waits for you."))


def _gist(diff: str) -> str:
    """A diff in one line: what stands there now, and what would."""
    lines = [each for each in diff.splitlines() if each and not each.startswith("@@")]
    now = [each[1:].strip() for each in lines if each.startswith("-")]
    then = [each[1:].strip() for each in lines if each.startswith("+")]
    before, after = next(filter(None, now), ""), next(filter(None, then), "")
    said = f"{before} → {after}" if before and after else after or (f"without: {before}" if before else "")
    more = max(len(now), len(then)) - 1
    return f"{said} (and {more} more {'line' if more == 1 else 'lines'})" if more > 0 else said


@review.command()
@click.argument("id")
@command
def show(here: Here, id: str) -> None:
    """Show a proposal as the change that it would make."""
    with here.vault() as (rt, actor):
        item = _named(rt, actor, id)
    _say(here, item)


@review.command()
@click.argument("ids", nargs=-1, required=True)
@click.option("--note", default="", help="Why; kept with the decision.")
@click.option("--force", is_flag=True, help="Also when the memory changed since.")
@command
def apply(here: Here, ids: tuple[str, ...], note: str, force: bool) -> None:
    """Agree: do what was proposed."""
    from dolmen.services.review import apply as agree

    with here.vault() as (rt, actor):
        items = [agree(rt, actor, _named(rt, actor, id).id, note, force=force) for id in ids]
    _decided(here, items)


@review.command()
@click.argument("ids", nargs=-1, required=True)
@click.option("--note", default="", help="Why; kept with the decision.")
@command
def reject(here: Here, ids: tuple[str, ...], note: str) -> None:
    """Disagree: leave everything as it is."""
    from dolmen.services.review import reject as disagree

    with here.vault() as (rt, actor):
        items = [disagree(rt, actor, _named(rt, actor, id).id, note) for id in ids]
    _decided(here, items)


def _named(rt: Runtime, actor: Actor, part: str) -> ReviewItem:
    """The proposal that a person means by the first or last characters of its id."""
    from dolmen.services.review import pending

    wanted = part.strip().strip("…").lower()
    every = pending(rt, actor, None, 10_000)
    found = [
        item for item in every if len(wanted) >= _SHORTEST and (item.id.startswith(wanted) or item.id.endswith(wanted))
    ]
    if not found:
        raise DolmenError("not-found", f"There is no proposal {part!r}.", "`dolmen review list` shows what waits.")
    if len(found) > 1:
        named = ", ".join(f"{item.id} ({item.op} by {item.agent})" for item in found[:_MOST_NAMED])
        raise DolmenError("invalid-argument", f"{part!r} fits several proposals: {named}.", "Give more characters.")
    return found[0]


def _decided(here: Here, items: Sequence[ReviewItem]) -> None:
    from dolmen.interfaces.cli import present

    lines = [f"{here.out.style(present.short(item.id), fg='yellow')} {item.status}: {item.op}" for item in items]
    here.out.result({"proposals": present.plain(items)}, lines)


def _say(here: Here, item: ReviewItem) -> None:
    from dolmen.interfaces.cli import present

    out = here.out
    pairs = (
        ("proposal", f"{item.id}, {item.status}"),
        ("wants to", item.op + (f" {item.kind}" if item.kind else "")),
        ("scope", item.scope),
        ("memory", item.ref or ""),
        ("by", f"{item.agent}, {out.when(item.created_at)}{f' ({out.zone})' if out.terminal else ''}"),
        ("waits", _REASONS.get(item.because, item.because)),
        ("reason", item.reason),
        ("note", item.note),
        ("changed", "the memory changed since: look, then apply with --force" if item.stale else ""),
    )
    lines = [f"{out.dim(name.ljust(9))} {value}" for name, value in pairs if value]
    lines += ["", *out.diff(item.diff)]
    lines += [f"similar: {present.short(each.ref)} ({each.similarity:.2f}) {each.text}" for each in item.similar]
    out.result(present.plain(item), lines)
