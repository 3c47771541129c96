"""What clients are to look at in their checkouts, and what they found there (C-224, C-228, C-231)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from dolmen.domain.access import require
from dolmen.domain.code import Check, CodeRef, Target, checked, mark_of, valid_commit, valid_path, valid_symbol
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import USER_SCOPE, Actor
from dolmen.services.code.following import remark
from dolmen.services.recording import audit
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import EVERY_PROJECT, only, scope_for, visible
from dolmen.store.contract import Filter, Tx

TARGETS_LIMIT = 500
"""Targets of one answer."""
CHECKS_LIMIT = 1_000
"""Results of one report."""
_FIELD_LIMIT = 300


@dataclass(frozen=True, slots=True)
class Targets:
    scope: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Checked:
    """What became of a report."""

    updated: int = 0
    """References that it spoke of."""
    anchored: int = 0
    unmatched: int = 0
    """Results that spoke of none."""
    states: Mapping[str, int] = field(default_factory=dict)
    """Updated references by the state that they are in now."""


def targets(rt: Runtime, actor: Actor, project: str | None, offset: int = 0) -> Targets:
    """The files and symbols that the served and proposed memories of a project refer to, at most 500 from `offset` on.

    Those that nobody has looked at come first, then those that were looked at longest ago.

    Raises:
        DolmenError: `invalid-project` when no project is named.
    """
    require(actor, "read")
    if offset < 0:
        raise DolmenError("invalid-argument", f"offset {offset} is out of range.", "Use a number from 0.")
    with rt.read(actor) as tx:
        sight = _sight(tx, actor, project)
        found = tx.code_refs.targets(sight, TARGETS_LIMIT, offset)
    assert sight.scopes is not None
    return Targets(sight.scopes[0], tuple(found))


def report(rt: Runtime, actor: Actor, project: str | None, commit: str, checks: Sequence[Check]) -> Checked:
    """Keeps what a client found at a commit; the memories that are stale by it are marked in the same transaction.

    Raises:
        DolmenError: `too-large` for more than 1,000 results; `invalid-argument` naming a wrong field; `read-only`, or
            `forbidden` for a connection in mode `suggest`.
    """
    require(actor, "write")
    if actor.mode == "suggest":
        raise DolmenError(
            "forbidden", "A connection in mode `suggest` may not report.", "Use a connection in mode `write`."
        )
    if len(checks) > CHECKS_LIMIT:
        raise DolmenError(
            "too-large", f"{len(checks)} results in one report.", f"Send at most {CHECKS_LIMIT}; then send the rest."
        )
    if not valid_commit(commit):
        raise _wrong("commit", "a commit id of 7 to 64 lowercase hexadecimal digits")
    for check in checks:
        _validate(check)
    with rt.write(actor) as tx:
        done = _apply(tx, actor, _sight(tx, actor, project), commit, checks)
        if done.updated:
            audit(tx, actor, "refs:check", f"{done.updated} at {commit[:12]}")
        return done


def counts(tx: Tx, actor: Actor, project: str | None) -> dict[str, int]:
    """How many references of a project's memories (`*`: of every one) are in each state."""
    return tx.code_refs.counts(visible(tx, actor, project, statuses=("active", "proposed")))


def _sight(tx: Tx, actor: Actor, project: str | None) -> Filter:
    scope = USER_SCOPE if project == EVERY_PROJECT else scope_for(tx, actor, project)
    if scope == USER_SCOPE:
        raise DolmenError(
            "invalid-project",
            "Code references belong to one project.",
            "Pass the repository's git remote URL (git remote get-url origin), or its project name.",
        )
    return only(tx, actor, scope, statuses=("active", "proposed"))


def _apply(tx: Tx, actor: Actor, sight: Filter, commit: str, checks: Sequence[Check]) -> Checked:
    known: dict[tuple[str, str], list[CodeRef]] = {}
    for ref in tx.code_refs.about(sight, [(check.path, check.symbol) for check in checks]):
        known.setdefault((ref.path, ref.symbol), []).append(ref)
    saved: list[CodeRef] = []
    turned: list[str] = []
    anchored = unmatched = 0
    for check in checks:
        pairs = [(ref, checked(ref, check, commit, tx.now)) for ref in known.get((check.path, check.symbol), ())]
        done = [(ref, after) for ref, after in pairs if after is not None]
        unmatched += not done
        saved += [after for _, after in done]
        turned += [ref.memory for ref, after in done if mark_of([ref]) != mark_of([after])]
        anchored += sum(after.anchor_commit != ref.anchor_commit for ref, after in done)
    tx.code_refs.hold(actor.vault, turned)
    tx.code_refs.save(actor.vault, saved)
    remark(tx, actor.vault, turned)
    return Checked(len(saved), anchored, unmatched, dict(Counter(ref.state for ref in saved)))


def _validate(check: Check) -> None:
    if not (check.path or check.symbol):
        raise _wrong("path", "set, and neither is symbol; one of them is needed")
    if check.path and not valid_path(check.path):
        raise _wrong("path", "a path inside a repository")
    if check.symbol and not valid_symbol(check.symbol):
        raise _wrong("symbol", "an identifier")
    if check.anchor_commit and not valid_commit(check.anchor_commit):
        raise _wrong("anchor_commit", "a commit id")
    if check.found and not check.hash:
        raise _wrong("hash", "there, although the target was found")
    for name, value in (("hash", check.hash), ("resolved_path", check.resolved_path)):
        if len(value) > _FIELD_LIMIT or not value.isprintable():
            raise _wrong(name, f"a printable text of at most {_FIELD_LIMIT} characters")


def _wrong(name: str, rule: str) -> DolmenError:
    return DolmenError("invalid-argument", f"{name} of a result is not {rule}.", f"Correct {name}.")
