"""`dolmen settings`: what is in effect, and who said so."""

from __future__ import annotations

import click

from dolmen.interfaces.cli.here import Here, command


@click.command()
@click.argument("name", required=False)
@click.argument("value", required=False)
@click.option("--all", "every", is_flag=True, help="Also those that are at their default.")
@command
def settings(here: Here, name: str | None, value: str | None, every: bool) -> None:
    """Show every setting, its value and where it comes from.

    A flag wins over the environment variable, that over the configuration file, that over the default.

    With a NAME, show a setting that this memory keeps; with a VALUE, change it. They count for every agent from its
    next request on: agent_writes (on, off), verification (on, off), write_policy (conflicts, review, direct).
    """
    if name is not None:
        _of_vault(here, name, value)
        return
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


def _of_vault(here: Here, name: str, value: str | None) -> None:
    from dolmen.domain.errors import DolmenError
    from dolmen.services.policy import CHOICES, HELP, policy_of, set_policy

    if name not in CHOICES:
        raise DolmenError(
            "invalid-argument",
            f"This memory keeps no setting {name!r}.",
            f"Use one of {', '.join(CHOICES)}; what is set elsewhere is shown by `dolmen settings --all`.",
        )
    with here.vault() as (rt, actor):
        policy = policy_of(rt, actor) if value is None else set_policy(rt, actor, name, value)
    now = policy.shown()[name]
    choices = " | ".join(CHOICES[name])
    here.out.result(
        {"name": name, "value": now, "choices": list(CHOICES[name]), "help": HELP[name]},
        [f"{name} {now}", *map(here.out.dim, here.out.lines(f"{choices}: {HELP[name]}"))],
    )
