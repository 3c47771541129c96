"""Keeps a folder and a vault in step: once, or as long as it is watched."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dolmen.client.mirror.acting import Acting
from dolmen.client.mirror.files import Folder, kept, prepare, sweep
from dolmen.client.mirror.lock import locked
from dolmen.client.mirror.names import same_name
from dolmen.client.mirror.planning import Action, Kind, Plan, Planner
from dolmen.client.mirror.scanning import Found, scan
from dolmen.client.mirror.state import State, load
from dolmen.client.mirror.vault import Vault
from dolmen.domain.errors import DolmenError
from dolmen.domain.mirroring import Standing

_ROUNDS = 4
"""Looks at most in a single run: what moved on meanwhile is taken with the next one."""
_STEADY = 1_000_000_000
"""Nanoseconds that a file has to stand still before it is taken while somebody may be typing."""
_LISTED = 10.0
"""Seconds, in the store of this machine."""
_IDLE = 20
"""So many times as long as a look takes is waited before the next: a twentieth of a processor at most."""
_CHANGED = "it was changed here, and this connection may only read"
_UPWARDS: Mapping[Kind, str] = {
    "create": _CHANGED, "change": _CHANGED, "merge": _CHANGED, "propose": _CHANGED, "restore": _CHANGED,
    "retract": "it was deleted here, and this connection may only read",
}  # fmt: skip
_FEW, _SHARE = 5, 0.2
"""So many files or notes may go at once, or that share of all; above both, somebody is asked."""


@dataclass(slots=True)
class Report:
    """What one run did, or would do."""

    counts: Counter[Kind] = field(default_factory=Counter)
    done: list[tuple[Kind, str]] = field(default_factory=list)
    """What changed on either side, with its path."""
    refused: dict[str, DolmenError] = field(default_factory=dict)
    passed: dict[str, str] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)
    later: list[str] = field(default_factory=list)

    def add(self, action: Action) -> None:
        self.counts[action.kind] += 1
        if action.kind not in ("settle", "forget"):
            self.done.append((action.kind, action.text if action.kind == "move" else action.entry.path))


@dataclass(frozen=True, slots=True)
class _Listing:
    newest: object
    at: float
    notes: dict[str, Standing]


@dataclass(slots=True)
class Mirror:
    """A folder that is opened for one process."""

    folder: Folder
    state: State
    vault: Vault
    clock: Callable[[], int] = time.time_ns
    """Nanoseconds, as the times of files are."""
    believed: float = _LISTED
    """Seconds for which a listing of the notes is believed while nobody seems to write."""
    _missed: set[str] = field(default_factory=set)
    _listed: _Listing | None = None

    def sync(
        self, *, force: bool = False, progress: Callable[[int, int | None], None] = lambda done, total: None
    ) -> Report:
        """Brings both sides in step.

        Raises:
            DolmenError: `conflict` when so much would go that somebody should look first; nothing was done then.
        """
        report = Report()
        for _ in range(_ROUNDS):
            planned = self._plan(watching=False)
            self._do(planned, report, force=force, progress=progress)
            if not report.later:
                break
        return report

    def rehearse(self) -> Report:
        """What `sync` would do; nothing is written on either side."""
        planned = self._plan(watching=False)
        report = Report(refused=planned.refused, passed=planned.passed, waiting=planned.waiting, later=planned.later)
        for action in planned.actions:
            report.add(action)
        return report

    def step(self, *, force: bool = False) -> Report:
        """One look while watching: files that somebody is writing are left for the next, and a file that is missing has
        to be missing twice, since many editors save by taking the old one away."""
        report = Report()
        planned = self._plan(watching=True)
        self._missed = planned.missing
        self._do(planned, report, force=force)
        return report

    def _plan(self, *, watching: bool) -> Plan:
        with kept(self.folder.local):
            self.state.read_shared()
        found = scan(self.folder.root, {entry.path for entry in self.state.entries.values()})
        planner = Planner(
            self.folder,
            self.state,
            self.vault,
            found,
            self._standing(fresh=not watching),
            steady=self._stands if watching else lambda found: True,
            missed=self._missed if watching else None,
        )
        planned = planner.plan()
        return _downwards(planned) if self.vault.mode == "read" else planned

    def _standing(self, *, fresh: bool) -> dict[str, Standing]:
        """The live notes; while watching, listed anew when one was written, and now and then anyway: a slow writer may
        be the older one, and a purge leaves no trace."""
        newest, now = self.vault.newest(), time.monotonic()
        known = self._listed
        if fresh or known is None or known.newest != newest or now - known.at > self.believed:
            known = self._listed = _Listing(newest, now, {each.id: each for each in self.vault.standing()})
        return known.notes

    def _do(
        self,
        planned: Plan,
        report: Report,
        *,
        force: bool,
        progress: Callable[[int, int | None], None] = lambda done, total: None,
    ) -> None:
        if not force:
            _ask(planned, len(self.state.entries))
        report.refused, report.passed, report.waiting = planned.refused, planned.passed, planned.waiting
        number = len(planned.actions)

        def told(action: Action) -> None:
            report.add(action)
            progress(sum(report.counts.values()), number)

        acting = Acting(self.folder, self.state, self.vault, told, self.clock)
        try:
            with kept(self.folder.local):
                acting.run(planned.actions)
        finally:
            present = (*planned.refused, *planned.passed, *planned.later, *acting.refused)
            with kept(self.folder.local):
                self.state.save(set(map(same_name, present)))
        if planned.actions:
            self._listed = None
        report.refused |= acting.refused
        report.later = [*planned.later, *acting.later]

    def _stands(self, found: Found) -> bool:
        """Whether a file has stood still for a moment."""
        age = self.clock() - found.mark[0]
        return age < 0 or age > _STEADY


def _downwards(planned: Plan) -> Plan:
    """The plan of a connection that may only read: the folder follows the vault, and what changed here stays here."""
    for action in planned.actions:
        if action.kind in _UPWARDS:
            planned.passed[action.entry.path] = _UPWARDS[action.kind]
    planned.actions = [action for action in planned.actions if action.kind not in _UPWARDS]
    planned.older.clear()
    return planned


def _ask(planned: Plan, known: int) -> None:
    if planned.older:
        raise DolmenError(
            "conflict",
            f"{len(planned.older)} of {known} notes are older in the vault than they were here, or lost there. "
            "Nothing was changed.",
            "Was an older copy of the store restored? `--force` writes the files' words into the notes; to decide "
            "about each in `dolmen review`, delete .dolmen/local in the folder first.",
            number=len(planned.older),
        )
    for kind, what, how in (
        ("retract", "files are gone", "delete their notes, which `dolmen note undo` brings back one by one"),
        ("remove", "notes are gone", "remove their files"),
    ):
        number = planned.number(kind)  # type: ignore[arg-type]  # two of the kinds
        if number > 1 and (number >= known or (number > _FEW and number > known * _SHARE)):
            raise DolmenError(
                "conflict",
                f"{number} of {known} {what}. Nothing was changed.",
                f"Is the folder mounted, and the store the right one? If so, `--force` will {how}.",
                number=number,
            )


@contextmanager
def open_mirror(root: Path, vault: Vault, *, vault_id: str, scope: str) -> Iterator[Mirror]:
    """Opens a folder for this process alone.

    Raises:
        DolmenError: `conflict` while another process mirrors it, or when it mirrors something else; `unavailable` when
            the folder cannot be written.
    """
    folder = prepare(root)
    with locked(folder.local, root):
        with kept(folder.local):
            sweep(folder)
            state = load(folder)
            _refuse_other(state, vault_id, scope)
            if (state.vault, state.scope) != (vault_id, scope):
                state.begin(vault_id, scope)
        try:
            yield Mirror(folder, state, vault)
        finally:
            state.close()


def rehearsal(root: Path, vault: Vault, *, vault_id: str, scope: str) -> Report:
    """What a mirror would do. Nothing is written, not even what a mirror keeps for itself."""
    folder = Folder(root)
    with kept(folder.local):
        state = load(folder)
    _refuse_other(state, vault_id, scope)
    return Mirror(folder, state, vault).rehearse()


def known_scope(root: Path) -> str:
    """The scope that a folder mirrors; empty for one that was never mirrored."""
    folder = Folder(root)
    with kept(folder.local):
        return load(folder).scope


def _refuse_other(state: State, vault: str, scope: str) -> None:
    if state.scope not in ("", scope):
        raise DolmenError(
            "conflict",
            f"This folder mirrors {state.scope.removeprefix('project:')}, not {scope.removeprefix('project:')}.",
            f"Leave --project out, or take another folder; to start over, delete {state.folder.root / '.dolmen'}.",
        )
    if state.vault not in ("", vault):
        raise DolmenError(
            "conflict",
            "This folder mirrors another vault.",
            f"Name its store with --database, or its server with --server; to make this vault its own, delete "
            f"{state.folder.local}.",
        )


def watch(mirror: Mirror, tell: Callable[[Report], None], stop: threading.Event, every: float = 1.0) -> None:
    """Looks again and again, until it is told to stop; it waits longer where a look takes long.

    Raises:
        DolmenError: as `Mirror.sync`.
    """
    while not stop.is_set():
        begun = time.monotonic()
        tell(mirror.step())
        stop.wait(max(every, _IDLE * (time.monotonic() - begun)))
