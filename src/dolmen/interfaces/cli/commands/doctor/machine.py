"""The computer: settings, Python, disk, clock, port, logs."""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dolmen.interfaces.cli.commands.doctor.finding import Finding, fail, ok, size, warn

if TYPE_CHECKING:
    from dolmen.interfaces.cli.here import Here
    from dolmen.settings import Settings

_LITTLE, _TOO_LITTLE = 10**9, 10**8
_BUILT = 1_760_000_000
"""Seconds since the epoch: a clock that shows less was never set."""
_ANSWER_WITHIN = 2.0


def settings(here: Here) -> Iterator[Finding]:
    loaded = here.loaded
    said = f"from {loaded.file}" if loaded.file else "no configuration file"
    yield ok("settings", said)
    for warning in loaded.warnings:
        yield warn("settings", warning, "Correct the name, or remove it: `dolmen settings --all` shows all.")


def computer(settings: Settings) -> Iterator[Finding]:
    yield ok("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}")
    if time.time() < _BUILT:
        yield fail("clock", "The clock was never set; ages and expiry would be wrong.", "Set the date and time.")
    file = sqlite_file(settings)
    if file is None:
        return
    folder = next((each for each in (file.parent, *file.parents) if each.exists()), Path.cwd())
    if not os.access(folder, os.W_OK):
        yield fail(
            "disk", f"{folder} may not be written by this user.", "Give write permission, or set DOLMEN_DATABASE."
        )
    free = shutil.disk_usage(folder).free
    said = f"{size(free)} free in {folder}"
    if free < _TOO_LITTLE:
        yield fail("disk", f"Only {said}: writes will fail soon.", "Free some space, or set DOLMEN_DATABASE elsewhere.")
    elif free < _LITTLE:
        yield warn("disk", f"Only {said}.", "Free some space before it runs out.")
    else:
        yield ok("disk", said)


def sqlite_file(settings: Settings) -> Path | None:
    """The file of an embedded store."""
    scheme, _, rest = settings.database.partition(":///")
    return Path(rest).expanduser() if scheme == "sqlite" and rest != ":memory:" else None


def port(settings: Settings) -> Iterator[Finding]:
    """Whether the server runs, could run, or has its place taken."""
    import socket

    place = f"{settings.host}:{settings.port}"
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "::1"}.get(settings.host, settings.host.strip("[]"))
    try:
        with socket.create_connection((host, settings.port), timeout=_ANSWER_WITHIN):
            pass
    except OSError:
        yield ok("server", f"not running; {place} is free")
        return
    found = _health(host, settings.port)
    if found is None:
        yield warn(
            "server",
            f"Another program listens on {place}.",
            "End it, or choose another port: DOLMEN_PORT, `dolmen serve --port`.",
        )
    elif found.get("status") == "ok":
        yield ok("server", f"running on {place}, version {found.get('version', 'unknown to strangers')}")
    else:
        error = found.get("error")
        why = error.get("message") if isinstance(error, dict) else "it says that it is not well"
        yield fail("server", f"The server on {place} cannot work: {why}", "Look at its log.")


def _health(host: str, port: int) -> dict[str, object] | None:
    """The answer of a Dolmen server to /health, None from anything else."""
    import http.client

    connection = http.client.HTTPConnection(host, port, timeout=_ANSWER_WITHIN)
    try:
        connection.request("GET", "/health", headers={"Host": f"127.0.0.1:{port}"})
        found = json.loads(connection.getresponse().read(100_000))
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return found if isinstance(found, dict) and "status" in found else None


def logs(settings: Settings) -> Iterator[Finding]:
    if settings.log_file:
        yield ok("log", f"{settings.log_file}, and standard error")
        return
    yield ok(
        "log", f"standard error (level {settings.log}); clients hide that of `dolmen mcp`: DOLMEN_LOG_FILE keeps it"
    )
