"""`dolmen mcp`: the server that a client starts for itself and talks to over standard input and output."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from dolmen.domain.values import MODES, SERVED
from dolmen.interfaces.cli.here import Here, command


@click.command()
@click.option("--project", metavar="NAME", help="Default project. [default: the git repository of this directory]")
@click.option("--agent", metavar="NAME", help="Name to write under. [default: what the client calls itself]")
@click.option("--mode", type=click.Choice(MODES), help="What the agent may do. [default: write]")
@click.option("--toolset", type=click.Choice(SERVED), help="The tools that it sees. [default: core]")
@command
def mcp(here: Here, project: str | None, agent: str | None, mode: Any, toolset: Any) -> None:
    """Serve one agent over standard input and output.

    Clients start this themselves; `dolmen serve` prints their configuration.
    """
    from dolmen.client import trust
    from dolmen.client.workplace import Workplace
    from dolmen.interfaces.cli import logs
    from dolmen.interfaces.mcp import stdio
    from dolmen.services.accounts import local_actor

    here.flag(project=project, agent=agent, mode=mode, toolset=toolset)
    settings = here.settings
    logs.configure(settings)
    place = Workplace(settings.project, Path.cwd())
    if notice := trust.notice(place.project()):  # as a wrong name, told to whoever starts this, not to the agent
        here.out.warn(notice)
    with here.app(models=True, create=True) as app:
        actor = local_actor(app.runtime, agent=settings.agent, mode=settings.mode, toolset=settings.toolset)
        stdio.run(
            app.runtime,
            actor,
            settings.toolset,
            project=place.project,
            greeted=app.upkeep.start,
            ended=app.close,
        )
