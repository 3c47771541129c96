"""The projects of a vault: what is in them, and how a renamed one keeps its memory."""

from __future__ import annotations

from dataclasses import dataclass

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import scope_of
from dolmen.domain.memory import STATUSES
from dolmen.domain.values import USER_SCOPE, Actor
from dolmen.services.recording import audit
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import EVERY_PROJECT, only, visible
from dolmen.store.contract import Filter, Tx


@dataclass(frozen=True, slots=True)
class Project:
    """A scope of the vault and what it holds."""

    name: str
    """The project's identity, or `user`."""
    scope: str
    memories: int
    """Those that reads serve."""
    proposed: int = 0
    """Those that wait for a person."""
    aliases: tuple[str, ...] = ()
    """Identities that the project had before (B125)."""


def projects(rt: Runtime, actor: Actor) -> list[Project]:
    """Every project of the vault, and the user scope, by name."""
    require(actor, "read")
    with rt.read(actor) as tx:
        active = tx.memories.count(visible(tx, actor, EVERY_PROJECT), "scope")
        proposed = tx.memories.count(visible(tx, actor, EVERY_PROJECT, statuses=("proposed",)), "scope")
        aliases = tx.scopes.aliases(actor.vault)
        names = set(tx.scopes.names(actor.vault)) - set(aliases) | set(active) | set(proposed)
    return [
        Project(
            name=_name(scope),
            scope=scope,
            memories=active.get(scope, 0),
            proposed=proposed.get(scope, 0),
            aliases=tuple(sorted(_name(old) for old, new in aliases.items() if new == scope)),
        )
        for scope in sorted(names, key=lambda scope: (scope != USER_SCOPE, scope))
    ]


def alias(rt: Runtime, actor: Actor, old: str, new: str, *, force: bool = False) -> int:
    """Makes the old identity of a project a name for the new one, and moves its memories; returns how many (B125).

    `force` also joins a name that holds nothing, for a clone that will still use it.

    Raises:
        DolmenError: `invalid-project`; `invalid-argument` when both are the same project, or one is the user scope;
            `not-found` when the old one holds nothing; `conflict` when the new one is a name of the old one;
            `read-only` or `forbidden`.
    """
    require(actor, "admin")
    before, after = scope_of(old), scope_of(new)
    if before == after:
        raise DolmenError("invalid-argument", f"{old} and {new} are the same project.", "There is nothing to do.")
    if USER_SCOPE in (_name(before), _name(after)):
        raise DolmenError("invalid-argument", "The user scope has no other name.", "Name two projects.")
    with rt.store.write() as tx:
        if tx.scopes.resolve(actor.vault, after) == before:
            raise DolmenError(
                "conflict",
                f"{_name(after)} is only another name of {_name(before)} since the two were joined.",
                f"To turn it round, first make it a project again: `dolmen project unalias {_name(after)}`.",
            )
        known = before in tx.scopes.aliases(actor.vault)
        if not force and not known and not sum(tx.memories.count(_whole(tx, actor, before), "scope").values()):
            raise DolmenError(
                "not-found",
                f"The project {_name(before)} holds no memories.",
                "Look at the names in `dolmen project list`, or pass --force to join it all the same.",
            )
        moved = tx.scopes.alias(actor.vault, before, after)
        audit(tx, actor, "project:alias", f"{_name(before)} -> {_name(after)}")
        return moved


def unalias(rt: Runtime, actor: Actor, name: str) -> str:
    """Makes a name that was joined to another project a project again; returns what it stood for.

    The memories stay where they are: which of them came from where is no longer known.

    Raises:
        DolmenError: `invalid-project`; `not-found` for a name that is no alias; `read-only` or `forbidden`.
    """
    require(actor, "admin")
    scope = scope_of(name)
    with rt.store.write() as tx:
        joined = tx.scopes.aliases(actor.vault).get(scope)
        if joined is None or not tx.scopes.unalias(actor.vault, scope):
            raise DolmenError(
                "not-found", f"{_name(scope)} is not joined to another project.", "`dolmen project list` shows what is."
            )
        audit(tx, actor, "project:unalias", f"{_name(scope)} -/- {_name(joined)}")
        return _name(joined)


def _whole(tx: Tx, actor: Actor, scope: str) -> Filter:
    return only(tx, actor, scope, statuses=STATUSES, include_expired=True)


def _name(scope: str) -> str:
    return scope.removeprefix("project:")
