"""What a call may see: the one place that turns an actor and a `project` argument into scopes and a filter."""

from __future__ import annotations

from typing import Any

from dolmen.domain.errors import DolmenError, not_found
from dolmen.domain.identity import scope_of
from dolmen.domain.memory import Memory
from dolmen.domain.note import address, parse_ref
from dolmen.domain.text import clean
from dolmen.domain.values import USER_SCOPE, Actor
from dolmen.store.contract import Filter, Tx

EVERY_PROJECT = "*"
"""The `project` argument that reads every project of the vault."""


def scope_for(tx: Tx, actor: Actor, project: str | None) -> str:
    """The scope that a write goes to: the named project, else the connection's default, else `user`.

    `project="user"` names the user scope for a connection that has a default project. An alias gives the project that
    it stands for (B125).
    """
    if project == EVERY_PROJECT:
        raise DolmenError("invalid-project", "A memory belongs to one project.", "Name one project, or leave it out.")
    name = actor.project if project is None or not project.strip() else project
    if name is None or name.strip() == USER_SCOPE:
        return USER_SCOPE
    return tx.scopes.resolve(actor.vault, scope_of(name))


def scopes_for(tx: Tx, actor: Actor, project: str | None) -> tuple[str, ...] | None:
    """The scopes that a read sees: the project and, always, the user's own (C-28); None for every project.

    The default project of a connection inside a submodule brings the projects around it along (B121).
    """
    if project == EVERY_PROJECT:
        return None
    scope = scope_for(tx, actor, project)
    if scope == USER_SCOPE:
        return (USER_SCOPE,)
    own = actor.parents and scope == scope_for(tx, actor, None)
    around = tuple(tx.scopes.resolve(actor.vault, scope_of(parent)) for parent in actor.parents) if own else ()
    return (USER_SCOPE, scope, *around)


def visible(tx: Tx, actor: Actor, project: str | None, **conditions: Any) -> Filter:
    """The filter of a read; `conditions` are further fields of `Filter`."""
    return Filter(vault=actor.vault, scopes=scopes_for(tx, actor, project), now=tx.now, **conditions)


def only(tx: Tx, actor: Actor, scope: str, **conditions: Any) -> Filter:
    """The filter of one scope alone."""
    return Filter(vault=actor.vault, scopes=(scope,), now=tx.now, **conditions)


def existing(tx: Tx, actor: Actor, ref: str, what: str = "Memory") -> Memory:
    """The memory of the actor's vault with that ref, in any status.

    Raises:
        DolmenError: `not-found`, also for another vault's memory.
    """
    memory = _of_block(tx, actor, ref) if "#blk_" in ref else tx.memories.get(actor.vault, ref_id(ref))
    if memory is None:
        raise not_found(what, ref)
    return memory


def _of_block(tx: Tx, actor: Actor, ref: str) -> Memory | None:
    """The memory that a block of a note is, by its address."""
    place = parse_ref(clean(ref)[0])
    note = None if place is None else tx.notes.at_address(actor.vault, place.permalink)
    if place is None or note is None:
        return None
    found = [m for m in tx.memories.blocks(actor.vault, note.id) if m.block == place.block]
    return next((m for m in found if m.status != "deleted"), found[0] if found else None)


def refuse_block(tx: Tx, memory: Memory) -> None:
    """Refuses to change the words of a memory that stand in a note: they are changed there.

    Raises:
        DolmenError: `conflict` with the address of the block.
    """
    note = tx.notes.get(memory.vault, memory.note) if memory.note else None
    if note is None:
        return
    ref = address(note.permalink, memory.block)
    raise DolmenError(
        "conflict",
        f"Memory {memory.id} is a block of the note {note.permalink}; its words stand there.",
        f"Change it there: edit with op replace_block and ref {ref}; restore the note to bring back what it was.",
        ref=ref,
    )


def ref_id(ref: str) -> str:
    """The id in a ref: plain, or as the address `dolmen://memory/<id>`; no engine is asked for what it cannot hold."""
    return clean(ref)[0].strip().removeprefix("dolmen://memory/").lower()
