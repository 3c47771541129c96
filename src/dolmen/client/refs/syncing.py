"""One round: what is referred to, what is found, what is reported."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from dolmen.client.refs.desk import Desk
from dolmen.client.refs.repository import Clock, open_repository

if TYPE_CHECKING:
    from dolmen.client.refs.looking import Why
    from dolmen.domain.code import Target

PAGE = 500
"""Targets that a desk gives at once; a shorter page is the last."""
MOST = 5_000
"""Targets of one round."""
_REPORT = 1_000
_SHARE = 0.75
"""Of the time: for looking. The rest is for the report, so that work is not lost at the end."""
_PATIENCE = 15.0
"""Seconds for one request where nothing else limits it."""


@dataclass(frozen=True, slots=True)
class Synced:
    """How a round went."""

    project: str
    commit: str = ""
    """The commit that was looked at; empty outside a repository with commits."""
    targets: int = 0
    checked: int = 0
    states: Mapping[str, int] = field(default_factory=dict)
    """References by the state that they are in by the report."""
    passed_over: Mapping[Why, int] = field(default_factory=dict)


def sync(desk: Desk, directory: Path, project: str, seconds: float | None = None) -> Synced:
    """Looks at everything that memories of the project refer to, in the repository of the directory, and reports it.

    Args:
        seconds: how long it may take; what is not looked at by then comes first the next time. None: as long as it
            takes.

    Raises:
        DolmenError: as the desk refuses, or `unavailable`.
    """
    clock = Clock(time.monotonic() + (seconds if seconds is not None else 3600.0))
    repository = open_repository(directory, None if seconds is None else seconds * _SHARE)
    if repository is None:
        return Synced(project)
    targets = _targets(desk, project, clock)
    if not targets:
        return Synced(project, repository.head)  # nothing of what looks at code was loaded
    from dolmen.client.refs.looking import look

    found = look(repository, targets)
    states: Counter[str] = Counter()
    for start in range(0, len(found.checks), _REPORT):
        some = found.checks[start : start + _REPORT]
        states.update(desk.report(project, repository.head, some, _patience(clock)))
    return Synced(project, repository.head, len(targets), len(found.checks), dict(states), dict(found.passed_over))


def _targets(desk: Desk, project: str, clock: Clock) -> list[Target]:
    found: dict[Target, None] = {}
    while len(found) < MOST:
        before = len(found)
        page = desk.targets(project, before, _patience(clock))
        found.update(dict.fromkeys(page))
        if len(page) < PAGE or len(found) == before:
            break
    return list(found)


def _patience(clock: Clock) -> float:
    """Never less than a little: a report that is tried is better than work that is lost."""
    return min(_PATIENCE, max(0.2, clock.end - time.monotonic()))
