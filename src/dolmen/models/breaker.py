"""A pause after a failure, so that an endpoint that hangs is waited for once, not by every call."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dolmen.models.contract import ModelUnavailable

PAUSE = 30.0
"""Seconds during which calls are refused at once after one has failed; then one call tries again."""


class Breaker:
    """Remembers the last failure for a while. Usable by any thread."""

    def __init__(self, pause: float = PAUSE, clock: Callable[[], float] = time.monotonic) -> None:
        self._pause, self._clock = pause, clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._failure: ModelUnavailable | None = None

    def check(self) -> None:
        """Raises the last failure while the pause lasts; the first caller after it gets through and renews the pause
        for the others until it has succeeded."""
        with self._lock:
            if self._failure is None:
                return
            if self._clock() < self._until:
                raise ModelUnavailable(self._failure.reason, self._failure.fix, self._failure.what)
            self._until = self._clock() + self._pause

    def failed(self, failure: ModelUnavailable) -> None:
        with self._lock:
            self._failure = failure
            self._until = self._clock() + self._pause

    def succeeded(self) -> None:
        with self._lock:
            self._failure = None
