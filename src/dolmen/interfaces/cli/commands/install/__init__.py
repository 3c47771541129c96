"""`dolmen install` and `dolmen uninstall`: the clients' own configuration, shown before it is changed."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from dolmen.client import endpoint
from dolmen.client.editing.files import BACKUP, Change, apply
from dolmen.client.hook.purging import forget_everything
from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.commands.install import before
from dolmen.interfaces.cli.commands.install.planning import Step, Way, installed, removed
from dolmen.interfaces.cli.commands.install.program import Program, this_program
from dolmen.interfaces.cli.commands.install.showing import differences
from dolmen.interfaces.cli.here import Here, command
from dolmen.interfaces.clients.places import place
from dolmen.interfaces.clients.targets import TARGETS, Target

_CLIENTS = click.Choice([target.client for target in TARGETS])
_TO_BE_MADE = "dlm_…"
"""Stands for a key until the person has agreed."""
_AFTERWARDS = "Restart the clients that are open. `dolmen doctor` checks what was installed."
_NOT_ON_PATH = (
    "These files start `dolmen` by its name, and it is not on your PATH: "
    f"mkdir -p ~/.local/bin && ln -sf {Path(sys.executable).with_name('dolmen')} ~/.local/bin/"
)
"""A file that is committed names no path of this machine."""
_BY_NAME = {target.client: target for target in TARGETS}


@click.command()
@click.argument("clients", nargs=-1, type=_CLIENTS, metavar="[CLIENT]...")
@click.option("--url", metavar="URL", help="The server's MCP address. [default: the one of this machine]")
@click.option("--key", metavar="KEY", help="The key for it; `-` reads it from standard input. [default: DOLMEN_KEY]")
@click.option("--new-key", is_flag=True, help="Make a key for each client in this store.")
@click.option("--stdio", is_flag=True, help="Let the client start `dolmen mcp` itself: no server needed.")
@click.option("--project", is_flag=True, help="For the project here alone, in files that can be committed.")
@click.option("--rules", is_flag=True, help="Also tell the model, in its file of instructions, to use memory.")
@click.option("--no-hooks", is_flag=True, help="Leave the session hooks out.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--full", is_flag=True, help="Show every line that changes.")
@command
def install(
    here: Here, clients: tuple[str, ...], url: str | None, key: str | None, new_key: bool, stdio: bool, project: bool,
    rules: bool, no_hooks: bool, yes: bool, dry_run: bool, full: bool
) -> None:  # fmt: skip
    """Set clients up: the MCP server and session hooks.

    CLIENT is claude-code, codex, gemini, qwen, cursor, vscode, copilot, windsurf or opencode; without any, those that
    are on this machine. Shows what it changes and asks first. Comments and everything else in the files stay as they
    are; a copy of each is kept beside it. Again with the same options, it changes nothing.
    """
    targets = _targets(clients)
    # What is committed must start on other machines too.
    way = Way(Program(("dolmen",)) if project else this_program(), project=project, hooks=not no_hooks, rules=rules)
    way = way if stdio else _served(here, way, url, key, new_key=new_key)
    ways = {target.client: _known(target, way, make=new_key) for target in targets}
    steps = _planned(here, targets, ways, strict=bool(clients))
    notes = [note for target in targets for note in _notes(target, way)]
    if project and (way.hooks or stdio) and shutil.which("dolmen") is None:
        notes.append(_NOT_ON_PATH)
    if not _go_on(here, steps, notes, "Write this?", yes=yes, dry_run=dry_run, full=full):
        return
    if any(chosen.key == _TO_BE_MADE for chosen in ways.values()):
        made = {client: _made(here, client) for client, chosen in ways.items() if chosen.key == _TO_BE_MADE}
        ways = {client: replace(chosen, key=made.get(client, chosen.key)) for client, chosen in ways.items()}
        steps = _planned(here, targets, ways, strict=bool(clients))
    kept = _as_they_were(steps, project=project)
    for step in steps:
        apply(step.change)
    before.keep(kept)
    for client, chosen in ways.items():
        if chosen.url:
            endpoint.enter(client, chosen.url, chosen.key)
        elif not project:
            endpoint.strike(client)
    _report(here, steps, [*notes, _AFTERWARDS], applied=True, verb="written")


@click.command()
@click.argument("clients", nargs=-1, type=_CLIENTS, metavar="[CLIENT]...")
@click.option("--project", is_flag=True, help="What is in the files of the project here.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--full", is_flag=True, help="Show every line that changes.")
@command
def uninstall(here: Here, clients: tuple[str, ...], project: bool, yes: bool, dry_run: bool, full: bool) -> None:
    """Take out of clients what `dolmen install` wrote.

    Server, hooks and rules, also a server `dolmen` that was entered by hand; without CLIENT, of every client, and the
    session logs besides. Memories stay, and so do keys: `dolmen key revoke` ends them.
    """
    targets = _targets(clients or tuple(_BY_NAME))
    steps = _each(here, targets, lambda target: _without(target, project=project), bool(clients))
    if not _go_on(here, steps, [], "Remove this?", yes=yes, dry_run=dry_run, full=full):
        return
    for step in steps:
        apply(step.change)
    before.forget(step.change.file for step in steps)
    for target in () if project else targets:
        endpoint.strike(target.client)
    if not clients and not project:
        forget_everything()
    _report(here, steps, [], applied=True, verb="removed")


# ------------------------------------------------------------------------------------------------------------ choosing
def present(target: Target, home: Path, here: Path) -> bool:
    """Whether a client is on this machine."""
    signs = (place(sign, home, here) if "/" in sign else None for sign in target.signs)
    programs = (sign for sign in target.signs if "/" not in sign)
    return any(sign is not None and sign.exists() for sign in signs) or any(map(shutil.which, programs))


def _targets(clients: Sequence[str]) -> list[Target]:
    if clients:
        return [_BY_NAME[name] for name in dict.fromkeys(clients)]
    found = [target for target in TARGETS if present(target, Path.home(), Path.cwd())]
    if not found:
        raise DolmenError(
            "not-found",
            "No client was found on this machine.",
            f"Name the one that you mean: {', '.join(_BY_NAME)}.",
        )
    return found


def _served(here: Here, way: Way, url: str | None, key: str | None, *, new_key: bool) -> Way:
    """The way over HTTP: which address, and which key, if one is needed.

    Raises:
        DolmenError: `invalid-argument` when the server asks for a key and none is given.
    """
    from dolmen.interfaces.cli.commands.serve import endpoint as served_at
    from dolmen.interfaces.cli.commands.serve import http_options
    from dolmen.interfaces.http.hosts import keyless

    if new_key and (way.project or key is not None):
        raise DolmenError(
            "invalid-argument",
            "--new-key goes neither with --project, whose files hold no key, nor with --key.",
            "Make one with `dolmen key create`, and set DOLMEN_KEY.",
        )
    settings = here.settings
    address = url or settings.url or served_at(settings.public_url, settings.host, settings.port)
    if not address.startswith(("http://", "https://")):
        raise DolmenError("invalid-argument", f"{address} is no address of a server.", "It begins with http.")
    scheme, _, rest = address.partition("://")
    if "/" not in rest.rstrip("/"):
        address = f"{scheme}://{rest.rstrip('/')}/mcp"  # a client asks at the very address, and there is nothing at /
    given = _read_key(key) if key is not None else settings.key
    local = not url and not settings.url and not settings.public_url
    entered = any(isinstance(e, dict) and e.get("url") == address and e.get("key") for e in endpoint.load().values())
    if not given and not new_key and not entered and not (local and keyless(http_options(settings))):
        raise DolmenError(
            "invalid-argument",
            f"{address} needs a key, and none was given.",
            "Pass --new-key where the store is here, or --key (`-` reads it from standard input), or set DOLMEN_KEY.",
        )
    return replace(way, url=address, key=given)


def _known(target: Target, way: Way, *, make: bool) -> Way:
    """With the key that was entered for the client before, so that a second run changes nothing."""
    if not way.url or way.key:
        return way
    entered = endpoint.load().get(target.client)
    known = str(entered.get("key") or "") if isinstance(entered, dict) and entered.get("url") == way.url else ""
    return replace(way, key=known or (_TO_BE_MADE if make else ""))


def _read_key(given: str) -> str:
    if given != "-":
        return given.strip()
    return sys.stdin.readline().strip()


def _made(here: Here, client: str) -> str:
    """A fresh key for a client."""
    from dolmen.services.accounts import create_key

    with here.vault(create=True) as (rt, actor):
        return create_key(rt, actor, agent=client)[1]


# -------------------------------------------------------------------------------------------------------------- acting
def _planned(here: Here, targets: Sequence[Target], ways: Mapping[str, Way], *, strict: bool) -> list[Step]:
    return _each(here, targets, lambda target: installed(target, ways[target.client], Path.home(), Path.cwd()), strict)


def _without(target: Target, *, project: bool) -> list[Step]:
    return removed(target, project, Path.home(), Path.cwd(), before.load())


def _as_they_were(steps: Sequence[Step], *, project: bool) -> dict[Path, before.Before]:
    """What the files that are written now would be without Dolmen, for `uninstall`."""
    known = before.load()
    kept = {}
    for step in steps:
        bare = {each.change.file: each.change for each in _without(_BY_NAME[step.client], project=project)}
        file, after = step.change.file, step.change.after
        text = bare.get(file, Change(file, None, step.change.before)).after
        folders = known[file].folders if file in known else before.missing_folders(file)
        kept[file] = before.Before(text, before.digest(after or ""), folders)
    return kept


def _each(here: Here, targets: Sequence[Target], plan: Callable[[Target], list[Step]], strict: bool) -> list[Step]:
    """The steps of every client, each file once. A client that nobody named and whose file is broken is left out."""
    steps: dict[Path, Step] = {}
    for target in targets:
        try:
            for step in plan(target):
                steps.setdefault(step.change.file, step)
        except DolmenError as error:
            if strict:
                raise
            here.out.warn(f"{target.title} is left out. {error.message} {error.fix}")
    return list(steps.values())


def _go_on(
    here: Here, steps: Sequence[Step], notes: Sequence[str], question: str, *, yes: bool, dry_run: bool, full: bool
) -> bool:  # fmt: skip
    """Shows the changes and asks; False when there is nothing to do or nothing may be done."""
    if not steps or dry_run:
        _report(here, steps, notes if steps else [], applied=False, full=full)
        return False
    if not here.out.as_json:
        for line in differences(steps, here.out, full=full):
            click.echo(line, err=True)
    here.confirm(question, yes=yes)
    return True


def _report(
    here: Here, steps: Sequence[Step], notes: Sequence[str], *, applied: bool, verb: str = "", full: bool = False
) -> None:
    lines = [] if applied else list(differences(steps, here.out, full=full))
    if not steps:
        lines.append("Nothing to change.")
    for step in steps if applied else ():
        kept = here.out.dim(f"  (before: {step.change.file.name}{BACKUP})") if step.change.copied else ""
        lines.append(f"{step.client}: {step.what} {verb}: {step.change.file}{kept}")
    lines += [line for note in notes for line in here.out.lines(note, "! ", "  ")]
    value: dict[str, Any] = {
        "applied": applied and bool(steps),
        "changes": [
            {
                "client": step.client,
                "what": step.what,
                "file": str(step.change.file),
                "diff": "\n".join(differences([step], None)),
            }
            for step in steps
        ],
        "notes": list(notes),
    }
    here.out.result(value, lines)


def _notes(target: Target, way: Way) -> list[str]:
    found = [note for note in target.notes if way.hooks or "hook" not in note]
    server, rules, hooks = target.server, target.rules, target.hooks
    if way.project and not server.project:
        found.append(f"{target.title} has no file for a project's servers: install it without --project as well.")
    if way.project and way.key and server.project and way.url:
        found.append(f"{target.title}: the file names the variable DOLMEN_KEY, it does not hold the key. Set it.")
    if way.rules and rules and not (rules.project if way.project else rules.user):
        found.append(f"{target.title} has no such file of instructions; use --project --rules in a repository.")
    if way.hooks and hooks and not (hooks.project if way.project else hooks.user):
        found.append(f"{target.title} has no hooks here.")
    return found
