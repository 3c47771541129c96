"""The notes that `dolmen mirror` keeps a folder in step with: of a server, or of the store of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.here import Here

if TYPE_CHECKING:
    from dolmen.client.endpoint import Endpoint
    from dolmen.client.mirror import Vault
    from dolmen.client.mirror.wire import Wire
    from dolmen.domain.values import Actor
    from dolmen.services.notes.mirroring import Mirroring
    from dolmen.services.runtime import Runtime

AGENT = "mirror"
"""The name under which a person writes in mirrored files."""
_SAID = {
    "read": "this key may only read: the folder follows the server, and what you change here stays here",
    "suggest": "this key may only suggest: what you change here waits for a person at the server",
    "write": "",
}


@dataclass(frozen=True, slots=True)
class Place:
    """An open vault, and what a folder keeps of it."""

    vault: Vault
    id: str
    scope: str
    wire: Wire | None = None
    """To the server; None for the store of this machine."""

    @property
    def server(self) -> str:
        return "" if self.wire is None else self.wire.endpoint.url

    @property
    def destination(self) -> str:
        return "" if self.wire is None else self.wire.endpoint.destination


def endpoint_of(here: Here, root: Path, server: str | None) -> Endpoint | None:
    """The server that is meant: the one that is named, else the one of the folder so far; for a new folder the one
    that other commands talk to. None for the store of this machine.

    The key in the settings is shown to the server in the settings, to one that is typed where none is set, and where
    it was shown before. Else a file in a folder that came from elsewhere could say who gets it.

    Raises:
        DolmenError: `invalid-argument` for an address over which others could read along, and for `--vault` where a
            server is meant; `unauthorized` where the key is not shown.
    """
    from dolmen.client import endpoint
    from dolmen.client.mirror.home import server_of
    from dolmen.client.signin.kept import place_of
    from dolmen.client.signin.wire import require_private

    if here.given("database") is not None:
        if server:
            raise DolmenError("invalid-argument", "--server and --database name two vaults.", "Leave one out.")
        return None
    known = server_of(root)
    if not server and known == ("", ""):
        return None
    url = server or (known[0] if known else "")
    if not url:
        found = endpoint.find("cli", here.settings)
        if not found.named:
            return None
        _refuse_vault(here, found.url)
        require_private(found.url)
        return replace(found, url=place_of(found.url), agent=AGENT)
    url = place_of(url if "://" in url else f"https://{url}")
    _refuse_vault(here, url)
    require_private(url)
    before = known[1] if known and known[0] == url else ""
    return replace(_shown(here, url, before, typed=bool(server)), agent=AGENT)


def _refuse_vault(here: Here, url: str) -> None:
    if (vault := here.given("vault")) is not None:
        raise DolmenError(
            "invalid-argument",
            f"--vault names a vault of a store, and the notes are at {url}, where the key or the sign-in says which.",
            f"Leave --vault out and use a key for it, made where the server runs: `dolmen key create {AGENT} --vault "
            f"{vault}`. --database names a store of this machine.",
        )


def _shown(here: Here, url: str, before: str, *, typed: bool) -> Endpoint:
    """The server with the key or the sign-in that it is shown. `before`: the destination of the run before."""
    from dolmen.client.endpoint import Endpoint
    from dolmen.client.signin.kept import kept, place_of

    set_url, keyed = here.settings.url, Endpoint(url, here.settings.key, named=True)
    meant = place_of(set_url) == url if set_url else typed
    if keyed.key and (meant or keyed.destination == before):
        return keyed
    if (signed_in := kept(url)) is not None:
        return replace(keyed, key="", account=signed_in.client)
    if keyed.key:
        raise DolmenError(
            "unauthorized",
            f"The key in the settings was never shown to {url}.",
            f"If it is meant for it: `dolmen mirror FOLDER --server {url}`, with no other server in DOLMEN_URL.",
        )
    return keyed


@contextmanager
def opened(here: Here, endpoint: Endpoint | None, project: str | None, known: str, *, dry_run: bool) -> Iterator[Place]:
    """Opens the vault.

    Args:
        known: the project that the folder mirrors, `user` for none; empty when it mirrors nothing yet.
    """
    if endpoint is not None:
        yield from _served(here, endpoint, project, known)
        return
    if dry_run:
        here.rehearse()
    with here.vault(in_project=not (project or known), create=True) as (rt, person):
        notes, scope = _notes(rt, person, project, known)
        yield Place(notes, notes.vault(), scope)


def _served(here: Here, endpoint: Endpoint, project: str | None, known: str) -> Iterator[Place]:
    from dolmen.client.mirror.served import ServedVault
    from dolmen.client.mirror.wire import Wire

    wire = Wire(endpoint, tell=here.out.note)
    try:
        vault = ServedVault(wire, project or known or here.project)
        id, scope = vault.about()
        if known and (not project or ServedVault(wire, known).about()[1] == scope):
            scope = _named(known)
        if _SAID[vault.mode]:
            here.out.note(_SAID[vault.mode])
        yield Place(vault, id, scope, wire)
    finally:
        wire.close()


def _notes(rt: Runtime, person: Actor, project: str | None, known: str) -> tuple[Mirroring, str]:
    """The notes that are mirrored, and the name of their scope as the folder has it."""
    from dolmen.services.notes.mirroring import Mirroring

    actor = replace(person, agent=AGENT)
    notes = Mirroring(rt, actor, project or known or None)
    scope = notes.scope()
    if known and Mirroring(rt, actor, known).scope() == scope:  # the name that it had when it was set up
        scope = _named(known)
    return notes, scope


def _named(known: str) -> str:
    return known if known == "user" else f"project:{known}"
