"""`dolmen memory list`, `search`, `show`, `history`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import click

from dolmen.domain.memory import STATUSES
from dolmen.interfaces.cli import present
from dolmen.interfaces.cli.commands.memory import options
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.services.requests import Claim, Pack
    from dolmen.services.runtime import Runtime

_ORDERS = ("newest", "oldest", "changed", "importance")


@click.command("list")
@options.sight
@options.filters
@click.option("--folder", metavar="PATH", help="Only in this folder and below.")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([*STATUSES, "any"]),
    help="Only in this state; repeat for several. [default: active]",
)
@click.option("--stale", is_flag=True, help="Only those whose code has changed or is gone.")
@click.option("--order", type=click.Choice(_ORDERS), default="newest", show_default=True, help="What comes first.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 1000), default=20, show_default=True, help="Memories at most."
)
@click.option("--cursor", metavar="REF", help="Go on after this memory, the last of the page before.")
@command
def list_(
    here: Here,
    project: str | None,
    every: bool,
    kinds: tuple[str, ...],
    tags: tuple[str, ...],
    since: str | None,
    until: str | None,
    folder: str | None,
    statuses: tuple[str, ...],
    stale: bool,
    order: Any,
    limit: int,
    cursor: str | None,
) -> None:
    """List memories, newest first."""
    from dolmen.services.listing import ListRequest, full_ref, memories

    with here.vault(in_project=not (project or every)) as (rt, actor):
        request = ListRequest(
            project="*" if every else project,
            statuses=_statuses(statuses),
            kinds=kinds,  # type: ignore[arg-type]  # click let only kinds through
            tags=tags,
            folder=folder,
            since=_time(here, rt, since),
            until=_time(here, rt, until, "end"),
            order=order,
            limit=limit,
            stale=stale,
            cursor=full_ref(rt, actor, cursor) if cursor else None,
        )
        page = memories(rt, actor, request)
    out = here.out
    rows = [_with_code(present.row(out, each), page.code.get(each.id, ())) for each in page.memories]
    lines = out.listing(present.headings(out), rows, "No memories here.")
    code = {"code": present.plain(page.code)} if stale else {}
    out.result({"memories": present.plain(page.memories), "cursor": page.cursor, **code}, lines)
    if page.cursor and not out.as_json:
        out.note(f"There are more: --cursor {present.short(page.cursor)}")


def _with_code(row: tuple[str, ...], code: tuple[str, ...]) -> tuple[str, ...]:
    """A row with what has become of the code before the text."""
    return (*row[:-1], f"[{'; '.join(code)}] {row[-1]}") if code else row


def _statuses(given: tuple[str, ...]) -> Any:
    if "any" in given:
        return STATUSES
    return given or ("active",)


def _time(here: Here, rt: Runtime, said: str | None, edge: Literal["start", "end"] = "start") -> int | None:
    if said is None:
        return None
    from dolmen.domain.timeframe import parse

    with rt.store.read() as tx:
        return parse(said, tx.now, here.zone, edge=edge)


@click.command()
@click.argument("query", nargs=-1, required=True)
@options.sight
@options.filters
@click.option("--as-of", metavar="WHEN", help="As memory was then.")
@click.option("--exact", is_flag=True, help="Only what contains exactly these words.")
@click.option("--superseded", is_flag=True, help="Also what was replaced since.")
@click.option(
    "--limit", metavar="N", type=click.IntRange(1, 50), default=10, show_default=True, help="Memories at most."
)
@click.option("--words-only", is_flag=True, help="Do not load the model; search by words alone.")
@click.option("--explain", is_flag=True, help="Say how each was found.")
@command
def search(
    here: Here,
    query: tuple[str, ...],
    project: str | None,
    every: bool,
    kinds: tuple[str, ...],
    tags: tuple[str, ...],
    since: str | None,
    until: str | None,
    as_of: str | None,
    exact: bool,
    superseded: bool,
    limit: int,
    words_only: bool,
    explain: bool,
) -> None:
    """Recall memories, as an agent would."""
    if not " ".join(query).strip():
        raise click.UsageError(
            "The question is empty; `dolmen memory list` lists without one.", click.get_current_context()
        )
    from dolmen.interfaces.cli.model import awaken
    from dolmen.services.recall import recall
    from dolmen.services.requests import Recall

    with here.vault(models=not (words_only or exact), in_project=not (project or every)) as (rt, actor):
        awaken(here, rt)
        include: Any = [name for name, wanted in (("superseded", superseded), ("explain", explain)) if wanted]
        request = Recall(
            query=" ".join(query),
            project=project,
            kinds=kinds,  # type: ignore[arg-type]  # click let only kinds through
            tags=tags,
            since=_time(here, rt, since),
            until=_time(here, rt, until, "end"),
            as_of=_time(here, rt, as_of, "end"),
            mode="exact" if exact else "claims",
            include=("sources", *include),
            limit=limit,
            budget_tokens=20_000,
            every_scope=every,
            record=False,
            zone=here.zone,
        )
        pack = recall(rt, actor, request)
        with rt.store.read() as tx:
            now = tx.now
    here.out.result(pack_json(pack), pack_lines(here, pack, now))


def pack_json(pack: Pack) -> Any:
    """An answer for programs."""
    value = present.plain(pack)
    for claim in value["claims"]:
        del claim["memory"]
    return value


def pack_lines(here: Here, pack: Pack, now: int) -> list[str]:
    """An answer for people: each claim with its source and age, then what is missing."""
    out = here.out
    if not pack.claims:
        return ["Nothing relevant is stored."]
    lines: list[str] = []
    for claim in pack.claims:
        lines += [*_claim_lines(here, claim, now), ""]
    for conflict in pack.conflicts:
        lines.append(
            f"{out.style('conflict', fg='red')}: {', '.join(map(present.short, conflict.refs))}: {conflict.why}"
        )
    if pack.gaps:
        lines.append(out.dim(f"nothing says: {', '.join(pack.gaps)}"))
    if pack.budget.dropped or pack.cursor:
        lines.append(out.dim("There is more; raise --limit or ask more narrowly."))
    lines += [out.dim(note) for note in pack.notes]
    legs = pack.index_health.get("legs", ())
    if "meaning" not in legs and "words" in legs:
        lines.append(out.dim("found by words alone"))
    return lines[:-1] if lines and not lines[-1] else lines


def _claim_lines(here: Here, claim: Claim, now: int) -> list[str]:
    out = here.out
    head = [
        out.style(present.short(claim.ref), fg="yellow"),
        claim.kind,
        claim.scope.removeprefix("project:"),
        out.dim(f"{claim.agent}, {present.ago(claim.created_at, now)}, {claim.score:.2f}"),
    ]
    if claim.status != "active":
        head.append(f"[{claim.status}]")
    lines = ["  ".join(head)]
    if claim.title:
        lines.append(f"  {out.bold(claim.title)}")
    lines += out.lines(claim.text, "  ")
    if claim.span:
        lines.append(out.dim(f"  … a part; `dolmen memory show {present.short(claim.ref)}` shows the whole"))
    if claim.also:
        lines.append(out.dim(f"  the same: {', '.join(map(present.short, claim.also))}"))
    lines += [out.style(f"  {each}", fg="yellow") for each in claim.code]
    if claim.explain:
        lines.append(out.dim(f"  {dict(claim.explain)}"))
    return lines


@click.command()
@click.argument("ref")
@command
def show(here: Here, ref: str) -> None:
    """Show one memory, whole, with its links."""
    from dolmen.services.listing import full_ref
    from dolmen.services.reading import read

    with here.vault() as (rt, actor):
        found = read(rt, actor, full_ref(rt, actor, ref), "links")
    out = here.out
    lines = [*present.facts(out, found.memory, found.sha), "", *found.memory.text.splitlines()]
    if found.code_refs:
        lines += ["", *map(_reference, found.code_refs)]
    if found.links:
        lines += ["", *(_edge(found.memory.id, link) for link in found.links)]
    if found.proposals:
        lines += ["", f"waits for a decision: {', '.join(map(present.short, found.proposals))} (`dolmen review`)"]
    links = present.plain(found.links)
    out.result(
        {
            "memory": present.plain(found.memory),
            "sha": found.sha,
            "links": links,
            "code_refs": present.plain(found.code_refs),
            "proposals": list(found.proposals),
        },
        lines,
    )


def _reference(view: Any) -> str:
    what = " in ".join(filter(None, (view.symbol, view.path)))
    seen = f" at {view.checked_commit[:12]}" if view.checked_commit else ""
    now = f", now {view.resolved_path}" if view.resolved_path and view.path else ""
    return f"code  {what}: {view.state}{seen}{now}"


def _edge(ref: str, link: Any) -> str:
    return f"{link.rel} → {link.target}" if link.source == ref else f"{link.source} {link.rel} → this"


@click.command()
@click.argument("ref")
@command
def history(here: Here, ref: str) -> None:
    """Show what a memory was before, change by change."""
    from dolmen.services.listing import full_ref
    from dolmen.services.reading import read

    with here.vault() as (rt, actor):
        found = read(rt, actor, full_ref(rt, actor, ref), "history")
    out = here.out
    lines: list[str] = []
    for entry in found.history:
        head = f"version {entry.version}  {entry.op}  {out.when(entry.at)} by {entry.agent}"
        lines.append(out.bold(head) + (f": {entry.reason}" if entry.reason else ""))
        if entry.changed:
            lines.append(out.dim(f"  changed: {', '.join(entry.changed)}"))
        lines += [f"  {line}" for line in out.diff(entry.diff)]
    if out.terminal:
        lines.append(out.dim(f"times: {out.zone}"))
    out.result({"ref": found.memory.id, "sha": found.sha, "history": present.plain(found.history)}, lines)
