"""Several vaults on one server: each with its own people, keys and memories, and nothing that crosses between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import STATUSES
from dolmen.domain.values import Actor
from dolmen.services.accounts import vault_named
from dolmen.services.checking import tidied
from dolmen.services.forget import scrub
from dolmen.services.recording import audit
from dolmen.store.contract import Filter, Person, Role, Tx

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Vault:
    """A vault and how much is in it."""

    id: str
    name: str
    memories: int = 0
    """Those that are served."""
    everything: int = 0
    """With what waits, what was replaced and what was forgotten."""
    notes: int = 0
    people: int = 0
    keys: int = 0
    """That hold."""
    here: bool = False
    """It is the one of this machine's user."""


def vaults(rt: Runtime, actor: Actor) -> list[Vault]:
    """Every vault of the store, for whoever runs it.

    Raises:
        DolmenError: `forbidden` for anybody but a person at the store itself.
    """
    _operator(actor)
    with rt.store.read() as tx:
        return [_counted(tx, id, name, actor) for id, name in tx.accounts.vaults()]


def add_vault(rt: Runtime, actor: Actor, name: str) -> Vault:
    """A vault, whose owner is the person that makes it.

    Raises:
        DolmenError: `conflict` when there is one of that name; `invalid-argument`, `forbidden`.
    """
    _operator(actor)
    name = tidied(name)
    with rt.store.write() as tx:
        _refuse_taken(tx, name)
        person = tx.people.get(actor.vault, actor.person)
        made = Vault(tx.new_id(), name, people=1)
        if not tx.accounts.add_vault(made.id, name, actor.person, person.name if person else "owner"):
            raise _taken(name)  # by another process, since this one looked
        audit(tx, actor, "vault:add", made.id)
    return made


def rename_vault(rt: Runtime, actor: Actor, vault: str, name: str) -> Vault:
    """Another name; its keys and clients stay.

    Raises:
        DolmenError: `not-found`; `conflict` when there is one of that name.
    """
    _operator(actor)
    name = tidied(name)
    with rt.store.write() as tx:
        id = vault_named(tx.accounts.vaults(), vault)
        _refuse_taken(tx, name, but=id)
        tx.accounts.rename_vault(id, name)
        audit(tx, actor, "vault:rename", id)
        return _counted(tx, id, name, actor)


def remove_vault(rt: Runtime, actor: Actor, vault: str, *, dry_run: bool = False) -> Vault:
    """Destroys a vault for good: memories, notes, their past, the index, proposals, keys, and people who are in no
    other vault. What was in it, before.

    Raises:
        DolmenError: `not-found`; `conflict` for the last one.
    """
    _operator(actor)
    rt.journal.flush()
    with rt.store.write() as tx:
        there = tx.accounts.vaults()
        id = vault_named(there, vault)
        found = _counted(tx, id, dict(there)[id], actor)
        if dry_run:
            return found
        if len(there) == 1:
            raise DolmenError("conflict", "A store keeps one vault.", "Make another one first: `dolmen vault add`.")
        tx.index.clear(id)
        for person in tx.people.all(id):
            tx.people.leave(id, person.id)
        tx.accounts.remove_vault(id)
        if id != actor.vault:
            audit(tx, actor, "vault:remove", id)
    rt.keys.clear()
    rt.forget_home()
    scrub(rt)
    return found


def admit(rt: Runtime, actor: Actor, person: str, role: Role = "member") -> Person:
    """Lets a person of another vault into this one too; they sign in as before.

    Args:
        person: their login or id.

    Raises:
        DolmenError: `not-found`; `conflict` when they are here already.
    """
    _operator(actor)
    with rt.store.write() as tx:
        wanted = person.strip().casefold()
        everybody_else = [each for id, _ in tx.accounts.vaults() if id != actor.vault for each in tx.people.all(id)]
        fitting = {
            each.id: each
            for each in everybody_else
            if each.removed_at is None and wanted in (each.id, (each.login or "").casefold(), each.name.casefold())
        }
        if len(fitting) != 1:
            what = "Several people are" if fitting else "Nobody is"
            raise DolmenError("not-found", f"{what} called {person!r} in the other vaults.", "Name their login or id.")
        [found] = fitting.values()
        known = tx.people.get(actor.vault, found.id)
        if known is not None and known.removed_at is None:
            raise DolmenError("conflict", f"{found.name} is in this vault already.", "There is nothing to do.")
        if known is not None:
            raise DolmenError("conflict", f"{found.name} was removed from this vault.", "Invite them anew.")
        joined = Person(actor.vault, found.id, found.name, role, tx.now)
        tx.people.add(joined)
        audit(tx, actor, "person:admit", found.id)
    return joined


def own_vaults(rt: Runtime, actor: Actor) -> list[tuple[str, str]]:
    """(id, name) of the vaults that the actor's person is in."""
    with rt.store.read() as tx:
        return tx.people.vaults(actor.person)


def _operator(actor: Actor) -> None:
    """Vaults are made and destroyed by who runs the store: at its command line, not over the web."""
    require(actor, "admin")
    if not actor.human or actor.connection != "local":
        raise DolmenError("forbidden", "Only whoever runs the store manages its vaults.", "`dolmen vault` does it.")


def _refuse_taken(tx: Tx, name: str, but: str = "") -> None:
    if any(name.casefold() == known.casefold() and id != but for id, known in tx.accounts.vaults()):
        raise _taken(name)


def _taken(name: str) -> DolmenError:
    return DolmenError("conflict", f"There is a vault {name!r} already.", "Choose another name.")


def _counted(tx: Tx, id: str, name: str, actor: Actor) -> Vault:
    keys = tx.accounts.connections(id)
    valid = [key for key in keys if key.revoked_at is None and (key.expires_at is None or key.expires_at > tx.now)]
    every = Filter(id, None, tx.now, STATUSES, include_expired=True)
    return Vault(
        id,
        name,
        memories=sum(tx.memories.count(Filter(id, None, tx.now)).values()),
        everything=sum(tx.memories.count(every).values()),
        notes=sum(tx.notes.folders(Filter(id, None, tx.now, ("active", "superseded"))).values()),
        people=sum(person.removed_at is None for person in tx.people.all(id)),
        keys=len(valid),
        here=id == actor.vault,
    )
