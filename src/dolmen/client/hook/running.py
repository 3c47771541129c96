"""What each event does (C-218 to C-220). Every step has its time; whatever fails, the session goes on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dolmen.client.hook import log, spool
from dolmen.client.hook.event import Adapter, Event
from dolmen.client.hook.log import Log, Session
from dolmen.domain.errors import DolmenError

if TYPE_CHECKING:
    from dolmen.client.endpoint import Endpoint
    from dolmen.client.hook.memory import Memory
    from dolmen.domain.identity import ProjectIdentity

CONTEXT, DELIVERY, LAST_DELIVERY = 1.8, 1.0, 1.0
"""Seconds for the brief, for what waits at the start of a session, and for the summary at its end."""
AT_ONCE = 20
"""Entries that one start delivers."""
NEVER_ENDED = 30
"""Sessions that one start looks at for that."""
IDLE = 3600
"""Seconds without an event after which a session that was never ended is summed up."""
_NOBODY = frozenset({"unavailable", "unauthorized"})
"""Codes after which nothing else need be asked."""
_FOR_GOOD = frozenset({"secret-detected", "too-large", "invalid-argument", "invalid-project", "conflict", "gone"})


@dataclass(slots=True)
class Run:
    """One event of one client."""

    adapter: Adapter
    endpoint: Callable[[], Endpoint]
    memory: Callable[[], Memory]
    """Opened only by the events that need it."""
    identity: Callable[[Path], ProjectIdentity]
    notice: Callable[[Path, ProjectIdentity], str]
    """What to tell the person, once, of the identity of a directory; empty for nothing."""
    refs: Callable[[Callable[[], Memory], Path, ProjectIdentity], None]
    """Checks the code references of a project within its own time."""
    complain: Callable[[str], None]
    """Keeps a line for `dolmen doctor`."""

    def handle(self, event: Event) -> str:
        """What to print; empty for nothing."""
        match event.kind:
            case "start":
                return self._start(event)
            case "prompt":
                return self._prompt(event)
            case "answer" | "compacted":
                self._record(event)
            case "end":
                self._end(event)
            case "ignored":
                pass
        return ""

    # ---------------------------------------------------------------------------------------------------------- start
    def _start(self, event: Event) -> str:
        directory = _directory(event)
        written = Log.of(event.session)
        session = written.read()
        identity, warning = self._bound(written, session, directory, event)
        log.prune()
        # A resumed session has its context in its transcript; a compacted or cleared one has lost it.
        wanted = not session.contexts or event.source in ("clear", "compact")
        wanted = wanted and (not event.session or written.claim(session.contexts))
        try:
            self.harvest(written)
            self.deliver(DELIVERY, AT_ONCE)
            if identity.project:
                self.refs(self.memory, directory, identity)
            context = self._context(identity) if wanted else ""
        except DolmenError as error:
            self.complain(f"{error.message} {error.fix}")
            if wanted:
                written.release(session.contexts)
            why = "" if error.message in warning else f"{error.message} {error.fix}"
            said = _joined("Memory is not available in this session.", why) if wanted else ""
            return self.adapter.say(event, "", _joined(warning, said))
        if wanted and event.session:
            self._add(written, "context", text=context if event.later else "")
        return self.adapter.say(event, "" if event.later else context, warning)

    def _bound(self, written: Log, session: Session, directory: Path, event: Event) -> tuple[ProjectIdentity, str]:
        """The project of the session, which stays what it was at its first event in a repository; and what to tell."""
        from dolmen.domain.identity import ProjectIdentity

        if session.project:
            return ProjectIdentity(session.project, "kept", "As the session began.", session.parents), ""
        try:
            identity, warning = self.identity(directory), ""
        except DolmenError as error:
            identity, warning = ProjectIdentity(None, "none", error.message), f"{error.message} {error.fix}"
        if event.session and (identity.project or not session.bound):
            facts = {"client": self.adapter.client, "session": event.session, "directory": str(directory)}
            self._add(written, "bind", **facts, project=identity.project, parents=list(identity.parents))
        # Told once, so only where it can be shown.
        return identity, _joined(warning, self.notice(directory, identity) if event.kind == "start" else "")

    def _context(self, identity: ProjectIdentity) -> str:
        from dolmen.client.hook.framing import framed
        from dolmen.client.hook.memory import brief

        memory, end = self.memory(), time.monotonic() + CONTEXT
        known = brief(memory, identity.project, CONTEXT)
        parents = [brief(memory, parent, max(0.1, end - time.monotonic())) for parent in identity.parents[:2]]
        return framed(known, identity.project, parents)

    # ------------------------------------------------------------------------------------------------------ in between
    def _prompt(self, event: Event) -> str:
        written, session = self._record(event)
        if event.begins and len(session.prompts) == 0:
            self._keep_house(written)
        if not session.waiting:
            return self.adapter.say(event, "", "")
        self._add(written, "given")
        return self.adapter.say(event, session.waiting, "")

    def _record(self, event: Event) -> tuple[Log, Session]:
        """Adds the text to the log, without the network; sessions outside a project are not recorded (C-217)."""
        written = Log.of(event.session)
        session = written.read()
        directory = _directory(event)
        if not event.session:
            return written, session  # the conversations of such a client cannot be told apart
        if not session.bound or (session.project is None and session.directory != str(directory)):
            project = self._bound(written, session, directory, event)[0].project
        else:
            project = session.project
        if project and (text := log.kept_text(event.text)):
            self._add(written, event.kind, text=text)
        return written, session

    def _keep_house(self, current: Log) -> None:
        try:
            self.harvest(current)
            self.deliver(DELIVERY, AT_ONCE)
        except DolmenError as error:
            self.complain(f"{error.message} {error.fix}")

    # ------------------------------------------------------------------------------------------------------------ end
    def _end(self, event: Event) -> None:
        written = Log.of(event.session)
        if self.sum_up(written):
            try:
                self.deliver(LAST_DELIVERY, 1, only=event.session)
            except DolmenError as error:
                self.complain(f"{error.message} {error.fix}")

    def _add(self, written: Log, what: str, **facts: Any) -> None:
        try:
            written.add(what, **facts)
        except OSError as error:
            self.complain(f"{written.file.parent} cannot be written: {error.strerror}.")

    def sum_up(self, written: Log) -> bool:
        """Puts the summary of a session into the spool; False when there is nothing new to say."""
        from dolmen.client.hook.summary import summarize

        session = written.read()
        text = summarize(session) if session.project else ""
        digest = sha256(text.encode()).hexdigest()[:16]
        if not text or not session.project or digest == session.spooled:
            return False
        try:
            spool.put(session.client, session.id, session.project, text, self.endpoint().destination)
        except OSError as error:
            self.complain(f"A session summary could not be written: {error.strerror}.")
            return False
        self._add(written, "spooled", digest=digest)
        return True

    def harvest(self, current: Log) -> None:
        """Sums up sessions that were never ended: a closed terminal, a client without such an event."""
        for written in log.idle(IDLE, NEVER_ENDED):
            if written != current and written.read().client == self.adapter.client:
                self.sum_up(written)

    def deliver(self, seconds: float, most: int, only: str = "") -> None:
        """Sends what waits for this endpoint.

        Raises:
            DolmenError: the server does not answer, or not to this key; everything still waits.
        """
        from dolmen.client.hook.memory import save

        end = time.monotonic() + seconds
        waiting = [e for e in spool.waiting() if only in ("", e.session)]
        for entry in [e for e in waiting if e.destination == self.endpoint().destination][:most]:
            left = end - time.monotonic()
            if left < 0.05:
                return
            try:
                save(self.memory(), entry, left)
            except DolmenError as error:
                if error.code in _NOBODY:
                    raise
                self.complain(f"A session summary was refused: {error.message}")
                if error.code not in _FOR_GOOD:
                    return  # a key that may only read, a server that is busy: it waits, and the session goes on
                spool.set_aside(entry)
            else:
                spool.remove(entry)


def _directory(event: Event) -> Path:
    return Path(event.directory or os.getcwd())


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)
