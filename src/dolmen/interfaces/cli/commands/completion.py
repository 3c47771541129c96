"""`dolmen completion`: the script that lets a shell complete `dolmen` commands."""

from __future__ import annotations

import click

_HOW = {
    "bash": 'Put this into ~/.bashrc: eval "$(dolmen completion bash)"',
    "zsh": 'Put this into ~/.zshrc: eval "$(dolmen completion zsh)"',
    "fish": "Run: dolmen completion fish > ~/.config/fish/completions/dolmen.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(sorted(_HOW)))
def completion(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash  eval "$(dolmen completion bash)" in ~/.bashrc
    zsh   eval "$(dolmen completion zsh)" in ~/.zshrc
    fish  dolmen completion fish > ~/.config/fish/completions/dolmen.fish
    """
    from click.shell_completion import get_completion_class

    from dolmen.interfaces.cli.main import cli

    found = get_completion_class(shell)
    assert found is not None
    click.echo(f"# {_HOW[shell]}")
    click.echo(found(cli, {}, "dolmen", "_DOLMEN_COMPLETE").source())
