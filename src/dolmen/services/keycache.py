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

    def get(self, secret_hash: str, now: int) -> Actor | None:
        """The actor, when it was put less than `KEPT_FOR` ago. `now`: microseconds of a clock that never goes back."""
        with self._lock:
            at, actor = self._seen.get(secret_hash, (0, None))
            if actor is None or now - at < KEPT_FOR:
                return actor
            del self._seen[secret_hash]
            return None

    def put(self, secret_hash: str, actor: Actor, now: int) -> None:
        with self._lock:
            self._seen[secret_hash] = (now, actor)
            self._seen.move_to_end(secret_hash)
            if len(self._seen) > MOST:
                self._seen.popitem(last=False)

    def clear(self) -> None:
        """Drops all: who sees what has changed."""
        with self._lock:
            self._seen.clear()

    def forget(self, connection: str) -> None:
        """Drops a connection that was revoked here."""
        with self._lock:
            for secret_hash in [h for h, (_, actor) in self._seen.items() if actor.connection == connection]:
                del self._seen[secret_hash]
