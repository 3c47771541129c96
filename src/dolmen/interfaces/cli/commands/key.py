"""`dolmen key`: the keys with which agents connect over HTTP."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import DAY, HOUR, MODES, PRESETS, SERVED, WRITE_POLICIES, Bounds, WritePolicy
from dolmen.interfaces.cli.groups import CommandGroup
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dolmen.domain.access import Connection
    from dolmen.domain.values import Mode

_SHORTEST = 4
_MOST_NAMED = 5
_LONGEST = 36_500 * DAY
_LOCAL = "Programs on this machine are still let in without a key; DOLMEN_AUTH=keys ends that."
_MAY: Mapping[Mode, str] = {
    "read": "it may only read",
    "suggest": "it reads, and what it writes waits for you",
    "write": "it reads and writes",
    "admin": "it reads, writes and manages",
}
_KEYED = "Every client needs a key: this server lets nobody in without one."


NO_BOUNDS = Bounds()
DEFAULT = "default"
_LIMITS = {
    "per_minute": "Requests a minute.",
    "per_hour": "Requests an hour.",
    "per_day": "Calls a day (UTC).",
    "at_once": "Requests at the same time; at kmem's tools, calls of recall, remember and edit.",
    "memories": "Memories that it may keep.",
}


def _limits(function: Any) -> Any:
    """The options of what a connection may ask for."""
    policies = click.Choice((*WRITE_POLICIES, DEFAULT))
    says = "What of its writes waits for you, where that is not what the vault says."
    function = click.option("--write-policy", type=policies, help=says)(function)
    for name, says in reversed(_LIMITS.items()):
        flag = "--" + name.replace("_", "-")
        function = click.option(flag, metavar="N", help=f"{says} 0 for no limit, `{DEFAULT}` for the server's.")(
            function
        )
    return function


def _bounds(given: Mapping[str, Any], known: Bounds) -> Bounds:
    """The limits by what was said; those of which nothing was said stay."""
    said = {name: _number(name, given[name]) for name in _LIMITS if given[name] is not None}
    return replace(known, **said)


def _number(name: str, value: str) -> int | None:
    if value == DEFAULT:
        return None
    if not (value.isascii() and value.isdecimal() and len(value) < 12):
        flag = "--" + name.replace("_", "-")
        raise DolmenError("invalid-argument", f"{flag} {value!r} is no number.", f"Give a number, or `{DEFAULT}`.")
    return int(value)


def _policy(given: Mapping[str, Any], known: WritePolicy | None) -> WritePolicy | None:
    said = given["write_policy"]
    return known if said is None else None if said == DEFAULT else said


@click.group(cls=CommandGroup)
def key() -> None:
    """Make, list, limit and revoke the keys of agents."""


@key.command()
@click.argument("agent")
@click.option("--mode", type=click.Choice(MODES), default="write", show_default=True, help="What it may do.")
@click.option("--project", metavar="NAME", help="Default project of its calls: a git remote URL or a name.")
@click.option("--toolset", type=click.Choice(SERVED), default="core", show_default=True, help="The tools it sees.")
@click.option("--expires", metavar="WHEN", help="A date (2027-01-31) or a span (`90d`, `12h`). [default: never]")
@click.option("--label", default="", help="A note for people.")
@click.option("--private", is_flag=True, help="What it writes is private to its person.")
@click.option("--apart", is_flag=True, help="It sees only what it wrote itself.")
@click.option("--group", "groups", metavar="NAME", multiple=True, help="It sees only what keys of this group wrote.")
@click.option("--preset", type=click.Choice(PRESETS), help="Only some of what its mode allows.")
@_limits
@command
def create(
    here: Here,
    agent: str,
    mode: Any,
    project: str | None,
    toolset: Any,
    expires: str | None,
    label: str,
    private: bool,
    apart: bool,
    groups: tuple[str, ...],
    preset: Any,
    **limits: Any,
) -> None:
    """Make a key for an agent; its secret is shown this once."""
    from dolmen.interfaces.cli import present
    from dolmen.services.accounts import create_key

    with here.vault(create=True) as (rt, actor):
        with rt.store.read() as tx:
            now = tx.now
        connection, secret = create_key(
            rt,
            actor,
            agent=agent,
            mode=mode,
            project=project,
            toolset=toolset,
            expires_at=None if expires is None else _expiry(expires, now, here.zone),
            label=label,
            bounds=_bounds(limits, NO_BOUNDS),
            write_policy=_policy(limits, None),
            private=private,
            apart=apart,
            groups=groups,
            preset=preset,
        )
    from dolmen.interfaces.cli.commands.serve import http_options
    from dolmen.interfaces.http.hosts import keyless

    out, local = here.out, keyless(http_options(here.settings))
    out.result({"secret": secret, "key": present.plain(connection), "keyless": local}, [secret])
    spelled = "" if connection.agent == agent else f" (so {agent!r} is written)"
    known = [f"tools {connection.toolset}", f"project {connection.project}" if connection.project else ""]
    ends = f"until {out.when(connection.expires_at)}" if connection.expires_at else ""
    more = ", ".join(filter(None, (*known, ends, *_said(connection, groups))))
    out.note(f"for {connection.agent}{spelled}: {_MAY[connection.mode]}; {more}.")
    out.note("It is not shown again. " + (_LOCAL if local else _KEYED))
    for line in _next_steps(connection):
        out.note(line)


def _next_steps(connection: Connection) -> list[str]:
    """How whoever holds the key gets to use it."""
    from dolmen.interfaces.clients.targets import TARGETS

    client = connection.agent if connection.agent in {target.client for target in TARGETS} else "CLIENT"
    steps = [(f"dolmen install {client} --key -", "sets a client up; then paste the key")]
    steps = [] if connection.toolset == "openai" else steps
    steps += [("dolmen key setup", "shows what to write for each client")]
    steps += [("dolmen brief --quick", "is for an agent that cannot speak MCP")] if connection.toolset == "kmem" else []
    wide = max(len(typed) for typed, _ in steps)
    return [f"  {typed.ljust(wide)}  {does}" for typed, does in steps]


@key.command()
@command
def setup(here: Here) -> None:
    """Show what to write for each client that comes with a key.

    The key itself stands where `dlm_…` is. `dolmen install` writes the same into the clients on this machine.
    """
    from dolmen.interfaces.cli.commands.serve import connect_lines, endpoint
    from dolmen.interfaces.clients import recipes

    settings = here.settings
    url = endpoint(settings.public_url, settings.host, settings.port)
    clients = [{"client": each.client, "file": each.file, "text": each.text} for each in recipes(url, with_key=True)]
    here.out.result({"url": url, "clients": clients}, [f"at {url}", "", *connect_lines(here, url, with_key=True)[:-1]])


def _expiry(said: str, now: int, zone: str) -> int:
    from dolmen.domain.timeframe import parse

    number, unit = said.strip()[:-1], said.strip()[-1:]
    if number.isascii() and number.isdigit() and unit in ("d", "h"):
        span = int(number) * (DAY if unit == "d" else HOUR)
        if span <= _LONGEST:
            return now + span
    try:
        return parse(said, now, zone)
    except DolmenError:
        raise DolmenError(
            "invalid-time",
            f"--expires {said!r} is no time that a key could end at.",
            "Give a date (2027-01-31), or days or hours from now (90d, 12h; at most 36500d).",
        ) from None


@key.command("list")
@click.option("--all", "every", is_flag=True, help="Also revoked and expired ones.")
@command
def list_(here: Here, every: bool) -> None:
    """List the keys; never their secrets."""
    from dolmen.services.accounts import keys
    from dolmen.services.groups import groups

    with here.vault() as (rt, actor):
        found = keys(rt, actor)
        together = groups(rt, actor)
        with rt.store.read() as tx:
            now = tx.now
    of_key = {each.id: [group.name for group in together if each.id in group.keys] for each in found}
    shown = [each for each in found if every or _state(each, now) == "valid"]
    from dolmen.interfaces.cli import present

    out = here.out
    rows = [
        (
            out.style(present.short(each.id), fg="yellow"),
            each.agent,
            each.mode,
            each.toolset,
            f"dlm_…{each.hint}" if each.hint else "sign-in",
            each.project or "-",
            _state(each, now),
            out.dim(out.when(each.last_used_at) if each.last_used_at else "never"),
            out.dim(out.when(each.expires_at) if each.expires_at else "never"),
            "; ".join(filter(None, (each.label, *_said(each, of_key[each.id])))),
        )
        for each in shown
    ]
    value = [present.plain(each) | {"groups": of_key[each.id], "state": _state(each, now)} for each in shown]
    facts = ("id", "agent", "mode", "toolset", "key", "project", "state")
    headings = (*facts, out.in_zone("used"), "ends", "label, limits")
    none = "No key is valid; --all shows the others." if found else "No keys yet: `dolmen key create AGENT` makes one."
    out.result({"keys": value}, out.listing(headings, rows, none))


def _spoken(connection: Connection) -> str:
    return f"the key dlm_…{connection.hint}" if connection.hint else "the sign-in"


def _state(connection: Connection, now: int) -> str:
    if connection.revoked_at is not None:
        return "revoked"
    if connection.expires_at is not None and connection.expires_at <= now:
        return "expired"
    return "valid"


@key.command()
@click.argument("id")
@click.option("--yes", is_flag=True, help="Do not ask.")
@command
def revoke(here: Here, id: str, yes: bool) -> None:
    """End a key: whoever holds it is refused from now on.

    ID is the id that `dolmen key list` shows, or the last characters of the key.
    """
    from dolmen.interfaces.cli import present
    from dolmen.services.accounts import keys
    from dolmen.services.accounts import revoke as end

    with here.vault() as (rt, actor):
        connection = named(keys(rt, actor), id)
        here.confirm(f"End {_spoken(connection)} of {connection.agent}?", yes=yes)
        revoked = end(rt, actor, connection.id)
    here.out.result(present.plain(revoked), [f"{present.short(revoked.id)} revoked: {revoked.agent}"])


@key.command()
@click.argument("id")
@_limits
@command
def edit(here: Here, id: str, **limits: Any) -> None:
    """Change how much a key, or somebody who signed in, may ask for, and what of its writes waits for you.

    ID is the id that `dolmen key list` shows, or the last characters of the key. It counts from the next request on; a
    server that runs already sees it within a second.
    """
    from dolmen.interfaces.cli import present
    from dolmen.services.accounts import keys
    from dolmen.services.bounds import limit_key

    with here.vault() as (rt, actor):
        known = named(keys(rt, actor), id)
        bounds, policy = _bounds(limits, known.bounds), _policy(limits, known.write_policy)
        if (bounds, policy) == (known.bounds, known.write_policy):
            raise DolmenError("invalid-argument", "Nothing would change.", "Pass a limit, or --write-policy.")
        changed = limit_key(rt, actor, known.id, bounds, policy)
    said = "; ".join(_said(changed)) or "the server's limits, the vault's policy"
    here.out.result(present.plain(changed), [f"{present.short(changed.id)} {changed.agent}: {said}"])


def _said(connection: Connection, groups: Sequence[str] = ()) -> list[str]:
    """What is not the default; `groups` are the names of those that it is kept apart with."""
    limits = {name: value for name, value in asdict(connection.bounds).items() if value is not None}
    said = [f"{name.replace('_', ' ')} {value or 'no limit'}" for name, value in limits.items()]
    apart = f"kept apart in {', '.join(groups)}" if groups else "kept apart"
    said += [word for word, holds in ((apart, connection.apart), ("private", connection.private)) if holds]
    said += [f"preset {connection.preset}"] if connection.preset else []
    return [*said, f"write policy {connection.write_policy}"] if connection.write_policy else said


def named(connections: Sequence[Connection], part: str) -> Connection:
    wanted = part.strip().strip("…")
    found = [
        each
        for each in connections
        if len(wanted) >= _SHORTEST and (each.id.startswith(wanted) or each.id.endswith(wanted) or each.hint == wanted)
    ]
    if not found:
        raise DolmenError("not-found", f"There is no key {part!r}.", "`dolmen key list --all` shows them.")
    if len(found) > 1:
        named = ", ".join(f"{each.id} ({each.agent})" for each in found[:_MOST_NAMED])
        raise DolmenError("invalid-argument", f"{part!r} fits several keys: {named}.", "Give more characters.")
    return found[0]
