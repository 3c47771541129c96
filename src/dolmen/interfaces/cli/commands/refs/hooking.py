"""`dolmen refs hook`."""

from __future__ import annotations

from pathlib import Path

import click

from dolmen.interfaces.cli.here import Here, command


@click.command()
@click.option("--install", "what", flag_value="install", help="Check after every commit, in the background.")
@click.option("--remove", "what", flag_value="remove", help="No longer; whatever else the hook does stays.")
@click.option("--directory", type=click.Path(exists=True, file_okay=False), default=".", help="Inside the checkout.")
@command
def hook(here: Here, what: str | None, directory: str) -> None:
    """Check after every commit, by git's post-commit hook of this repository.

    What the hook does already stays as it is: a marked block is added to it, or taken out. Without an option, says
    whether it is there.
    """
    from dolmen.client.refs import post_commit

    file = post_commit.file(Path(directory))
    done = {"install": post_commit.install, "remove": post_commit.remove}[what](file) if what else False
    there = post_commit.installed(file)
    said = f"Memory is checked after every commit ({file})." if there else "Memory is not checked after a commit."
    here.out.result({"file": str(file), "installed": there, "changed": done}, [said])
