"""What a person chose, within what the key allows that the client was registered with (C-306)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import grant_mode
from dolmen.domain.values import Mode, Toolset

if TYPE_CHECKING:
    from dolmen.domain.access import Connection
    from dolmen.domain.oauth import Client
    from dolmen.domain.values import Actor
    from dolmen.services.runtime import Runtime
    from dolmen.store.contract import Tx


@dataclass(frozen=True, slots=True)
class Consent:
    """What the person chose on the consent page."""

    agent: str
    mode: Mode
    project: str | None = None
    toolset: Toolset = "core"
    expires_at: int | None = None
    vault: str = ""
    """Which of theirs; empty for the one that they signed in to."""


def in_vault(tx: Tx, person: Actor, chosen: Consent) -> Actor:
    """The person in the vault that they chose.

    Raises:
        DolmenError: `forbidden` for a vault that is not theirs, the same as for one that is not there.
    """
    if not chosen.vault or chosen.vault == person.vault:
        return person
    member = tx.people.get(chosen.vault, person.person)
    if member is None or member.removed_at is not None:
        raise DolmenError("forbidden", "That is no vault of yours.", "Choose one of the list.")
    return replace(person, vault=chosen.vault, mode="admin" if member.role == "owner" else "write")


def within_key(tx: Tx, person: Actor, client: Client, chosen: Consent) -> Consent:
    """The choice, no wider and no longer than the key of a client that was registered with one.

    Raises:
        DolmenError: `forbidden` when the key has ended, or is somebody else's.
    """
    if not client.key:
        return chosen
    tx.accounts.hold(client.vault, client.key)  # whoever ends it meanwhile waits, and then ends what comes of this too
    key = key_of(tx, client)
    if key is None:
        raise DolmenError(
            "forbidden",
            "The key that this client was registered with has ended.",
            "Register the client again with a key that holds.",
        )
    if (key.vault, key.person) != (person.vault, person.person):
        raise DolmenError(
            "forbidden", "This client was registered with somebody else's key.", "Sign in as the person of the key."
        )
    ends = [each for each in (key.expires_at, chosen.expires_at) if each is not None]
    return replace(
        chosen,
        mode=grant_mode(_mode(key), chosen.mode),
        project=key.project or chosen.project,
        toolset=chosen.toolset if key.toolset == "core" else key.toolset,
        expires_at=min(ends, default=None),
    )


def widest(rt: Runtime, client: Client) -> Mode:
    """What a person can allow a client at most."""
    if not client.key:
        return "write"
    with rt.store.read() as tx:
        key = key_of(tx, client)
    return "read" if key is None else _mode(key)


def key_of(tx: Tx, client: Client) -> Connection | None:
    """The key that a client was registered with, as long as it opens the door; None without one."""
    if not client.key:
        return None
    found = next((each for each in tx.accounts.connections(client.vault) if each.id == client.key), None)
    if found is None or found.revoked_at is not None or (found.expires_at is not None and found.expires_at <= tx.now):
        return None
    return found


def _mode(key: Connection) -> Mode:
    """An administrator's key lets no client administrate: a person allows at most writing."""
    return "write" if key.mode == "admin" else key.mode
