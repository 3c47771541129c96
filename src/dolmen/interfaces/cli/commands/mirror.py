"""`dolmen mirror`: a folder of Markdown files and the vault's notes, kept in step both ways."""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.commands.memory import options
from dolmen.interfaces.cli.commands.mirror_place import Place, endpoint_of, opened
from dolmen.interfaces.cli.exits import FAILED
from dolmen.interfaces.cli.here import Here, command
from dolmen.interfaces.cli.output import Output
from dolmen.interfaces.cli.visible import for_json, for_terminal, one_line

if TYPE_CHECKING:
    from dolmen.client.mirror import Mirror, Report

_LISTED = 50
_WORDS = {
    "create": ("new note", "new notes"),
    "change": ("note changed", "notes changed"),
    "rename": ("note renamed", "notes renamed"),
    "restore": ("note restored", "notes restored"),
    "retract": ("note deleted", "notes deleted"),
    "add": ("new file", "new files"),
    "write": ("file changed", "files changed"),
    "move": ("file renamed", "files renamed"),
    "remove": ("file removed", "files removed"),
    "merge": ("merged", "merged"),
    "propose": ("for review", "for review"),
}
"""What was done, in the order in which it is told: the vault followed the folder, the folder the vault, both."""
_PASSING = ("store-busy", "unavailable", "rate-limited")
_AFAR, _BELIEVED = 5.0, 300.0
"""Seconds between two looks at a server, so that they stay far below any limit of requests, and for which its listing
of the notes is believed while nobody writes."""


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "--watch",
    "watching",
    is_flag=True,
    help="Keep them in step until Ctrl-C, with a look every second (at a server: five).",
)
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("--force", is_flag=True, help="Also when very many files or notes are gone.")
@click.option("--server", metavar="URL", help="The Dolmen server that has the notes. [default: the folder's so far]")
@options.project
@command
def mirror(
    here: Here, folder: Path, watching: bool, dry_run: bool, force: bool, server: str | None, project: str | None
) -> None:
    """Keep a folder of Markdown files and the notes in step.

    You edit in any editor and commit to git, agents write through Dolmen. What both changed is merged block by block;
    where both changed the same blocks, your version waits in `dolmen review` and the file stays as it is.

    A renamed file stays the note that it was. A deleted file deletes its note (`dolmen note undo` brings it back).
    Hidden folders and links are passed over, and no byte of a file changes unless its note did.

    The project is the one that the folder has had so far, else this one's. A new folder mirrors the server that
    --server or DOLMEN_URL names or `dolmen login` signed in to, else the store of this machine; later runs know it. A
    key that may only suggest has your changes wait there; one that may only read mirrors down alone.
    """
    from dolmen.client.mirror import open_mirror, rehearsal
    from dolmen.client.mirror.home import keep_server, server_of

    if watching and (dry_run or force):
        raise DolmenError("invalid-argument", "--watch goes with neither --dry-run nor --force.", "Run once first.")
    root = folder.absolute()
    if not root.is_dir():
        fault = "is a file, not a folder" if root.exists() else "is not there"
        raise DolmenError("not-found", f"{folder} {fault}.", "Make an empty folder, or name the one with your notes.")
    known = _known_project(root)
    with opened(here, endpoint_of(here, root, server), project, known, dry_run=dry_run) as place:
        if project is None and (not known or server_of(root) is None):
            mirrored = "your own notes" if place.scope == "user" else f"the notes of {place.scope[len('project:') :]}"
            where = f" at {place.server}" if place.server else ""
            why = "as its list of notes says" if known else "--project and --user choose"
            here.out.note(f"new here: this folder mirrors {mirrored}{where}; {why}")
        if dry_run:
            _show(here, rehearsal(root, place.vault, vault_id=place.id, scope=place.scope))
            return
        with open_mirror(root, place.vault, vault_id=place.id, scope=place.scope) as mirrored_folder:
            keep_server(root, place.server, place.destination)
            if watching:
                _watch(here, mirrored_folder, place)
                return
            progress = here.out.progress("mirroring")
            report = mirrored_folder.sync(force=force, progress=progress)
            progress.end()
            _show(here, report)


