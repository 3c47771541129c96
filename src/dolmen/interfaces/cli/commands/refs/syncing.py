"""`dolmen refs sync`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.client.refs import Desk, Synced

ORDER = ("current", "changed", "missing", "pending", "unresolved")
_WHY = {
    "diverged": "anchored at a commit that this checkout does not contain",
    "uncommitted": "wait until their file is committed",
    "newer": "checked at a newer commit already",
    "language": "in a language whose symbols cannot be found here (`dolmen doctor`)",
    "unclear": "cannot be told for sure",
    "time": "not reached in time",
}


@click.command()
@click.option("--directory", type=click.Path(exists=True, file_okay=False), default=".", help="Inside the checkout.")
@click.option("--project", metavar="NAME", help="The project, instead of the one that this repository is.")
@click.option("--url", metavar="URL", help="The server, instead of the one in the settings.")
@click.option(
    "--seconds",
    metavar="N",
    type=click.FloatRange(0.1, 3600),
    help="How long it may take. [default: as long as it takes]",
)
@click.option("--quiet", is_flag=True, help="Print nothing when all went well.")
@command
def sync(here: Here, directory: str, project: str | None, url: str | None, seconds: float | None, quiet: bool) -> None:
    """Check what memories refer to in this checkout, and report it.

    Reports to the server that DOLMEN_URL and DOLMEN_KEY name, else to the one that `dolmen login` signed in to, else to
    the one that runs on this machine, else to the store itself. Files with uncommitted changes are not anchored, and
    an older or diverged checkout says nothing.
    """
    from dolmen.client import refs

    here.flag(url=url)
    place = Path(directory)
    named = project or here.project_of(place).project
    if named is None:
        raise DolmenError("not-found", f"{place.resolve()} is in no git repository.", "Call it inside a checkout.")
    with _desk(here) as desk:
        done = refs.sync(desk, place, named, seconds)
    if not quiet:
        here.out.result(_value(done), _lines(here, done))


@contextmanager
def _desk(here: Here) -> Iterator[Desk]:
    """The server, where one was named or one runs here and lets this in; else the store."""
    from dolmen.client import endpoint
    from dolmen.client.refs import Served
    from dolmen.client.remote import Remote

    found = endpoint.find("cli", here.settings)
    server = Served(found)
    if found.named or (Remote(found).there() and _lets_in(server)):
        yield server
        return
    from dolmen.interfaces.desk import LocalDesk

    with here.vault() as (rt, actor):
        yield LocalDesk(rt, actor)


def _lets_in(server: Desk) -> bool:
    try:
        server.targets("dolmen", 0, 2.0)
    except DolmenError:
        return False
    return True


def _value(done: Synced) -> Mapping[str, object]:
    return {
        "project": done.project,
        "commit": done.commit,
        "targets": done.targets,
        "checked": done.checked,
        "states": dict(done.states),
        "passed_over": dict(done.passed_over),
    }


def _lines(here: Here, done: Synced) -> Iterator[str]:
    if not done.commit:
        yield "Here is no commit yet; nothing to check."
        return
    if not done.targets:
        yield f"No memory of {done.project} refers to code."
        return
    yield f"Checked {done.checked} of {done.targets} references of {done.project} at {done.commit[:12]}."
    if done.states:
        yield f"Now: {counted(done.states)}."
    for why, number in sorted(done.passed_over.items()):
        yield here.out.dim(f"{number} {_WHY[why]}")


def counted(states: Mapping[str, int]) -> str:
    """`3 current, 1 changed`, in the order of a reference's life."""
    return ", ".join(f"{states[state]} {state}" for state in ORDER if states.get(state))
