"""A click group that imports a command only when it is called, so that `dolmen --help` starts fast."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click


@dataclass(frozen=True, slots=True)
class Entry:
    """A command that is not imported yet."""

    target: str
    """`module:attribute`, below `dolmen.interfaces.cli.commands`."""
    section: str
    """The heading under which `--help` lists it."""
    help: str
    """The first line of its own help; a test holds the two together."""


class LazyGroup(click.Group):
    """The commands of a table, listed under their sections in the table's order."""

    def __init__(self, *args: Any, table: Mapping[str, Entry], **more: Any) -> None:
        super().__init__(*args, **more)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if (entry := self._table.get(cmd_name)) is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command = getattr(import_module(f"dolmen.interfaces.cli.commands.{module}"), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self._table and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], self._table, 1, 0.6)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self._table))
        for section in dict.fromkeys(entry.section for entry in self._table.values()):
            with formatter.section(section):
                formatter.write_dl(
                    [(name.ljust(width), entry.help) for name, entry in self._table.items() if entry.section == section]
                )
