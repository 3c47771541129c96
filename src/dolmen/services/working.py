"""The background thread that asks the chat model: apart from upkeep, since an answer may take a minute."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping

from dolmen.domain.errors import DolmenError
from dolmen.services import consolidation, extraction
from dolmen.services.jobs import Handler, work
from dolmen.services.runtime import Runtime

IDLE = 10.0
"""Seconds between two looks for work."""
PATIENCE = 60.0
"""Seconds to wait after a failure."""
_log = logging.getLogger(__name__)

HANDLERS: Mapping[str, Handler] = {extraction.KIND: extraction.extract}
"""Who does the jobs of each kind."""


class Worker:
    """Schedules what is due and does it, as long as there is a chat model. Any number of processes may run one."""

    def __init__(self, rt: Runtime) -> None:
        self._rt = rt
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self, *, after: float = 0.0) -> None:
        """Starts the thread, unless it runs or there is no model."""
        if self._thread is None and self._rt.chat is not None:
            self._thread = threading.Thread(target=self._run, args=(after,), name="dolmen-worker", daemon=True)
            self._thread.start()

    def stop(self, timeout: float = 2.0) -> None:
        """Ends the thread. One that waits for the model is left to itself: what it had is done by the next process."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout)

    def once(self) -> bool:
        """Everything that is due now; whether it went well."""
        return self._attempt(self._schedule) and self._attempt(self._work) and self._attempt(self._consolidate)

    def _run(self, after: float) -> None:
        wait = after
        while not self._stop.wait(wait):
            wait = IDLE if self.once() else PATIENCE

    def _attempt(self, step: Callable[[], None]) -> bool:
        try:
            step()
        except DolmenError as error:
            if not self._stop.is_set():
                level = logging.INFO if error.code in ("store-busy", "model-unavailable") else logging.WARNING
                _log.log(level, "work in the background will be tried again: %s", error.message)
            return False
        except Exception:
            if not self._stop.is_set():
                _log.exception("work in the background failed and will be tried again")
            return False
        return True

    def _schedule(self) -> None:
        if self._rt.options.extract:
            extraction.schedule(self._rt)

    def _work(self) -> None:
        handlers = {kind: do for kind, do in HANDLERS.items() if kind != extraction.KIND or self._rt.options.extract}
        worked = work(self._rt, handlers, stopped=self._stop.is_set)
        if worked.outage:
            raise DolmenError("model-unavailable", f"The chat model is not available: {worked.outage}", "")

    def _consolidate(self) -> None:
        if self._rt.options.consolidate and not self._stop.is_set():
            consolidation.due(self._rt, self._stop.is_set)
