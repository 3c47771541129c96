"""Where the notes of a folder are kept: on which server, or in the store of this machine."""

from __future__ import annotations

from pathlib import Path

from dolmen.client.mirror.files import Folder, kept, replace_file
from dolmen.client.mirror.state import load

_FILE = "server"


def server_of(root: Path) -> tuple[str, str] | None:
    """The address of the server that a folder mirrors, and the `destination` under which it was reached; both empty
    for the store of this machine, None where it was never mirrored on this machine."""
    folder = Folder(root)
    file = folder.local / _FILE
    with kept(folder.local):
        if file.is_file():
            lines = file.read_bytes().decode("utf-8", "replace").split()
            return (lines[0], lines[-1]) if lines else ("", "")
        return ("", "") if load(folder).vault else None


def keep_server(root: Path, url: str, destination: str) -> None:
    """Keeps the address for the next run; empty for the store of this machine. The folder is one that is mirrored."""
    folder = Folder(root)
    file = folder.local / _FILE
    with kept(folder.local):
        if url:
            replace_file(file, f"{url}\n{destination}\n")
        else:
            file.unlink(missing_ok=True)
