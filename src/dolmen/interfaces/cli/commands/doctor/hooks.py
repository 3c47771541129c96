"""The session hooks: which clients run them, whether they can, how they last went, and what still waits."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dolmen.client import endpoint
from dolmen.client.editing import jsonc
from dolmen.client.hook import places, spool, status
from dolmen.domain.errors import DolmenError
from dolmen.interfaces.cli.commands.doctor.finding import Finding, ok, warn
from dolmen.interfaces.cli.commands.doctor.server import tools
from dolmen.interfaces.cli.commands.install.planning import registered
from dolmen.interfaces.clients.places import place
from dolmen.interfaces.clients.targets import TARGETS, Target

if TYPE_CHECKING:
    from dolmen.settings import Settings

_RECENT = 7 * 24 * 3600
_RENEWED_WITHIN = 5.0
"""Seconds that renewing a token may take."""
_COMMAND = re.compile(r'"command"\s*:\s*("(?:[^"\\]|\\.)*")')


def hooks(settings: Settings) -> Iterator[Finding]:
    home, here = Path.home(), Path.cwd()
    seen: set[Path] = set()
    for target in TARGETS:
        running: list[Path] = []
        for name in (target.hooks.user, target.hooks.project) if target.hooks else ():
            file = place(name, home, here) if name else None
            if file is not None and file.is_file() and file not in seen:
                seen.add(file)
                yield from _look(target, file, running)
        if running:
            yield _last(target, running)
            yield from _reached(target, settings)
    yield from _waiting(settings)


def _look(target: Target, file: Path, running: list[Path]) -> Iterator[Finding]:
    """A file that may run the hook, added to `running` if it can; one that cannot be read is another check's."""
    try:
        text = file.read_text(encoding="utf-8-sig")
        events = registered(target, text)
    except (OSError, ValueError):
        return
    if not events or target.hooks is None:
        return
    again = f"dolmen install {target.client}"
    if missing := [event for event in target.hooks.events if event not in events]:
        yield warn("hooks", f"{target.title} ({file}): {', '.join(missing)} is not there.", f"Write it anew: {again}")
    if gone := _gone(text):
        if _is_path(gone):
            fault, fix = "is not there", f"Write it anew: {again}"
        else:
            fault, fix = (
                "is not on the PATH",
                f"Put it there: mkdir -p ~/.local/bin && ln -sf {Path(sys.executable).with_name(gone)} ~/.local/bin/",
            )
        yield warn("hooks", f"{target.title} ({file}) starts {gone}, which {fault}.", fix)
        return
    if target.client == "codex":
        yield from _trusted(file, text)
    running.append(file)


def _gone(text: str) -> str:
    """The program of an entry that cannot be started: nothing is at its path, or its name is not on the PATH."""
    for command in map(json.loads, _COMMAND.findall(text)):
        if " hook " not in command:
            continue
        try:
            program = shlex.split(command)[0]
        except (ValueError, IndexError):
            continue
        if not (Path(program).exists() if _is_path(program) else shutil.which(program)):
            return program
    return ""


def _is_path(program: str) -> bool:
    return "/" in program or "\\" in program


def _last(target: Target, files: Sequence[Path]) -> Finding:
    last, where = status.last(target.client), f"{target.title} ({', '.join(map(str, files))})"
    if last is None:
        return ok("hooks", f"{where}: there, and has not run yet")
    age = int(time.time()) - last.at
    ran = f"{where}: last session began {_ago(age)}"
    if last.problem and age < _RECENT:
        return warn(
            "hooks",
            f"{ran}, and had trouble: {last.problem}",
            "Put that right, and begin a session.",
        )
    return ok("hooks", f"{ran}, and had its context")


def _ago(seconds: int) -> str:
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"


def _reached(target: Target, settings: Settings) -> Iterator[Finding]:
    """Whether the address and the key or sign-in that the hook uses open the door."""
    found = endpoint.find(target.client, settings)
    try:
        bearer = found.bearer(_RENEWED_WITHIN)
    except DolmenError as error:
        yield warn("hooks", f"{target.title}: {error.message}", error.fix)
        return
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    answer = tools(found.url, headers)
    if answer is None and found.named:
        yield warn(
            "hooks",
            f"{target.title}: no server answers at {found.url}; sessions begin without memory.",
            f"Start it: dolmen serve. Or name another: dolmen install {target.client} --url URL",
        )
    elif answer is not None and answer.status != 200:
        yield warn(
            "hooks",
            f"{target.title}: the hook is refused at {found.url} ({answer.status}): {answer.message}",
            answer.fix or f"Give it a key: dolmen install {target.client} --new-key",
        )


# ---------------------------------------------------------------------------------------------------------------- Codex
def _trusted(file: Path, text: str) -> Iterator[Finding]:
    """Codex runs only hooks that the person approved, and says nothing about others (B111).

    It keeps a hash of each in its configuration; a hook that was changed since has another one.
    """
    try:
        kept = tomllib.loads((file.parent / "config.toml").read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        kept = {}
    own = kept.get("hooks")
    states = own.get("state") if isinstance(own, dict) else None
    wrong = [event for event, place_, hash in _fingerprints(file, text) if _hash_in(states, place_) != hash]
    if wrong:
        yield warn(
            "hooks",
            f"Codex does not run the hook for {', '.join(wrong)}: it was not approved, or was changed since.",
            "Type /hooks in Codex and approve Dolmen's.",
        )


def _hash_in(states: Any, name: str) -> str:
    state = states.get(name) if isinstance(states, Mapping) else None
    return str(state.get("trusted_hash", "")) if isinstance(state, Mapping) else ""


def _fingerprints(file: Path, text: str) -> Iterator[tuple[str, str, str]]:
    """(event, the name under which Codex keeps its state, its hash) of each of this program's entries."""
    for event, groups in jsonc.read(text).get("hooks", {}).items():
        label = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
        for number, group in enumerate(groups if isinstance(groups, list) else ()):
            for position, handler in enumerate(group.get("hooks", ()) if isinstance(group, Mapping) else ()):
                if isinstance(handler, Mapping) and " hook codex" in str(handler.get("command", "")):
                    known = {key: handler[key] for key in ("type", "command", "timeout") if key in handler}
                    said = {"event_name": label, "hooks": [{**known, "async": False}]}
                    data = json.dumps(said, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
                    yield (
                        event,
                        f"{file}:{label}:{number}:{position}",
                        f"sha256:{hashlib.sha256(data.encode()).hexdigest()}",
                    )


# ------------------------------------------------------------------------------------------------------------- waiting
def _waiting(settings: Settings) -> Iterator[Finding]:
    entries = list(spool.waiting())
    ours = {endpoint.find(target.client, settings).destination for target in TARGETS}
    if lost := [entry for entry in entries if entry.destination not in ours]:
        yield warn(
            "hooks",
            f"{len(lost)} session summaries wait for an address or key that no client has any more.",
            "Enter it again: dolmen install CLIENT --url URL --key KEY. They are kept for 30 days.",
        )
    elif entries:
        yield ok("hooks", f"{len(entries)} session summaries are delivered when the next session begins")
    refused = list((places.root() / "spool").glob(f"*{spool.REFUSED}"))
    if refused:
        yield warn(
            "hooks",
            f"{len(refused)} session summaries were refused by the server for good.",
            f"Read them, then: rm '{refused[0].parent}'/*{spool.REFUSED}",
        )
