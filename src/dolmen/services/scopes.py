"""The projects of a vault: what is in them, and how a renamed one keeps its memory."""

from __future__ import annotations

from dataclasses import dataclass

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import scope_of
from dolmen.domain.values import USER_SCOPE, Actor
from dolmen.services.recording import audit
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import EVERY_PROJECT, visible


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
    with rt.store.read() as tx:
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


def alias(rt: Runtime, actor: Actor, old: str, new: str) -> int:
    """Makes the old identity of a project a name for the new one, and moves its memories; returns how many (B125).

    Raises:
        DolmenError: `invalid-project`; `invalid-argument` when both are the same project, or one is the user scope;
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
                "conflict", f"{new} is an alias of {old} already.", "Name them the other way round, or leave it."
            )
        moved = tx.scopes.alias(actor.vault, before, after)
        audit(tx, actor, "project:alias", f"{_name(before)} -> {_name(after)}")
        return moved


def _name(scope: str) -> str:
    return scope.removeprefix("project:")
