"""How much one connection may ask for: requests in a minute and in an hour, and at the same time."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from dolmen.domain.values import Bounds
from dolmen.interfaces.http.responses import Refusal

MOST = 10_000
"""Connections that are remembered; the one that was quiet longest is forgotten first."""
_PARTS = 60
"""Requests that came within a sixtieth of a span are counted together, and leave it together with the last of them."""

Span = Literal["minute", "hour"]
_SECONDS: dict[Span, float] = {"minute": 60, "hour": 3600}


@dataclass(slots=True)
class _Window:
    """The requests of the last span: never more than the limit in any span of that length, wherever it begins."""

    seconds: float
    parts: deque[list[float]] = field(default_factory=deque)
    """(first, last, number) of requests that came close to each other, oldest first."""
    number: int = 0

    def wait(self, limit: int, now: float) -> float:
        """Seconds until one more request fits; 0 when it does."""
        while self.parts and self.parts[0][1] + self.seconds <= now:
            self.number -= int(self.parts.popleft()[2])
        left = self.number
        for _, last, number in self.parts:
            if left < limit:
                break
            left -= int(number)
            if left < limit:
                return last + self.seconds - now
        return 0.0

    def count(self, now: float) -> None:
        self.number += 1
        if self.parts and now - self.parts[-1][0] < self.seconds / _PARTS:
            self.parts[-1][1:] = [now, self.parts[-1][2] + 1]
        else:
            self.parts.append([now, now, 1])


@dataclass(slots=True)
class _Use:
    windows: dict[Span, _Window] = field(default_factory=dict)
    running: int = 0

    def window(self, span: Span) -> _Window:
        if span not in self.windows:
            self.windows[span] = _Window(_SECONDS[span])
        return self.windows[span]


def _busy(message: str, seconds: int) -> Refusal:
    return refused(
        message,
        f"Wait {seconds} s and try again. The owner sets the limits of one connection with `dolmen key edit`, of all "
        "others with DOLMEN_RATE_LIMIT, DOLMEN_HOURLY_LIMIT and DOLMEN_CONCURRENCY.",
        seconds,
    )


def refused(message: str, fix: str, seconds: int) -> Refusal:
    return Refusal("rate-limited", message, fix, headers={"Retry-After": str(seconds)})


class Limits:
    """Usable by any thread. `refuse` words a refusal: what is too much, and the seconds to wait."""

    def __init__(self, per_minute: int = 0, at_once: int = 0, refuse: Callable[[str, int], Refusal] = _busy) -> None:
        self._bounds = Bounds(per_minute=per_minute, at_once=at_once)
        self._refuse = refuse
        self._lock = threading.Lock()
        self._uses: OrderedDict[str, _Use] = OrderedDict()

    @contextmanager
    def request(self, connection: str, now: float, bounds: Bounds | None = None) -> Iterator[None]:
        """Around one request.

        Args:
            now: seconds of a clock that never goes back.
            bounds: those of this connection, if not of all.

        Raises:
            Refusal: `rate-limited` with `Retry-After`, in seconds.
        """
        use = self._admit(connection, now, bounds or self._bounds)
        try:
            yield
        finally:
            with self._lock:
                use.running -= 1

    def check(self, connection: str, now: float) -> None:
        """Refuses when one more would be too many in a minute; counts none.

        Raises:
            Refusal: `rate-limited`.
        """
        with self._lock:
            wait = self._use(connection).window("minute").wait(self._bounds.per_minute or 0, now)
        if wait:
            raise self._refuse(f"More than {self._bounds.per_minute} requests per minute.", max(1, math.ceil(wait)))

    def _admit(self, connection: str, now: float, bounds: Bounds) -> _Use:
        limits: dict[Span, int | None] = {"minute": bounds.per_minute, "hour": bounds.per_hour}
        with self._lock:
            use = self._use(connection)
            if bounds.at_once and use.running >= bounds.at_once:
                raise self._refuse(f"More than {bounds.at_once} requests at the same time.", 1)
            waits = {span: use.window(span).wait(limit, now) for span, limit in limits.items() if limit}
            if any(waits.values()):
                span = max(waits, key=lambda each: waits[each])
                message = f"More than {limits[span]} requests per {span}."
                raise self._refuse(message, max(1, math.ceil(waits[span])))
            for span in waits:
                use.window(span).count(now)
            use.running += 1
            return use

    def _use(self, connection: str) -> _Use:
        use = self._uses.setdefault(connection, _Use())
        self._uses.move_to_end(connection)
        while len(self._uses) > MOST:
            self._uses.popitem(last=False)
        return use
