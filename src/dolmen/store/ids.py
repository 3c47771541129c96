"""Ids: UUID version 7 (RFC 9562), in rising order within a process even when the clock stands still or goes back."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable


def rising(clock: Callable[[], int]) -> Callable[[], str]:
    """A source of ids.

    Args:
        clock: microseconds since the epoch. The 12 bits after the millisecond carry its fraction (RFC 9562, method 3).
    """
    lock = threading.Lock()
    last = 0

    def new_id() -> str:
        nonlocal last
        micros = clock()
        with lock:
            last = stamp = max((micros // 1000 << 12) | (micros % 1000 * 4096 // 1000), last + 1)
        random = int.from_bytes(os.urandom(8))
        value = (stamp >> 12) << 80 | 0x7 << 76 | (stamp & 0xFFF) << 64 | 0b10 << 62 | random & ((1 << 62) - 1)
        digits = f"{value:032x}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

    return new_id
