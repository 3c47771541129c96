"""The zone of this computer: that of the times that a terminal shows, and of the days that a person names."""

from __future__ import annotations

import os
import time
from pathlib import Path

from dolmen.domain.errors import DolmenError
from dolmen.domain.timeframe import zone_of

_LINK = Path("/etc/localtime")


def system_zone() -> str:
    """Its name (`Europe/Berlin`), else its offset now (`+02:00`)."""
    for name in (os.environ.get("TZ", "").removeprefix(":"), _linked()):
        if not name:
            continue
        try:
            zone_of(name)
        except DolmenError:
            continue
        return "UTC" if name in ("Etc/UTC", "Etc/UCT", "UCT", "Zulu") else name
    seconds = time.localtime().tm_gmtoff
    hours, minutes = divmod(abs(seconds) // 60, 60)
    return f"{'-' if seconds < 0 else '+'}{hours:02}:{minutes:02}" if seconds else "UTC"


def _linked() -> str:
    """The name in the link that Linux and macOS keep; empty without one."""
    try:
        return str(_LINK.readlink()).partition("zoneinfo/")[2]
    except OSError:
        return ""
