"""Where the server is and with which key or sign-in: for what runs beside the agent (hooks, code references)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dolmen.client.signin.kept import SignIn
    from dolmen.settings import Settings

FILE_NAME = "connections.json"
"""Beside the configuration file, for this user alone: what `dolmen install` entered for each client."""
SIGN_INS = "sign-ins.json"
"""Beside it: the tokens of `dolmen login`."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    url: str
    """Of the server's MCP endpoint, without the toolset: `http://127.0.0.1:7077/mcp`."""
    key: str = ""
    agent: str = ""
    """The name to go by where no key gives another."""
    named: bool = False
    """Whether it is another place than where a server of this machine would be."""
    account: str = ""
    """What `dolmen login` signed in as, where there is no key."""

    def bearer(self, seconds: float) -> str:
        """What to show to the server: the key, or an access token that holds. Empty without either.

        Raises:
            DolmenError: `unauthorized` when the sign-in has ended; `unavailable` when it cannot be renewed in time.
        """
        if self.key or not self.account:
            return self.key
        from dolmen.client.signin.kept import access

        return access(self.url, seconds)

    @property
    def destination(self) -> str:
        """Stands for the address and the key or sign-in without telling any: what waits for one is never sent to
        another."""
        return sha256(f"{self.url}\0{self.key or self.account}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def find(client: str, settings: Settings) -> Endpoint:
    """The endpoint of a client: as the settings say (`url`, `key`), else as `dolmen install` entered it, else where
    `dolmen login` signed in last, else this machine's own server."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(settings.host, settings.host)
    local = f"http://{host}:{settings.port}/mcp"
    url, key = settings.url, settings.key
    entry = load().get(client)
    if not url and isinstance(entry, dict) and entry.get("url"):
        url, key = str(entry["url"]), str(entry.get("key") or "") or key
    if not key and (signed_in := _signed_in(url)) is not None:
        return Endpoint(url or signed_in.url, "", client, named=True, account=signed_in.client)
    return Endpoint(url or local, key, client, named=url not in ("", local))


def _signed_in(url: str) -> SignIn | None:
    """The sign-in to a server, or the latest where none is named. Most machines have none, and hooks little time."""
    if not file().with_name(SIGN_INS).exists():
        return None
    from dolmen.client.signin.kept import kept, latest

    return kept(url) if url else latest()


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
