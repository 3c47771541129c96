"""`dolmen review`: what agents proposed, and what becomes of it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from dolmen.domain.errors import DolmenError
from dolmen.domain.proposal import GROUPS
from dolmen.interfaces.cli.groups import CommandGroup
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dolmen.domain.proposal import Group
    from dolmen.domain.values import Actor
    from dolmen.services.requests import ReviewItem
    from dolmen.services.runtime import Runtime

_SHORTEST = 4
_MOST_NAMED = 5
_STATUSES = ("pending", "applied", "rejected", "withdrawn")
REASONS = {
    "extracted": "found in a session by a model",
    "duplicate": "says what another memory says",
    "conflict": "contradicts a newer memory",
    "digest": "would stand for several old sessions",
    "mode": "may only suggest",
    "kind": "preferences wait for you",
    "purge": "would destroy",
    "agent-writes-off": "agent writes are off",
    "review": "the policy is review",
    "stale": "the note moved on before it was written",
    "blind": "replaces a note without having read this version",
    "taken": "the address is taken",
    "deletion": "deletes a note",
    "replaces": "takes the place of a live note",
    "import": "waited before it was imported",
}


class _Walking(CommandGroup):
    """`dolmen review` alone is `dolmen review walk`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        words = [each for each in args if not each.startswith("-")]
        helped = {"-h", "--help"} & set(args)
        if not helped and (not args or (args[0].startswith("-") and not set(words) & set(self.commands))):
            args = ["walk", *args]
        return super().parse_args(ctx, args)


_only = click.option("--only", type=click.Choice(GROUPS), help="Only this group of proposals.")
_everything = click.option("--all", "group", type=click.Choice(GROUPS), help="Everything of this group that waits.")


@click.group(cls=_Walking)
def review() -> None:
    """Decide about what agents proposed.

    Alone at a terminal, it walks through everything that waits for you; elsewhere it lists it.
    """


@review.command()
@_only
@command
def walk(here: Here, only: Group | None) -> None:
    """Decide one after the other, at a terminal."""
    from dolmen.interfaces.cli.commands.reviewing import Walk

    if here.out.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        _list(here, "pending", 50, only)
        return
    with here.vault() as (rt, actor):
        Walk(here, rt, actor, only).run()


@review.command("list")
@_only
@click.option(
    "--status", type=click.Choice([*_STATUSES, "any"]), default="pending", show_default=True, help="Only in this state."
)
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 1000), default=50, show_default=True, help="Proposals at most."
)
@command
def list_(here: Here, only: Group | None, status: Any, limit: int) -> None:
    """List proposals, the oldest first."""
    _list(here, status, limit, only)


def _list(here: Here, status: Any, limit: int, only: Group | None) -> None:
    from dolmen.interfaces.cli import present
    from dolmen.services.review import pending

    with here.vault() as (rt, actor):
        items = pending(rt, actor, None if status == "any" else status, limit, only)
    out = here.out
    rows = [
        (
            out.style(present.short(item.id), fg="yellow"),
            item.op + (f" ({item.because})" if item.because in _FOUND else ""),
            item.agent,
            out.dim(out.when(item.created_at)),
            item.status + (", memory changed since" if item.stale else ""),
            _gist(item),
        )
        for item in items
    ]
    headings = ("proposal", "wants to", "agent", out.in_zone("made"), "status", "change")
    out.result({"proposals": present.plain(items)}, out.listing(headings, rows, "Nothing waits for you."))


_FOUND = ("extracted", "duplicate", "conflict", "digest")


def _gist(item: ReviewItem) -> str:
    """A change in one line: what stands there now, and what would."""
    lines = [each for each in item.diff.splitlines() if each and not each.startswith("@@")]
    now = _below_properties([each[1:].strip() for each in lines if each.startswith("-")])
    then = _below_properties(
        [each[1:].strip() for each in lines if each.startswith(" " if item.op == "replace" else "+")]
    )
    before, after = next(filter(None, now), ""), next(filter(None, then), "")
    said = f"{before} → {after}" if before and after else after or (f"without: {before}" if before else "")
    more = max(len(now), len(then)) - 1
    return f"{said} (and {more} more {'line' if more == 1 else 'lines'})" if more > 0 else said


def _below_properties(lines: list[str]) -> list[str]:
    """The lines of a new note without its front matter, which says less about it than what it states."""
    if lines[:1] != ["---"] or "---" not in lines[1:]:
        return lines
    return lines[lines.index("---", 1) + 1 :] or lines


