"""`dolmen person`: the people who sign in on the web."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.groups import CommandGroup
from dolmen.interfaces.cli.here import Here, command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dolmen.store.contract import Person

_NO_ADDRESS = (
    "Set DOLMEN_PUBLIC_URL here as it is set for the server, or public_url in the configuration file, which both read "
    "(`dolmen settings` names it)."
)


@click.group(cls=CommandGroup)
def person() -> None:
    """Invite, list and remove the people who sign in on the web."""


@person.command("list")
@click.option("--all", "every", is_flag=True, help="Also those who were removed.")
@command
def list_(here: Here, every: bool) -> None:
    """List the people of this memory."""
    from dolmen.interfaces.cli import present
    from dolmen.services import people

    with here.vault() as (rt, actor):
        found = people.people(rt, actor)
    shown = [each for each in found if every or each.removed_at is None]
    out = here.out
    rows = [
        (
            out.style(present.short(each.id), fg="yellow"),
            each.name,
            each.role,
            each.login or "-",
            "removed" if each.removed_at is not None else "",
        )
        for each in shown
    ]
    headings = ("id", "name", "role", "login", "")
    out.result({"people": [_plain(each) for each in shown]}, out.listing(headings, rows, "Nobody is here."))


@person.command()
@click.argument("name")
@command
def invite(here: Here, name: str) -> None:
    """Invite somebody as a member; prints the link that lets them choose a password, once, within a day."""
    from dolmen.services import people

    base = _base(here)
    with here.vault(create=True) as (rt, actor):
        member, secret = people.invite(rt, actor, name)
    link = f"{base}/enter/{secret}"
    here.out.result({"person": _plain(member), "link": link}, [link])
    if not here.out.as_json:
        here.out.note(f"for {member.name}, who may read, write and decide; give it to nobody else.")


@person.command()
@click.argument("who")
@click.option(
    "--role", type=click.Choice(("member", "owner")), default="member", show_default=True, help="What they may do."
)
@command
def admit(here: Here, who: str, role: Any) -> None:
    """Let somebody of another vault into this one too; they sign in as before.

    WHO is their login or id, or a name that only they have.
    """
    from dolmen.services.vaults import admit as let_in

    with here.vault() as (rt, actor):
        joined = let_in(rt, actor, who, role)
    here.out.result({"person": _plain(joined)}, [f"{joined.name} is a {joined.role} of this vault now."])


@person.command()
@click.argument("who", required=False)
@command
def link(here: Here, who: str | None) -> None:
    """Print a link with which a person chooses a password anew; without WHO, the owner."""
    from dolmen.services import people

    base = _base(here)
    with here.vault(create=True) as (rt, actor):
        chosen = _one(people.people(rt, actor), who) if who else _owner(people.people(rt, actor))
        secret = people.entry_link(rt, actor, chosen.id)
    made = f"{base}/enter/{secret}"
    here.out.result({"person": _plain(chosen), "link": made}, [made])
    if not here.out.as_json:
        here.out.note(f"for {chosen.name}, once, within a day; earlier links of theirs have ended.")


@person.command()
@click.argument("who")
@click.option("--yes", is_flag=True, help="Do not ask.")
@command
def remove(here: Here, who: str, yes: bool) -> None:
    """End a member's access: browsers, keys and clients of theirs stop at once. What they wrote stays."""
    from dolmen.services import people

    with here.vault() as (rt, actor):
        chosen = _one(people.people(rt, actor), who)
        here.confirm(f"End the access of {chosen.name}?", yes=yes)
        people.remove(rt, actor, chosen.id)
    here.out.result({"removed": _plain(chosen)}, [f"{chosen.name} has no access any more."])


@person.command("reset-second-factor")
@click.argument("who")
@click.option("--yes", is_flag=True, help="Do not ask.")
@command
def reset_second_factor(here: Here, who: str, yes: bool) -> None:
    """Turn off the one-time codes of somebody who lost the app and the recovery codes. Their browsers are signed out;
    password and passkeys stay."""
    from dolmen.services import people, second_factor

    with here.vault() as (rt, actor):
        chosen = _one(people.people(rt, actor), who)
        here.confirm(f"Turn off the one-time codes of {chosen.name}?", yes=yes)
        was_on = second_factor.reset(rt, actor, chosen.id)
    done = "signs in with the password alone now" if was_on else "had no one-time codes"
    here.out.result({"person": _plain(chosen), "was_on": was_on}, [f"{chosen.name} {done}."])


def _base(here: Here) -> str:
    from dolmen.interfaces.cli.commands.serve import http_options

    base = http_options(here.settings).base
    if not base:
        raise DolmenError("configuration", "There is no address at which people sign in.", _NO_ADDRESS)
    return base


def _owner(found: Sequence[Person]) -> Person:
    return next(each for each in found if each.role == "owner")


def _one(found: Sequence[Person], who: str) -> Person:
    """The person with that id or its beginning, that login or that name."""
    present = [each for each in found if each.removed_at is None]
    fitting = [each for each in present if who in (each.id, each.login, each.name)]
    fitting = fitting or [each for each in present if len(who) >= 4 and each.id.endswith(who)]
    if len(fitting) != 1:
        what = "Several people are" if fitting else "Nobody is"
        raise DolmenError("not-found", f"{what} called {who!r} here.", "`dolmen person list` shows everybody.")
    return fitting[0]


def _plain(each: Person) -> dict[str, object]:
    return {
        "id": each.id,
        "name": each.name,
        "role": each.role,
        "login": each.login,
        "removed": each.removed_at is not None,
    }
