"""`dolmen group`: keys that are kept apart together."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from dolmen.interfaces.cli import present
from dolmen.interfaces.cli.groups import CommandGroup
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from dolmen.domain.access import KeyGroup
    from dolmen.domain.values import Actor
    from dolmen.services.runtime import Runtime


@click.group(cls=CommandGroup)
def group() -> None:
    """Make, list and remove groups of keys that are kept apart.

    A key made with --apart sees only what it wrote; the keys of a group see what any of them wrote.
    """


@group.command("list")
@command
def list_(here: Here) -> None:
    """List the groups and their keys."""
    from dolmen.services import groups
    from dolmen.services.accounts import keys

    with here.vault() as (rt, actor):
        found = groups.groups(rt, actor)
        named = {key.id: f"{key.agent} ({present.short(key.id)})" for key in keys(rt, actor)}
    out = here.out
    rows = [(out.style(each.name, fg="yellow"), ", ".join(named[key] for key in each.keys) or "-") for each in found]
    none = "No groups yet: `dolmen group add NAME` makes one."
    out.result({"groups": [present.plain(each) for each in found]}, out.listing(("name", "keys"), rows, none))


@group.command()
@click.argument("name")
@command
def add(here: Here, name: str) -> None:
    """Make a group without keys."""
    from dolmen.services import groups

    with here.vault(create=True) as (rt, actor):
        made = groups.add_group(rt, actor, name)
    here.out.result(
        present.plain(made),
        [f"{made.name} is there; `dolmen key create AGENT --group {shlex.quote(made.name)}` makes a key for it."],
    )


@group.command()
@click.argument("name")
@command
def remove(here: Here, name: str) -> None:
    """End a group: each of its keys sees only what it wrote itself. Nothing is lost."""
    from dolmen.services import groups

    with here.vault() as (rt, actor):
        ended = groups.remove_group(rt, actor, name)
    here.out.result(present.plain(ended), [f"{ended.name} has ended."])


@group.command()
@click.argument("name")
@click.argument("key")
@command
def join(here: Here, name: str, key: str) -> None:
    """Take a key into a group."""
    from dolmen.services import groups

    with here.vault() as (rt, actor):
        _say(here, groups.join(rt, actor, name, _key(rt, actor, key)))


@group.command()
@click.argument("name")
@click.argument("key")
@command
def leave(here: Here, name: str, key: str) -> None:
    """Take a key out of a group; what it wrote goes with it."""
    from dolmen.services import groups

    with here.vault() as (rt, actor):
        _say(here, groups.leave(rt, actor, name, _key(rt, actor, key)))


def _key(rt: Runtime, actor: Actor, part: str) -> str:
    from dolmen.interfaces.cli.commands.key import named
    from dolmen.services.accounts import keys

    return named(keys(rt, actor), part).id


def _say(here: Here, group: KeyGroup) -> None:
    number = len(group.keys)
    here.out.result(present.plain(group), [f"{group.name} has {number} {'key' if number == 1 else 'keys'}."])
