"""What people see and change of their own account: name, password, browsers, connections."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dolmen.domain.access import Connection
from dolmen.domain.errors import DolmenError
from dolmen.services import accounts, passwords
from dolmen.services.checking import tidied
from dolmen.services.people import IDLE, LONGEST, SignedIn, Visitor, prove
from dolmen.services.presence import require_browser
from dolmen.services.recording import audit
from dolmen.services.second_factor import is_fresh
from dolmen.store.contract import Passkey, Role, Tx

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime


@dataclass(frozen=True, slots=True)
class BrowserLine:
    """A browser that somebody is signed in with."""

    id: str
    device: str
    created_at: int
    seen_at: int
    here: bool
    """The one that asks."""


@dataclass(frozen=True, slots=True)
class Account:
    """Everything that the account page shows."""

    fresh: bool
    """Whether ways in can be changed without signing in again."""
    password: bool
    codes: bool
    recovery_left: int
    passkeys: list[Passkey]
    browsers: list[BrowserLine]
    connections: list[Connection]
    vaults: dict[str, str]
    """The names of the vaults that the person is in."""


@dataclass(frozen=True, slots=True)
class OwnVault:
    """A vault that somebody is in."""

    id: str
    name: str
    role: Role
    connections: int
    """Of theirs, that hold."""


def account(rt: Runtime, here: SignedIn) -> Account:
    """The account of whoever is signed in."""
    vault, person = here.person.vault, here.person.id
    with rt.store.read() as tx:
        return Account(
            fresh=is_fresh(here, tx.now),
            password=tx.people.secret(vault, person, "password") is not None,
            codes=tx.people.secret(vault, person, "totp") is not None,
            recovery_left=tx.proofs.recovery_left(vault, person),
            passkeys=tx.proofs.passkeys(vault, person),
            browsers=[
                BrowserLine(_public(hash), each.device, each.created_at, each.seen_at, hash == here.session)
                for hash, each in tx.people.browsers(vault, person)
                if tx.now - each.created_at < LONGEST and tx.now - each.seen_at < IDLE
            ],
            connections=_holding(tx, person),
            vaults=dict(tx.people.vaults(person)),
        )


def vaults(rt: Runtime, here: SignedIn) -> list[OwnVault]:
    """The vaults that whoever is signed in is in."""
    person = here.person.id
    with rt.store.read() as tx:
        held = Counter(each.vault for each in _holding(tx, person))
        found = ((id, name, tx.people.get(id, person)) for id, name in tx.people.vaults(person))
        return [OwnVault(id, name, member.role, held[id]) for id, name, member in found if member is not None]


def rename(rt: Runtime, here: SignedIn, name: str) -> None:
    """Another name for the person; what they wrote is theirs under it.

    Raises:
        DolmenError: `invalid-argument`.
    """
    with rt.store.write() as tx:
        _require(tx, here)
        tx.people.change(here.person.vault, here.person.id, name=tidied(name))
        audit(tx, here.actor, "person:name", here.person.id)


def change_password(rt: Runtime, here: SignedIn, old: str, new: str, visitor: Visitor) -> str:
    """Another password; every other browser of this person is signed out.

    Returns:
        What this browser is known by from now on (`passwords.mark`).

    Raises:
        DolmenError: `invalid-argument` for a new one that does not do; `forbidden` for a wrong old one;
            `rate-limited`.
    """
    passwords.check(new, here.person.login or "", here.person.name)
    prove(rt, here, old, visitor)
    kept = passwords.hash_of(new)
    with rt.store.write() as tx:
        _require(tx, here)
        tx.people.set_secret(here.person.vault, here.person.id, "password", kept, tx.now)
        tx.people.close_all(here.person.vault, here.person.id, but=here.session)
        audit(tx, here.actor, "person:password", here.person.id)
    return passwords.mark(kept)


def end_browser(rt: Runtime, here: SignedIn, id: str) -> None:
    """Signs another browser of this person out, or all others when `id` is `others`.

    Raises:
        DolmenError: `not-found`.
    """
    vault, person = here.person.vault, here.person.id
    with rt.store.write() as tx:
        _require(tx, here)
        if id == "others":
            tx.people.close_all(vault, person, but=here.session)
            return
        hashes = [hash for hash, _ in tx.people.browsers(vault, person) if _public(hash) == id]
        if not hashes:
            raise DolmenError("not-found", "That browser is not signed in any more.", "Reload the page.")
        tx.people.close(hashes[0])


def end_connection(rt: Runtime, here: SignedIn, id: str) -> None:
    """Ends a connection of this person at once: a key, or a client that was let in.

    Raises:
        DolmenError: `not-found`, the same for a connection of somebody else.
    """
    with rt.store.write() as tx:
        _require(tx, here)
        found = next((each for each in _connections(tx, here.person.id) if each.id == id), None)
        if found is None:
            raise DolmenError("not-found", "That connection has ended already.", "Reload the page.")
        ended = accounts.end(tx, found.vault, id)
        if ended:
            audit(tx, replace(here.actor, vault=found.vault), "key:revoke", id)
    for each in (id, *ended):
        rt.keys.forget(each)


def _require(tx: Tx, here: SignedIn) -> None:
    require_browser(tx, here.person.vault, here.person.id, here.session)


def _holding(tx: Tx, person: str) -> list[Connection]:
    return [
        each
        for each in _connections(tx, person)
        if each.revoked_at is None and (each.expires_at is None or each.expires_at > tx.now)
    ]


def _connections(tx: Tx, person: str) -> list[Connection]:
    """Those of a person, in every vault of theirs: a client is let into the one that they choose."""
    vaults = [vault for vault, _ in tx.people.vaults(person)]
    return [each for vault in vaults for each in tx.accounts.connections(vault) if each.person == person]


def _public(hash: str) -> str:
    """A browser's name on the page: shows neither its secret nor the hash under which it is looked up."""
    return hashlib.sha256(f"browser {hash}".encode()).hexdigest()[:16]
