"""A server, and folders on other machines that mirror its notes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from dolmen.client.endpoint import Endpoint
from dolmen.client.mirror import Report, open_mirror
from dolmen.client.mirror.served import ServedVault
from dolmen.client.mirror.wire import Wire
from dolmen.services.notes.creating import create_note
from dolmen.services.notes.editing import edit_note
from dolmen.services.notes.mirroring import Mirroring
from dolmen.services.notes.reading import read_note
from dolmen.services.requests.notes import NewNote, NoteEdit, NoteView
from tests.interfaces.conftest import Serve, Served


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Far:
    """A folder on another machine, and the key with which it reaches the server."""

    served: Served
    root: Path
    key: str
    url: str = ""
    """Another way to the server than the straight one."""
    whole: float = 300.0
    """Seconds for a whole answer."""
    meanwhile: Callable[[], object] = lambda: None
    waited: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @contextmanager
    def vault(self, project: str = "user") -> Iterator[ServedVault]:
        wire = Wire(Endpoint(self.url or self.served.url, self.key, "mirror"), self.pause, self.said.append, self.whole)
        try:
            yield ServedVault(wire, project)
        finally:
            wire.close()

    def pause(self, seconds: float) -> None:
        """What happens while it waits."""
        self.waited.append(seconds)
        self.meanwhile()

    def sync(self, **how: Any) -> Report:
        with self.vault() as vault:
            id, scope = vault.about()
            with open_mirror(self.root, vault, vault_id=id, scope=scope) as mirror:
                mirror.clock = lambda: time.time_ns() + 10_000_000_000  # long after the files were written
                done: Report = mirror.sync(**how)
                return done

    def put(self, path: str, text: str) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode())
        return file

    def text(self, path: str) -> str:
        return (self.root / path).read_bytes().decode()

    def files(self) -> dict[str, str]:
        return {
            path.relative_to(self.root).as_posix(): path.read_bytes().decode()
            for path in sorted(self.root.rglob("*.md"))
        }


Machine = Callable[..., Far]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A function that sets up a folder which mirrors a server, with a fresh key."""
    made: list[Far] = []

    def set_up(served: Served, **how: Any) -> Far:
        root = tmp_path / f"machine{len(made)}"
        root.mkdir()
        made.append(Far(served, root, how.pop("key", None) or served.key("laptop", **how)))
        return made[-1]

    return set_up


@pytest.fixture(params=["sqlite", "postgres"])
def server(request: pytest.FixtureRequest, serve: Serve) -> Served:
    return serve(request.param)


def sources(served: Served) -> dict[str, str]:
    """Every live note's Markdown, by its id."""
    notes = Mirroring(served.rt, served.owner(), "user")
    found = {each.id: notes.read(each.id) for each in notes.standing()}
    return {id: state.source for id, state in found.items() if state is not None}


def note(served: Served, ref: str) -> NoteView:
    return read_note(served.rt, served.owner(), ref)


def new(served: Served, content: str, **fields: Any) -> str:
    return create_note(served.rt, served.owner(), NewNote(content, **fields)).ref


def edit(served: Served, ref: str, op: Any, content: str | None = None, **more: Any) -> None:
    edit_note(served.rt, served.owner(), NoteEdit(ref, op, content, **more))
