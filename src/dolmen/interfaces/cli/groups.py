"""A command that holds others: its list is whole, and it says in our words when none or a wrong one is named."""

from __future__ import annotations

import click
from click.exceptions import NoArgsIsHelpError


class CommandGroup(click.Group):
    """As click's, which cuts the lines of its list off and calls its help an error when no command is named."""

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return ["[OPTIONS]", "COMMAND …"]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except NoArgsIsHelpError:
            click.echo(ctx.get_help(), err=True)
            ctx.exit(2)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(args[0], known, 1, 0.6)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"There is no command {args[0]!r}.{hint}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            shown = [name for name in sorted(self.commands) if not self.commands[name].hidden]
            formatter.write_dl([(name, self.commands[name].get_short_help_str(1000)) for name in shown])
