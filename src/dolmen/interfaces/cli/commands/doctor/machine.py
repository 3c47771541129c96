"""The computer: settings, Python, disk, clock, logs."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dolmen.interfaces.cli.commands.doctor.finding import Finding, fail, ok, size, warn
from dolmen.store.opening import file_of

if TYPE_CHECKING:
    from dolmen.interfaces.cli.here import Here
    from dolmen.settings import Settings

_LITTLE, _TOO_LITTLE = 10**9, 10**8
_BUILT = 1_760_000_000
"""Seconds since the epoch: a clock that shows less was never set."""


def settings(here: Here) -> Iterator[Finding]:
    loaded = here.loaded
    said = f"from {loaded.file}" if loaded.file else "no configuration file"
    yield ok("settings", said)
    for warning in loaded.warnings:
        yield warn("settings", warning, "Correct the name, or remove it: `dolmen settings --all` shows all.")
    yield from _kenfolds(here)


def _kenfolds(here: Here) -> Iterator[Finding]:
    """Variables of Kenfold's that are set: which count here, and what says the same for those that do not."""
    from dolmen.settings import PREFIX, kenfold

    said = dict.fromkeys(
        f"{variable} (DOLMEN_{setting.upper()})"
        for variable, setting, _ in kenfold.values(os.environ)
        if variable in os.environ and not os.environ.get(PREFIX + setting.upper())
    )
    if said:
        yield ok("kenfold", f"variables of Kenfold's that count here: {', '.join(said)}")
    for each in kenfold.unread(os.environ):
        ours = [PREFIX + setting.upper() for setting in each.settings]
        if not any(os.environ.get(name) for name in ours):
            fix = f"Set {' and '.join(ours)}, or unset it." if ours else "Unset it."
            yield warn("kenfold", f"{each.variable} is set and not read. {each.says}", fix)


def computer(settings: Settings) -> Iterator[Finding]:
    yield ok("python", f"{platform.python_version()} on {platform.system()} {platform.machine()}, {sys.executable}")
    if time.time() < _BUILT:
        yield fail("clock", "The clock was never set; ages and expiry would be wrong.", "Set the date and time.")
    file = file_of(settings.database)
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


def logs(settings: Settings) -> Iterator[Finding]:
    if settings.log_file:
        yield ok("log", f"{settings.log_file}, and standard error")
        return
    yield ok(
        "log", f"standard error (level {settings.log}); clients hide that of `dolmen mcp`: DOLMEN_LOG_FILE keeps it"
    )
