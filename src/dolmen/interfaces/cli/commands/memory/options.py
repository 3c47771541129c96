"""Options that several of the memory commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from dolmen.domain.memory import KINDS
from dolmen.domain.values import USER_SCOPE

F = TypeVar("F", bound=Callable[..., Any])

_KINDS = f"{', '.join(KINDS[:-1])} or {KINDS[-1]}"
"""In the help text and not as the option's value, where they would make a line too wide for a terminal."""


def project(function: F) -> F:
    """Where to write."""
    function = click.option(
        "--user", "project", flag_value=USER_SCOPE, help="In no project: yours everywhere, whichever project it is."
    )(function)
    return click.option(
        "--project", metavar="NAME", help="A git remote URL or a project's name; `user` for none. [default: this one's]"
    )(function)


def sight(function: F) -> F:
    """Where to look."""
    function = click.option("--all", "every", is_flag=True, help="Look into every project.")(function)
    function = click.option(
        "--user", "project", flag_value=USER_SCOPE, help="Look only at what belongs to no project."
    )(function)
    return click.option(
        "--project", metavar="NAME", help="Look into this project and the user scope. [default: this one's]"
    )(function)


def filters(function: F) -> F:
    """What to look for."""
    function = click.option("--until", metavar="WHEN", help="Written before then.")(function)
    function = click.option("--since", metavar="WHEN", help="Written since: `yesterday`, `2026-09-01`, `3 days ago`.")(
        function
    )
    function = click.option("--tag", "tags", multiple=True, help="Only with this tag; repeat for several.")(function)
    return click.option(
        "--kind", "kinds", metavar="KIND", multiple=True, type=click.Choice(KINDS), help=f"Only of this kind: {_KINDS}."
    )(function)


def facts(function: F) -> F:
    """What a memory has besides its text."""
    options = (
        click.option("--kind", metavar="KIND", type=click.Choice(KINDS), help=f"What it is: {_KINDS}."),
        click.option("--title", help="A title."),
        click.option("--folder", metavar="PATH", help="A place inside its project, such as `guides/deploy`."),
        click.option("--tag", "tags", multiple=True, help="A tag; repeat for several."),
        click.option("--importance", metavar="N", type=click.FloatRange(0, 1), help="From 0 to 1."),
        click.option("--source", help="Where it comes from."),
        click.option("--ttl", metavar="SECONDS", type=click.IntRange(1), help="Seconds until it expires."),
    )
    for option in reversed(options):
        function = option(function)
    return function
