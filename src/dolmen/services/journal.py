"""What happened, written a little later: recall events, audit rows of reads, and when a key was last used.

A read stays a read: its record waits in memory and reaches the store with others, once a second, when there are many,
and when the program ends. A killed process loses at most the records of its last second, never a memory.
"""

from __future__ import annotations

import atexit
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.domain.secrets import redact

if TYPE_CHECKING:
    from dolmen.store.contract import AuditEntry, RecallEvent, Store

_log = logging.getLogger(__name__)

EVERY = 1.0
"""Seconds between writes while there is something to write."""
ENOUGH = 256
"""So many records are written at once."""
BOUND = 10_000
"""Records kept while the store cannot be written; beyond this the oldest go, and their number is logged."""
_PATIENCE = 5.0


@dataclass(slots=True)
class _Records:
    events: list[RecallEvent] = field(default_factory=list)
    audits: list[AuditEntry] = field(default_factory=list)
    used: dict[tuple[str, str], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.events) + len(self.audits) + len(self.used)


class JournalBuffer:
    """A bounded buffer before the store's journal. Usable by any thread."""

    def __init__(self, store: Store, *, every: float = EVERY, enough: int = ENOUGH, bound: int = BOUND) -> None:
        self._store = store
        self._every, self._enough, self._bound = every, enough, bound
        self._changed = threading.Condition()
        self._flushing = threading.Lock()
        self._waiting = _Records()
        self._in_flight = _Records()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._registered = False
        self.lost = 0
        """Records that were dropped because the store could not be written for long."""

    def event(self, entry: RecallEvent) -> None:
        """Notes what was recalled. Secrets in the query are redacted before it is kept."""
        self._note(lambda waiting: waiting.events.append(entry))

    def audit(self, entry: AuditEntry) -> None:
        """Notes a read that succeeded; writes put theirs into their own transaction."""
        self._note(lambda waiting: waiting.audits.append(entry))

    def used(self, vault: str, connection: str, at: int) -> None:
        """Notes that a key was used."""
        self._note(lambda waiting: waiting.used.__setitem__((vault, connection), at))

    def find(self, vault: str, event: str) -> RecallEvent | None:
        """The recall event with that id, also one that is not in the store yet. Opens a read transaction of its own."""
        with self._changed:
            for entry in (*self._waiting.events, *self._in_flight.events):
                if entry.id == event and entry.vault == vault:
                    return entry
        with self._store.read() as tx:
            return tx.journal.event(vault, event)

    def flush(self) -> int:
        """Writes what waits; returns how many records. On failure they wait on, and the error goes to the caller."""
        with self._flushing:
            with self._changed:
                records, self._waiting = self._waiting, _Records()
                self._in_flight = records
            try:
                if records:
                    self._write(records)
            except BaseException:
                self._put_back(records)
                raise
            finally:
                with self._changed:
                    self._in_flight = _Records()
            return len(records)

    def close(self) -> None:
        """Writes what waits and ends the thread. Harmless to repeat."""
        with self._changed:
            closed, self._closed = self._closed, True
            self._changed.notify_all()
        if closed:
            return
        atexit.unregister(self.close)
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_PATIENCE)
        self._try_flush()

    def _note(self, put: Callable[[_Records], None]) -> None:
        with self._changed:
            put(self._waiting)
            self._drop_oldest()
            if self._thread is None and not self._closed:
                self._start()
            if len(self._waiting) == self._enough:
                self._changed.notify_all()
            late = self._closed
        if late:  # the program is ending: there is no thread to write it any more
            self._try_flush()

    def _start(self) -> None:
        if not self._registered:
            self._registered = True
            atexit.register(self.close)
        self._thread = threading.Thread(target=self._run, name="dolmen-journal", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        """Lives while there is something to write: an idle program keeps no thread for this."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._closed or len(self._waiting) >= self._enough, self._every)
                if self._closed:
                    return
            good = self._try_flush()
            with self._changed:
                if good and not self._waiting:
                    self._thread = None
                    return
                if not good:
                    self._changed.wait_for(lambda: self._closed, _PATIENCE)

    def _try_flush(self) -> bool:
        try:
            self.flush()
        except DolmenError as error:
            _log.warning("the journal could not be written and will be tried again: %s", error.message)
            return False
        except Exception:
            _log.exception("the journal could not be written and will be tried again")
            return False
        return True

    def _write(self, records: _Records) -> None:
        events = [_without_secrets(entry) for entry in records.events]
        with self._store.write() as tx:
            if events:
                tx.journal.events(events)
            if records.audits:
                tx.journal.audit(records.audits)
            for (vault, connection), at in records.used.items():
                tx.accounts.touch(vault, connection, at)

    def _put_back(self, records: _Records) -> None:
        with self._changed:
            self._waiting.events[:0] = records.events
            self._waiting.audits[:0] = records.audits
            self._waiting.used = records.used | self._waiting.used
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        lists: Sequence[list[RecallEvent] | list[AuditEntry]] = (self._waiting.events, self._waiting.audits)
        for rows in lists:
            if (over := len(rows) - self._bound) > 0:
                del rows[:over]
                self.lost += over
                _log.warning("%d records of the journal were lost: the store cannot be written", over)


def _without_secrets(entry: RecallEvent) -> RecallEvent:
    query, kinds = redact(entry.query)
    return replace(entry, query=query) if kinds else entry
