"""A click group that imports a command only when it is called, so that `dolmen --help` starts fast."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click

from dolmen.interfaces.cli.exits import INTERRUPTED
from dolmen.interfaces.cli.groups import CommandGroup
from dolmen.interfaces.cli.output import Output


@dataclass(frozen=True, slots=True)
class Entry:
    """A command that is not imported yet."""

    target: str
    """`module:attribute`, below `dolmen.interfaces.cli.commands`."""
    section: str
    """The heading under which `--help` lists it."""
    help: str
    """The first line of its own help; a test holds the two together."""


def _refuse(error: click.ClickException, *, as_json: bool) -> None:
    """A command line that is not understood."""
    context = getattr(error, "ctx", None)
    fix = f"`{context.command_path} --help` tells more." if context else "`dolmen --help` tells more."
    message = error.format_message()
    if context and not as_json:
        click.echo(context.get_usage(), err=True)
    Output(as_json=as_json).error(message, fix, {"code": "invalid-argument", "message": message, "fix": fix})


class LazyGroup(CommandGroup):
    """The commands of a table, listed under their sections in the table's order."""

    def __init__(self, *args: Any, table: Mapping[str, Entry], **more: Any) -> None:
        super().__init__(*args, **more)
        self._table = table

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """As click's, with one shape for every mistake, also in JSON, and one end for Ctrl-C."""
        given = list(sys.argv[1:] if args is None else args)
        if given[:1] == ["help"]:
            given = [*given[1:], "--help"]
        if not standalone_mode:
            return super().main(given, prog_name, complete_var, False, **extra)
        try:
            code = super().main(given, prog_name, complete_var, False, **extra)
        except click.Abort:  # Ctrl-C, or the end of the input that a question waited for
            sys.exit(INTERRUPTED)
        except KeyboardInterrupt:
            click.echo(err=True)
            sys.exit(INTERRUPTED)
        except click.ClickException as error:
            _refuse(error, as_json="--json" in given)
            sys.exit(error.exit_code)
        sys.exit(code if isinstance(code, int) else 0)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if (entry := self._table.get(cmd_name)) is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command = getattr(import_module(f"dolmen.interfaces.cli.commands.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self._table))
        for section in dict.fromkeys(entry.section for entry in self._table.values()):
            with formatter.section(section):
                formatter.write_dl(
                    [(name.ljust(width), entry.help) for name, entry in self._table.items() if entry.section == section]
                )