@review.command()
@click.argument("id")
@command
def show(here: Here, id: str) -> None:
    """Show a proposal as the change that it would make."""
    with here.vault() as (rt, actor):
        item = _named(rt, actor, id)
    _say(here, item)


@review.command()
@click.argument("ids", nargs=-1)
@_everything
@click.option("--note", "--reason", "note", default="", help="Why; kept with the decision.")
@click.option("--force", is_flag=True, help="Also when the memory changed since.")
@click.option("--text", help="Store this text instead of the proposed one.")
@command
def apply(here: Here, ids: tuple[str, ...], group: Group | None, note: str, force: bool, text: str | None) -> None:
    """Agree: do what was proposed."""
    from dolmen.services.review import apply as agree

    with here.vault() as (rt, actor):
        chosen = _chosen(rt, actor, ids, group)
        if text is not None and len(chosen) > 1:
            raise DolmenError("invalid-argument", "One text for several proposals.", "Apply them one by one.")
        items = [agree(rt, actor, id, note, force=force, text=text) for id in chosen]
    _decided(here, items)


@review.command()
@click.argument("ids", nargs=-1)
@_everything
@click.option("--note", "--reason", "note", default="", help="Why; kept with the decision.")
@command
def reject(here: Here, ids: tuple[str, ...], group: Group | None, note: str) -> None:
    """Disagree: leave everything as it is."""
    from dolmen.services.review import reject as disagree

    with here.vault() as (rt, actor):
        items = [disagree(rt, actor, id, note) for id in _chosen(rt, actor, ids, group)]
    _decided(here, items)


def _chosen(rt: Runtime, actor: Actor, ids: tuple[str, ...], group: Group | None) -> list[str]:
    """The ids that a person names, or those of a whole group."""
    from dolmen.services.review import pending

    if bool(ids) == (group is not None):
        raise DolmenError(
            "invalid-argument", "Name proposals, or a group with --all.", "`dolmen review list` shows what waits."
        )
    if group is not None:
        return [item.id for item in pending(rt, actor, "pending", 10_000, group)]
    return [_named(rt, actor, id).id for id in ids]


def _named(rt: Runtime, actor: Actor, part: str) -> ReviewItem:
    """The proposal that a person means by the first or last characters of its id, or of the memory that waits, which
    is the id that the agent was told."""
    from dolmen.services.review import named, one, pending

    wanted = part.strip().strip("…").lower()
    found = named(rt, actor, wanted) if len(wanted) >= _SHORTEST else []
    if not found and len(wanted) >= _SHORTEST:
        waiting = pending(rt, actor, "pending", 10_000)
        found = [each.id for each in waiting if each.ref and each.ref.startswith(wanted)]
        found = found or [each.id for each in waiting if each.ref and each.ref.endswith(wanted)]
    if not found:
        raise DolmenError("not-found", f"There is no proposal {part!r}.", "`dolmen review list` shows what waits.")
    if len(found) > 1:
        several = [one(rt, actor, id) for id in found[:_MOST_NAMED]]
        told = ", ".join(f"{item.id} ({item.op} by {item.agent})" for item in several)
        raise DolmenError("invalid-argument", f"{part!r} fits several proposals: {told}.", "Give more characters.")
    return one(rt, actor, found[0])


def _decided(here: Here, items: Sequence[ReviewItem]) -> None:
    from dolmen.interfaces.cli import present

    lines = [f"{here.out.style(present.short(item.id), fg='yellow')} {item.status}: {item.op}" for item in items]
    here.out.result({"proposals": present.plain(items)}, lines or ["Nothing of this waits for you."])


def _say(here: Here, item: ReviewItem) -> None:
    from dolmen.interfaces.cli import present

    out = here.out
    pairs = (
        ("proposal", f"{item.id}, {item.status}"),
        ("wants to", item.op + (f" {item.kind}" if item.kind else "")),
        ("scope", item.scope.removeprefix("project:")),
        ("memory", item.ref or ""),
        ("by", f"{item.agent}, {out.when(item.created_at)}{f' ({out.zone})' if out.terminal else ''}"),
        ("waits", REASONS.get(item.because, item.because)),
        ("reason", item.reason),
        ("evidence", item.evidence),
        ("judged by", item.judge),
        ("note", item.note),
        ("changed", "the memory changed since: look, then apply with --force" if item.stale else ""),
    )
    lines = [f"{out.dim(name.ljust(9))} {value}" for name, value in pairs if value]
    lines += ["", *out.diff(item.diff)]
    lines += [f"similar: {present.short(each.ref)} ({each.similarity:.2f}) {each.text}" for each in item.similar]
    out.result(present.plain(item), lines)
