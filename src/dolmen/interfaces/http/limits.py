"""How much one connection may ask for: a bucket of tokens that refills, and a number of requests at the same time."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dolmen.interfaces.http.responses import Refusal

MOST = 10_000
"""Connections that are remembered; the one that was quiet longest is forgotten first."""


@dataclass(slots=True)
class _Use:
    tokens: float
    at: float
    running: int = 0


def _busy(message: str, seconds: int) -> Refusal:
    return refused(
        message,
        f"Wait {seconds} s and try again; `remember` takes up to 200 memories in one call. The limit is the setting "
        "DOLMEN_RATE_LIMIT.",
        seconds,
    )


def refused(message: str, fix: str, seconds: int) -> Refusal:
    return Refusal("rate-limited", message, fix, headers={"Retry-After": str(seconds)})


class Limits:
    """Usable by any thread. `refuse` words a refusal: what is too much, and the seconds to wait."""

    def __init__(self, per_minute: int, at_once: int, refuse: Callable[[str, int], Refusal] = _busy) -> None:
        self._per_minute, self._at_once, self._refuse = per_minute, at_once, refuse
        self._lock = threading.Lock()
        self._uses: OrderedDict[str, _Use] = OrderedDict()

    @contextmanager
    def request(self, connection: str, now: float) -> Iterator[None]:
        """Around one request. `now`: seconds of a clock that never goes back.

        Raises:
            Refusal: `rate-limited` with `Retry-After`, in seconds.
        """
        use = self._admit(connection, now)
        try:
            yield
        finally:
            with self._lock:
                use.running -= 1

    def _admit(self, connection: str, now: float) -> _Use:
        with self._lock:
            use = self._use(connection, now)
            if self._at_once and use.running >= self._at_once:
                raise self._refuse(f"More than {self._at_once} requests at the same time.", 1)
            if self._per_minute:
                per_second = self._per_minute / 60
                use.tokens = min(float(self._per_minute), use.tokens + (now - use.at) * per_second)
                use.at = now
                if use.tokens < 1:
                    raise self._refuse(
                        f"More than {self._per_minute} requests per minute.",
                        math.ceil((1 - use.tokens) / per_second),
                    )
                use.tokens -= 1
            use.running += 1
            return use

    def _use(self, connection: str, now: float) -> _Use:
        use = self._uses.get(connection)
        if use is None:
            use = self._uses[connection] = _Use(float(self._per_minute), now)
        self._uses.move_to_end(connection)
        while len(self._uses) > MOST:
            self._uses.popitem(last=False)
        return use
