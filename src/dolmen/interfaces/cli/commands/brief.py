"""`dolmen brief`: what agents are given before they say anything."""

from __future__ import annotations

import click

from dolmen.interfaces.cli.here import Here, command


@click.command()
@click.option("--quick", is_flag=True, help="The page of Quick Connect, for an agent that cannot speak MCP.")
@command
def brief(here: Here, quick: bool) -> None:
    """Print the conventions that agents are given before they begin.

    Clients attach them as `dolmen://brief`, with how to use the memory. A note is in it when its front matter says
    `type: convention` and `briefing: true`, and when people wrote or verified every line of it; what is left out is
    named, with the reason.
    """
    with here.vault() as (rt, actor):
        if quick:
            from dolmen.interfaces.cli.commands.serve import endpoint
            from dolmen.interfaces.quick import page

            settings = here.settings
            address = endpoint(settings.public_url, settings.host, settings.port).removesuffix("/mcp")
            text = page(rt, actor, address)
        else:
            from dolmen.interfaces.mcp.toolsets.core.attached import brief as of_core

            text = of_core(rt, actor)
    here.out.result({"markdown": text}, text.rstrip("\n").split("\n"))
