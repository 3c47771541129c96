"""`dolmen refs status`."""

from __future__ import annotations

import click

from dolmen.interfaces.cli import present
from dolmen.interfaces.cli.commands.memory import options
from dolmen.interfaces.cli.commands.refs.syncing import counted
from dolmen.interfaces.cli.here import Here, command


@click.command()
@options.sight
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=50,
    show_default=True,
    help="Stale memories to list at most.",
)
@command
def status(here: Here, project: str | None, every: bool, limit: int) -> None:
    """Count code references by their state, and list the memories that may be outdated."""
    from dolmen.services.code.checking import counts
    from dolmen.services.listing import ListRequest, memories

    where = "*" if every else project
    with here.vault(in_project=not where) as (rt, actor):
        with rt.read(actor) as tx:
            states = counts(tx, actor, where)
        page = memories(rt, actor, ListRequest(project=where, statuses=("active",), stale=True, limit=limit))
    lines = [f"Code references: {counted(states)}." if states else "No memory here refers to code."]
    if states.get("pending"):
        how = "Pending ones are anchored by `dolmen refs sync` in the repository; symbols need a grammar"
        lines.append(here.out.dim(f"{how} (`dolmen doctor`)."))
    if page.memories:
        lines += ["", "Perhaps outdated; correct, verify or forget them:"]
    for memory in page.memories:
        lines.append("  ".join(present.row(here.out, memory)[:3]) + f"  {memory.text.splitlines()[0][:100]}")
        lines += [here.out.dim(f"  {each}") for each in page.code[memory.id]]
    stale = [{"memory": present.plain(each), "code": list(page.code[each.id])} for each in page.memories]
    here.out.result({"states": states, "stale": stale}, lines)
