"""The door for session hooks: `dolmen hook CLIENT`, entered without loading the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dolmen.client.hook.memory import Memory
    from dolmen.settings import Settings


def main(client: str) -> None:
    """Handles one event of a client and ends the process with 0."""
    from dolmen.client.hook.main import run

    run(client, _local)


def _local(settings: Settings, agent: str) -> Memory | None:
    from dolmen.interfaces.hooks.local import open_local

    return open_local(settings, agent)
