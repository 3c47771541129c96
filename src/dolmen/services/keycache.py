"""Credentials that were seen a moment ago, so that a busy connection does not cost a read per call."""

from __future__ import annotations

import threading
from collections import OrderedDict

from dolmen.domain.values import SECOND, Actor

KEPT_FOR = SECOND
"""The longest that a key revoked by another process still opens the door here."""
MOST = 1000


class KeyCache:
    """Actors by the hash of their secret. Usable by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, tuple[int, Actor]] = OrderedDict()
        self._turn = 0

    @property
    def turn(self) -> int:
        """Another number whenever something was dropped: what was read before that may hold no more."""
        return self._turn

    def get(self, secret_hash: str, now: int) -> Actor | None:
        """The actor, when it was put less than `KEPT_FOR` ago. `now`: microseconds of a clock that never goes back."""
        with self._lock:
            at, actor = self._seen.get(secret_hash, (0, None))
            if actor is None or now - at < KEPT_FOR:
                return actor
            del self._seen[secret_hash]
            return None

    def put(self, secret_hash: str, actor: Actor, now: int, turn: int) -> None:
        """Keeps what was read since `turn` was asked for; nothing, when something was dropped meanwhile."""
        with self._lock:
            if turn != self._turn:
                return
            self._seen[secret_hash] = (now, actor)
            self._seen.move_to_end(secret_hash)
            if len(self._seen) > MOST:
                self._seen.popitem(last=False)

    def clear(self) -> None:
        """Drops all: who sees what has changed."""
        with self._lock:
            self._turn += 1
            self._seen.clear()

    def forget(self, connection: str) -> None:
        """Drops a connection that was revoked here."""
        with self._lock:
            self._turn += 1
            for secret_hash in [h for h, (_, actor) in self._seen.items() if actor.connection == connection]:
                del self._seen[secret_hash]
