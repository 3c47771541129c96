"""The hook's process: reads one payload, handles it within its time, prints at most one JSON object, ends with 0."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dolmen.client.hook import status
from dolmen.client.hook.adapters import adapter_for
from dolmen.client.hook.event import IGNORED, Adapter, Event, Kind
from dolmen.client.hook.running import Run
from dolmen.domain.errors import DolmenError

if TYPE_CHECKING:
    from dolmen.client.endpoint import Endpoint
    from dolmen.client.hook.memory import Memory
    from dolmen.domain.identity import ProjectIdentity
    from dolmen.settings import Settings

REFERENCES = 2.0
"""Seconds for looking at the code that memories refer to."""
INPUT_LIMIT = 16 * 1024 * 1024
"""Bytes of a payload; what is longer is not read as one."""
HARD: Mapping[Kind, float] = {
    "start": 6.0, "prompt": 2.0, "answer": 2.0, "compacted": 2.0, "end": 2.5, "ignored": 2.0,
}  # fmt: skip
"""Seconds after which the process ends whatever it is doing (B102). Codex allows 3 for the end of a session."""

Local = Callable[["Settings", str], "Memory | None"]
"""(settings, agent) -> the store of this machine, None when there is none."""


def run(client: str, local: Local) -> None:
    """Handles the payload on standard input and ends the process with 0, whatever it was given."""
    output = _Output()
    timer = _after(HARD["prompt"], output.end)
    surroundings = _Surroundings(client, local)
    adapter, event = adapter_for(client), IGNORED
    try:
        payload = _payload(sys.stdin.buffer.read(INPUT_LIMIT + 1))
        if adapter is not None and payload is not None:
            event = adapter.read(payload)
            if event.kind == "ignored":
                return
            timer.cancel()
            timer = _after(HARD[event.kind], lambda: output.end(_out_of_time(adapter, event)))
            output.write(surroundings.run(adapter).handle(event))
            surroundings.leave(event)
    except Exception as error:
        status.note(client, [f"The hook failed ({type(error).__name__}: {error}). Please report it."])
        output.write(_failed(adapter, event))
    finally:
        timer.cancel()
        output.end()


@dataclass
class _Surroundings:
    """What a run works with, each part made when it is asked for."""

    client: str
    local: Local
    complaints: list[str] = field(default_factory=list)
    _common: Path | None = None

    def run(self, adapter: Adapter) -> Run:
        return Run(
            adapter=adapter,
            endpoint=lambda: self.endpoint,
            memory=lambda: self.memory,
            identity=self.identity,
            notice=self.notice,
            refs=_check_references,
            complain=self.complaints.append,
        )

    def leave(self, event: Event) -> None:
        """Keeps for `dolmen doctor` how it went, and closes what was opened."""
        if event.kind == "start" or self.complaints:
            status.note(self.client, self.complaints)
        if "memory" in self.__dict__:
            self.memory.close()

    @cached_property
    def settings(self) -> Settings:
        from dolmen.settings import load

        return load().settings

    @cached_property
    def endpoint(self) -> Endpoint:
        from dolmen.client.endpoint import find

        return find(self.client, self.settings)

    @cached_property
    def memory(self) -> Memory:
        """The server; where none was named and none runs, the store of this machine."""
        from dolmen.client.remote import Remote

        remote = Remote(self.endpoint)
        if self.endpoint.named or remote.there():
            return remote
        return self.local(self.settings, self.client) or remote

    def identity(self, directory: Path) -> ProjectIdentity:
        """The project of a directory, as `dolmen mcp` and the command line name it (B134)."""
        from dolmen.client import git
        from dolmen.client.workplace import default_project

        if self.settings.project:
            return default_project(self.settings.project, directory)
        identity, self._common = git.located(directory)
        return identity

    def notice(self, directory: Path, identity: ProjectIdentity) -> str:
        from dolmen.client.hook.repositories import renamed, unconfirmed

        place = self._common or directory
        said = (renamed(self._common, identity) if self._common else "", unconfirmed(place, identity))
        return "\n".join(filter(None, said))


def _check_references(memory: Callable[[], Memory], directory: Path, identity: ProjectIdentity) -> None:
    """Looks at the code that memories refer to, within two seconds (C-218, C-224); a session starts without it too."""
    from dolmen.client.refs import sync

    if identity.project is None:
        return
    began = time.monotonic()
    try:
        sync(memory().desk(), directory, identity.project, REFERENCES)
    except Exception as error:  # whatever it is, the context matters more
        if isinstance(error, DolmenError) and time.monotonic() - began > REFERENCES / 2:
            raise  # but a server that is silent is not asked a second time (B102)


class _Output:
    """Standard output, written once, by whoever comes first: the work or the clock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._written = False

    def write(self, text: str) -> None:
        with self._lock:
            if self._written or not text:
                return
            self._written = True
            try:
                sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
                sys.stdout.buffer.flush()
            except (OSError, ValueError):
                pass  # the client has gone

    def end(self, text: str = "") -> None:
        """Ends the process at once, with 0: no thread, no full pipe and no failure may hold or fail a session."""
        self.write(text)
        os._exit(0)


def _after(seconds: float, act: Callable[[], None]) -> threading.Timer:
    timer = threading.Timer(seconds, act)
    timer.daemon = True
    timer.start()
    return timer


def _out_of_time(adapter: Adapter, event: Event) -> str:
    if event.kind == "start":
        status.note(adapter.client, ["The session began without memory: it took too long."])
    return _failed(adapter, event)


def _failed(adapter: Adapter | None, event: Event) -> str:
    """The notice at a start; whatever else fails, fails in silence."""
    if adapter is None or event.kind != "start":
        return ""
    return adapter.say(event, "", "Memory is not available in this session. `dolmen doctor` tells why.")


def _payload(data: bytes) -> Mapping[str, Any] | None:
    """The JSON object; None for anything else, which is what a client might send one day."""
    if len(data) > INPUT_LIMIT:
        return None
    try:
        found = json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
