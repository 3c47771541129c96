"""GET /api/v1/refs, POST /api/v1/refs/check: what clients look at in their checkouts, and what they found (C-228)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from dolmen.domain.code import Check, Target
from dolmen.domain.errors import DolmenError
from dolmen.domain.values import Actor
from dolmen.interfaces.http.rest.endpoint import Asked
from dolmen.interfaces.mcp import clock
from dolmen.services.code import checking
from dolmen.services.runtime import Runtime
from dolmen.store.contract import AuditEntry
from dolmen.store.ids import rising

_new_id = rising(clock.now)
_TYPES: Mapping[str, type] = {each.name: bool if each.name == "found" else str for each in fields(Check)}


def listed(rt: Runtime, actor: Actor, asked: Asked) -> Mapping[str, Any]:
    """References to check for the project that `project` names. `offset` pages; with `checked=1` each target says also
    at which commit somebody looked last."""
    asked.only("project", "offset", "checked")
    offset = asked.query.get("offset", "0")
    if not (offset.isdecimal() and len(offset) < 10):
        raise DolmenError("invalid-argument", f"offset {offset[:20]!r} is no number.", "Use a number from 0.")
    found = checking.targets(rt, actor, asked.query.get("project"), int(offset))
    who = (actor.vault, clock.now(), actor.connection, actor.agent)
    rt.journal.audit(AuditEntry(_new_id(), *who, "refs:targets", found.scope, actor.origin))
    checked = asked.query.get("checked") == "1"
    return {"scope": found.scope, "targets": [_target(each, checked) for each in found.targets]}


def _target(target: Target, checked: bool) -> dict[str, str]:
    """An anchor that is not there is left out."""
    anchor = {"anchor_commit": target.anchor_commit, "anchor_hash": target.anchor_hash}
    seen = {"checked_commit": target.checked_commit} if checked else {}
    said = {name: value for name, value in {**anchor, **seen}.items() if value}
    return {"path": target.path, "symbol": target.symbol, **said}


def reported(rt: Runtime, actor: Actor, asked: Asked) -> Mapping[str, Any]:
    """Keeps a report, and answers how many references are in each state by it."""
    asked.only()
    body = asked.body
    if not isinstance(body, dict):
        raise DolmenError("invalid-argument", "The body is no object.", 'Send {"project", "commit", "results"}.')
    if unknown := sorted(set(body) - {"project", "commit", "results"}):
        raise DolmenError("invalid-argument", f"Unknown field {unknown[0]!r}.", "Leave it out.")
    project, commit, results = body.get("project"), body.get("commit"), body.get("results")
    if not isinstance(commit, str) or not (project is None or isinstance(project, str)):
        raise DolmenError("invalid-argument", "project or commit is no text.", "Send both as texts.")
    if not isinstance(results, list):
        raise DolmenError("invalid-argument", "results is no list.", "Send a list of results.")
    done = checking.report(rt, actor, project, commit, [_check(each) for each in results])
    return {
        "updated": done.updated,
        "anchored": done.anchored,
        "unmatched": done.unmatched,
        "states": dict(done.states),
    }


def _check(result: object) -> Check:
    if not isinstance(result, dict):
        raise DolmenError("invalid-argument", "A result is no object.", "Send objects with path, symbol, found, hash.")
    for name, value in result.items():
        if name not in _TYPES:
            raise DolmenError("invalid-argument", f"A result has the unknown field {name[:40]!r}.", "Leave it out.")
        if not isinstance(value, _TYPES[name]):
            kind = "true or false" if _TYPES[name] is bool else "a text"
            raise DolmenError("invalid-argument", f"{name} of a result is not {kind}.", f"Correct {name}.")
    return Check(**{"path": "", "symbol": "", **result})
