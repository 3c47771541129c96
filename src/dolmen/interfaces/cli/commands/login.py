"""`dolmen login`, `dolmen logout`: signing in to a server from a machine that may have no browser."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import click

from dolmen.domain.errors import DolmenError
from dolmen.domain.values import SERVED
from dolmen.interfaces.cli.here import Here, command


@click.command()
@click.argument("url")
@click.option(
    "--mode", type=click.Choice(("read", "suggest", "write")), default="write", show_default=True,
    help="The most to ask for; you choose on the page.",
)  # fmt: skip
@click.option("--project", metavar="NAME", default="", help="What the page proposes as the project.")
@click.option("--toolset", type=click.Choice(SERVED), help="What the page proposes as the tools.")
@click.option("--no-browser", is_flag=True, help="Print the address only.")
@command
def login(here: Here, url: str, mode: Any, project: str, toolset: str | None, no_browser: bool) -> None:
    """Sign in to a server, on any machine.

    Prints an address and a code: open the address in any browser, also on your phone, compare the code, and decide
    there. From then on hooks, `dolmen refs sync` and new mirrors of this user use that server, where no setting names
    another one.

    With --json, the address and the code come as one JSON line on standard error.
    """
    from dolmen.client.signin.asking import sign_in
    from dolmen.client.signin.finding import find

    new = sign_in(
        find(url), lambda prompt: _show(here, prompt, no_browser=no_browser), mode=mode, project=project,
        toolset=toolset or "",
    )  # fmt: skip
    value = {"url": new.url, "scope": new.scope, "client": new.client}
    here.out.result(value, [f"Signed in to {new.url}: {new.scope}."])


def _show(here: Here, prompt: Any, *, no_browser: bool) -> None:
    opened = not no_browser and not here.out.as_json and has_browser() and _opened(prompt.complete)
    if here.out.as_json:
        waiting = {"url": prompt.url, "code": prompt.code, "complete": prompt.complete, "minutes": prompt.minutes}
        click.echo(json.dumps({"waiting": waiting}), err=True)
        return
    say = here.out.note
    say("Your browser shows a page; compare the code there:" if opened else "Open this address in any browser:")
    if not opened:
        say(f"  {prompt.complete}")
    say(f"  code {prompt.code}")
    say(f"Waiting for your answer, {prompt.minutes} minutes at most. Ctrl-C ends it.")


def has_browser() -> bool:
    """Whether a browser that is opened here would be seen by whoever started the command."""
    if os.environ.get("SSH_CONNECTION") or os.environ.get("SSH_TTY"):
        return False
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _opened(address: str) -> bool:
    import webbrowser

    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False


@click.command()
@click.argument("url", required=False)
@command
def logout(here: Here, url: str | None) -> None:
    """Sign out of a server; without a URL, of the latest.

    Its tokens are forgotten here and end there.
    """
    from dolmen.client.signin import asking, kept

    if url is None:
        last = kept.latest()
        if last is None:
            raise DolmenError("not-found", "You are signed in nowhere.", "`dolmen login URL` signs in.")
        url = last.url
    heard, place = asking.sign_out(url), kept.place_of(url)
    lines = [f"Signed out of {place}."]
    if not heard:
        here.out.warn(f"{place} could not be told; `dolmen key revoke` ends the sign-in there.")
    here.out.result({"url": place, "revoked": heard}, lines)
