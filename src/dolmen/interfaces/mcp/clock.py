"""The one place where this interface reads the clock."""

from __future__ import annotations

import time


def now() -> int:
    """Microseconds since the epoch, UTC."""
    return time.time_ns() // 1000
