"""`dolmen hook`, as `--help` and the reference show it. The program itself enters it without loading this module."""

from __future__ import annotations

import click

from dolmen.client.hook.adapters import MODULES


@click.command()
@click.argument("client", metavar="CLIENT", type=click.Choice(tuple(MODULES)))
def hook(client: str) -> None:
    """Give an agent's session its context and keep what it was about.

    CLIENT (claude-code, codex, gemini, qwen, cursor, vscode, copilot, windsurf or opencode) runs it, as its
    configuration says; people do not. It reads an event from standard input, answers in the client's own form, and
    always ends with exit code 0.
    """
    from dolmen.interfaces.hooks import main

    main(client)
