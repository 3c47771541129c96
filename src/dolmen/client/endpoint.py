"""Where the server is and with which key: for what runs beside the agent (hooks, code references)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dolmen.settings import Settings

FILE_NAME = "connections.json"
"""Beside the configuration file, for this user alone: what `dolmen install` entered for each client."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    url: str
    """Of the server's MCP endpoint, without the toolset: `http://127.0.0.1:7077/mcp`."""
    key: str = ""
    agent: str = ""
    """The name to go by where no key gives another."""
    named: bool = False
    """Whether it is another place than where a server of this machine would be."""

    @property
    def destination(self) -> str:
        """Stands for the address and the key without telling either: what waits for one is never sent to another."""
        return sha256(f"{self.url}\0{self.key}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def find(client: str, settings: Settings) -> Endpoint:
    """The endpoint of a client: as the settings say (`url`, `key`), else as `dolmen install` entered it, else this
    machine's own server."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)
    local = f"http://{host}:{settings.port}/mcp"
    url, key = settings.url, settings.key
    entry = load().get(client)
    if not url and isinstance(entry, dict) and entry.get("url"):
        url, key = str(entry["url"]), str(entry.get("key") or "") or key
    return Endpoint(url or local, key, client, named=url not in ("", local))


def file() -> Path:
    from dolmen.settings import default_file

    return default_file().with_name(FILE_NAME)


def load() -> dict[str, Any]:
    """Everything that was entered; empty when nothing was, or when it cannot be read."""
    try:
        found = json.loads(file().read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def enter(client: str, url: str, key: str) -> None:
    """Keeps a client's address and key.

    Raises:
        OSError
    """
    _write({**load(), client: {"url": url, "key": key}})


def strike(client: str) -> None:
    """Forgets a client's address and key.

    Raises:
        OSError
    """
    entries = load()
    if client in entries:
        _write({name: entry for name, entry in entries.items() if name != client})


def _write(entries: dict[str, Any]) -> None:
    from dolmen.client.hook.places import write_private

    place = file()
    place.parent.mkdir(parents=True, exist_ok=True)
    if entries:
        write_private(place, json.dumps(entries, indent=2).encode() + b"\n")
    elif place.exists():
        os.unlink(place)
