"""Groups of keys that are kept apart: the keys of one see each other's memories, and nobody else's (C-37, C-38)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dolmen.domain.access import Connection, KeyGroup, require
from dolmen.domain.errors import DolmenError, not_found
from dolmen.domain.values import Actor

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime
    from dolmen.store.contract import Tx


def groups(rt: Runtime, actor: Actor) -> list[KeyGroup]:
    """Every group of the vault, by name."""
    require(actor, "admin")
    with rt.read(actor) as tx:
        return tx.accounts.groups(actor.vault)


def add_group(rt: Runtime, actor: Actor, name: str) -> KeyGroup:
    """A group without keys.

    Raises:
        DolmenError: `conflict` when there is one of that name; `invalid-argument`, `forbidden`.
    """
    from dolmen.services.checking import tidied
    from dolmen.services.recording import audit

    require(actor, "admin")
    name = tidied(name)
    with rt.write(actor) as tx:
        made = KeyGroup(tx.new_id(), name, ())
        if not tx.accounts.add_group(actor.vault, made.id, name):
            raise DolmenError("conflict", f"There is a group {name!r} already.", "Choose another name.")
        audit(tx, actor, "group:add", made.id)
    return made


def remove_group(rt: Runtime, actor: Actor, name: str) -> KeyGroup:
    """Ends a group: each of its keys sees only what it wrote itself, from the next request on.

    Raises:
        DolmenError: `not-found`, `forbidden`.
    """
    from dolmen.services.recording import audit

    require(actor, "admin")
    with rt.write(actor) as tx:
        found = group_named(tx, actor, name)
        tx.accounts.remove_group(actor.vault, found.id)
        audit(tx, actor, "group:remove", found.id)
    rt.keys.clear()
    return found


def join(rt: Runtime, actor: Actor, name: str, key: str) -> KeyGroup:
    """A key that is kept apart comes into a group, with the clients that were let in with it.

    Raises:
        DolmenError: `not-found`; `conflict` for a key that is not kept apart, whose memories everybody sees anyway.
    """
    from dolmen.services.recording import audit

    require(actor, "admin")
    with rt.write(actor) as tx:
        found = group_named(tx, actor, name)
        connection = next((each for each in tx.accounts.connections(actor.vault) if each.id == key), None)
        if connection is None:
            raise not_found("Key", key)
        if not connection.apart:
            raise DolmenError(
                "conflict",
                "Everybody of the vault sees what this key writes, so a group would change nothing.",
                "Make a key with `dolmen key create AGENT --group NAME`.",
            )
        tx.accounts.hold(actor.vault, key)  # a client that is let in with it meanwhile waits, and then joins too
        for each in (key, *tx.oauth.bound_to(actor.vault, key)):
            tx.accounts.join_group(actor.vault, found.id, each)
        audit(tx, actor, "group:join", f"{found.id} {key}")
        found = group_named(tx, actor, name)
    rt.keys.clear()
    return found


def leave(rt: Runtime, actor: Actor, name: str, key: str) -> KeyGroup:
    """A key leaves a group and takes what it wrote along: the others do not see that any more. Clients that were let in
    with it leave too: they see what the key sees (C-306).

    Raises:
        DolmenError: `not-found`, `forbidden`.
    """
    from dolmen.services.recording import audit

    require(actor, "admin")
    with rt.write(actor) as tx:
        tx.accounts.hold(actor.vault, key)  # whoever lets a client in with it meanwhile waits, and then sees it outside
        found = group_named(tx, actor, name)
        if not tx.accounts.leave_group(actor.vault, found.id, key):
            raise not_found("Key", key)
        for each in tx.oauth.bound_to(actor.vault, key):
            tx.accounts.leave_group(actor.vault, found.id, each)
            [own] = [known for known in tx.accounts.connections(actor.vault) if known.id == key]
            put_together(tx, actor.vault, own, each)
        audit(tx, actor, "group:leave", f"{found.id} {key}")
        found = group_named(tx, actor, name)
    rt.keys.clear()
    return found


def group_named(tx: Tx, actor: Actor, name: str) -> KeyGroup:
    """The group of that name or id.

    Raises:
        DolmenError: `not-found`.
    """
    wanted = name.strip()
    found = [each for each in tx.accounts.groups(actor.vault) if wanted in (each.id, each.name)]
    if not found:
        raise DolmenError("not-found", f"There is no group {name!r}.", "`dolmen group list` shows them.")
    return found[0]


def put_together(tx: Tx, vault: str, key: Connection, other: str) -> None:
    """Another connection sees what a key that is kept apart sees: both are in the same groups from now on."""
    of_key = [each for each in tx.accounts.groups(vault) if key.id in each.keys]
    if not of_key:
        own = KeyGroup(tx.new_id(), f"{key.agent} {key.id[-8:]}", ())
        tx.accounts.add_group(vault, own.id, own.name)
        tx.accounts.join_group(vault, own.id, key.id)
        of_key = [own]
    for each in of_key:
        tx.accounts.join_group(vault, each.id, other)
