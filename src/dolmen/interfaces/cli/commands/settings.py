"""`dolmen settings`: what is in effect, and who said so."""

from __future__ import annotations

import click

from dolmen.interfaces.cli.here import Here, command


@click.command()
@click.option("--all", "every", is_flag=True, help="Also those that are at their default.")
@command
def settings(here: Here, every: bool) -> None:
    """Show every setting, its value and where it comes from.

    A flag wins over the environment variable, that over the configuration file, that over the default.
    """
    from dolmen.interfaces.cli.output import table
    from dolmen.settings import TABLE, default_file, shown

    loaded, out = here.loaded, here.out
    rows = []
    values = {}
    for row in TABLE:
        value = shown(row, getattr(loaded.settings, row.name))
        origin = loaded.origins[row.name]
        values[row.name] = {"value": value, "origin": origin, "variable": row.variable, "help": row.help}
        if every or origin != "default" or row.name == "database":
            rows.append((row.name, value, out.dim(origin)))
    file = loaded.file or default_file()
    there = "read" if loaded.file else "not there"
    note = [] if every else [out.dim("the others are at their default: --all shows them")]
    out.result(
        {"file": str(file), "file_read": loaded.file is not None, "settings": values},
        [*table(rows), *note, out.dim(f"file: {file} ({there})")],
    )