def _known_project(root: Path) -> str:
    """The project that the folder mirrors, `user` for none; empty when it mirrors nothing yet."""
    from dolmen.client.mirror import known_scope

    return known_scope(root).removeprefix("project:")


# ------------------------------------------------------------------------------------------------------- telling
def _show(here: Here, report: Report) -> None:
    here.out.result(_plain(report), _lines(here.out, report))
    if report.refused:
        sys.exit(FAILED)


def _plain(report: Report) -> dict[str, Any]:
    return {
        **{kind: report.counts[kind] for kind in _WORDS},  # type: ignore[index]  # they are kinds
        "done": [{"what": kind, "path": path} for kind, path in report.done],
        "refused": [
            {"path": path, "code": error.code, "message": error.message} for path, error in report.refused.items()
        ],
        "passed": [{"path": path, "why": why} for path, why in report.passed.items()],
        "waiting": report.waiting,
        "later": report.later,
    }


def _lines(out: Output, report: Report) -> list[str]:
    told = ((report.counts[kind], one, many) for kind, (one, many) in _WORDS.items())  # type: ignore[index]  # as above
    counts = [f"{number} {one if number == 1 else many}" for number, one, many in told if number]
    lines = [", ".join(counts) or "in step: nothing to do"]
    lines += _some(out, [f"{_WORDS[kind][0]}: {one_line(path)}" for kind, path in report.done])
    lines += _some(out, [f"waits for you in `dolmen review`: {one_line(path)}" for path in report.waiting])
    lines += _some(out, [f"refused: {one_line(path)}: {error.message}" for path, error in report.refused.items()])
    lines += _some(out, [f"left alone: {one_line(path)}: {why}" for path, why in report.passed.items()])
    return lines + _some(out, [f"is being written, next time: {one_line(path)}" for path in report.later])


def _some(out: Output, lines: list[str]) -> list[str]:
    more = len(lines) - _LISTED
    return lines if more <= 0 else [*lines[:_LISTED], out.dim(f"… and {more} more")]


# ------------------------------------------------------------------------------------------------------ watching
def _watch(here: Here, opened: Mirror, place: Place) -> None:
    stop = threading.Event()
    every = 1.0
    if place.wire is not None:
        place.wire.pause = stop.wait
        every, opened.believed = _AFAR, _BELIEVED

    def end(*_: object) -> None:
        stop.set()
        if place.wire is not None:
            place.wire.leave()

    before = {each: signal.signal(each, end) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        here.out.note(f"watching {opened.folder.root}; Ctrl-C ends it")
        _look(here, opened, _Telling(here.out), stop, every)
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _look(here: Here, opened: Mirror, tell: Callable[[Report], None], stop: threading.Event, every: float) -> None:
    from dolmen.client.mirror import watch

    while not stop.is_set():
        try:
            watch(opened, tell, stop, every)
        except DolmenError as error:
            if error.code not in _PASSING:
                raise
            if not stop.is_set():
                here.out.warn(f"{error.message} It is tried again.")
            stop.wait(5)


@dataclass(slots=True)
class _Telling:
    """Tells what happens while a folder is watched, each thing once: a line each, JSON lines for programs."""

    out: Output
    said: frozenset[str] = frozenset()

    def __call__(self, report: Report) -> None:
        for kind, path in report.done:
            self._say({"what": kind, "path": path}, f"{_WORDS[kind][0]}: {one_line(path)}")
        problems = {
            f"refused: {one_line(path)}: {error.message}": ("refused", path) for path, error in report.refused.items()
        }
        problems |= {f"left alone: {one_line(path)}: {why}": ("passed", path) for path, why in report.passed.items()}
        for line, (what, path) in problems.items():
            if line not in self.said:
                self._say({"what": what, "path": path, "message": line}, line)
        self.said = frozenset(problems)

    def _say(self, value: dict[str, str], line: str) -> None:
        click.echo(for_json(json.dumps(value, ensure_ascii=False)) if self.out.as_json else for_terminal(line))
