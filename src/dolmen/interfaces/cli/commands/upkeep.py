"""`dolmen migrate`, `dolmen reindex` and `dolmen stats`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import click

from dolmen.interfaces.cli.here import Here, command


@click.command()
@command
def migrate(here: Here) -> None:
    """Bring the store up to date, where `auto_migrate` is off.

    Makes one that is not there. Servers of the version before should be ended first.
    """
    here.flag(auto_migrate=True)
    with here.app(create=True) as app:
        info = app.runtime.store.info()
    here.out.result({"schema": info.schema}, [f"{info.location}: schema {info.schema}, up to date"])


@click.command()
@click.option(
    "--fresh", is_flag=True, help="Empty the index first: mends a damaged one; search is incomplete meanwhile."
)
@click.option("--vectors-only", is_flag=True, help="Only embed what has no vector of the current model.")
@command
def reindex(here: Here, fresh: bool, vectors_only: bool) -> None:
    """Make the search index and the vectors again.

    Search goes on meanwhile. Stopped at any time, it goes on where it was: vectors are kept batch by batch.
    """
    from dolmen.interfaces.cli.model import has_model
    from dolmen.models.contract import ModelUnavailable
    from dolmen.services.stats import index_health, index_numbers
    from dolmen.services.upkeep import backfill
    from dolmen.services.upkeep import reindex as make_again

    indexed = embedded = 0
    with here.vault(models=True) as (rt, actor):
        if not vectors_only:
            progress = here.out.progress("indexing")
            indexed = make_again(rt, actor, progress, fresh=fresh)
            progress.end()
        progress = here.out.progress("embedding")
        try:
            embedded = backfill(rt, progress=progress) if has_model(rt) else 0
        except ModelUnavailable as failure:
            here.out.warn(failure.message)
        progress.end()
        vectors = index_numbers(rt, index_health(rt, actor))["vectors"]
    here.out.result(
        {"indexed": indexed, "embedded": embedded, "vectors": vectors},
        [f"{indexed:,} memories indexed, {embedded:,} passages embedded", f"vectors: {vectors}"],
    )


@click.command()
@command
def stats(here: Here) -> None:
    """Count memories, vectors, duplicates and noise."""
    from dolmen.interfaces.cli import present
    from dolmen.services.upkeep import stats as count

    with here.vault(models=True) as (rt, actor):
        found = count(rt, actor)
    here.out.result(present.plain(found), _lines(here, found))


def _lines(here: Here, found: Mapping[str, Any]) -> Iterator[str]:
    out, memories, quality = here.out, found["memories"], found["quality"]
    total = memories["total"]
    yield out.bold(f"{total:,} {'memory' if total == 1 else 'memories'}")
    for name in ("status", "kind", "scope", "agent"):
        counts = ", ".join(f"{key.removeprefix('project:')} {n:,}" for key, n in memories[f"by_{name}"].items() if n)
        yield from out.lines(counts or "-", f"  by {name:<7} ", " " * 13)
    yield f"proposals    {found['proposals']['pending']:,} pending"
    feedback = found["feedback"]
    yield f"feedback     {feedback['entries']:,}, {feedback['irrelevant']:,} irrelevant"
    yield f"duplicates   {quality['duplicates']:,} of {quality['checked']:,} ({quality['duplicate_rate']:.1%})"
    reasons = ", ".join(f"{name} {n:,}" for name, n in quality["noise_by_reason"].items())
    noise = f"noise        {quality['noise']:,} of {quality['checked']:,} ({quality['noise_rate']:.1%})"
    yield noise + (f": {reasons}" if reasons else "")
    for kind, states in found["jobs"].items():
        yield f"jobs         {kind}: {', '.join(f'{n:,} {state}' for state, n in states.items())}"
    yield f"vectors      {found['index']['vectors']}"
    yield f"model        {found['model']['name']}"
