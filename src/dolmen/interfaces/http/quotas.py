"""Which limits a request stands under, and what its connection has used of its quotas (C-338, C-339, C-342)."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, replace

from dolmen.domain.values import Actor, Bounds
from dolmen.interfaces.http.limits import MOST, refused
from dolmen.interfaces.http.options import HttpOptions
from dolmen.interfaces.mcp.registry import Face
from dolmen.services.bounds import Used, used
from dolmen.services.runtime import Runtime

DEFAULT = Bounds(per_minute=600, per_hour=0, per_day=0, at_once=32, memories=0)
"""Where neither the connection nor the server nor the toolset says otherwise."""
KEPT_FOR = 10.0
"""Seconds that what was counted in the store is believed (C-338)."""

_TURNS = 16
"""Connections that are counted at the same time."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The limits of one request."""

    request: Bounds
    call: Bounds | None = None
    """Of the calls of its toolset's costly tools."""


def standing(actor: Actor, face: Face | None, options: HttpOptions) -> Standing:
    """What the connection says stands above what the server says, that above what the toolset says."""
    asked = actor.bounds.over(options.bounds)
    if face is None or not face.costly:
        return Standing(asked.over(DEFAULT if face is None else face.bounds.over(DEFAULT)))
    own = asked.over(face.bounds).over(DEFAULT)
    everything = options.bounds.over(DEFAULT).at_once
    calls = actor.bounds.over(face.bounds).at_once
    return Standing(replace(own, at_once=everything), Bounds(at_once=calls))


@dataclass(slots=True)
class _Seen:
    at: float
    used: Used
    since: int = 0
    """Requests that were admitted since."""


class Quotas:
    """What is counted in the store: calls of a day, memories. Usable by any thread; blocking."""

    def __init__(self, rt: Runtime) -> None:
        self._rt = rt
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, _Seen] = OrderedDict()
        self._turns = [threading.Lock() for _ in range(_TURNS)]

    def admit(self, actor: Actor) -> Mapping[str, str]:
        """The headers that an answer to the connection has.

        Raises:
            Refusal: `rate-limited` when it has used up its day.
        """
        bounds = actor.bounds
        if not (bounds.per_day or bounds.memories):
            return {}
        seen, since = self._look(actor)
        if bounds.per_day and seen.used.calls + since > bounds.per_day:
            seconds = seen.used.seconds_left
            raise refused(
                f"More than {bounds.per_day} calls today.",
                f"Wait until midnight UTC ({seconds} s), or ask the owner for more (`dolmen key edit --per-day`).",
                seconds,
            )
        return _headers(actor, seen.used) if bounds.memories else {}

    def _look(self, actor: Actor) -> tuple[_Seen, int]:
        # One after the other: many at once would each count in the store, and none would count the others.
        with self._turns[hash(actor.connection) % _TURNS]:
            return self._counted(actor)

    def _counted(self, actor: Actor) -> tuple[_Seen, int]:
        """What was counted, and how many requests came since, this one too."""
        now = time.monotonic()
        with self._lock:
            seen = self._seen.get(actor.connection)
        if seen is None or now - seen.at >= KEPT_FOR:
            seen = _Seen(now, used(self._rt, actor))
        with self._lock:
            seen.since += 1
            self._seen[actor.connection] = seen
            self._seen.move_to_end(actor.connection)
            if len(self._seen) > MOST:
                self._seen.popitem(last=False)
            return seen, seen.since


def _headers(actor: Actor, used: Used) -> dict[str, str]:
    limit = actor.bounds.memories or 0
    return {
        "X-RateLimit-Limit": str(limit),
        "X-RateLimit-Remaining": str(max(0, limit - used.memories)),
        "X-RateLimit-Resource": "fragments" if actor.toolset == "anchormind" else "memories",
    }
