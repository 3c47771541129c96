"""What happened: recall events, feedback, audit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dolmen.store.contract import AuditEntry, Feedback, RecallEvent
from dolmen.store.mapping import dump, strings
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import chunks, queries


class JournalRepository:
    """Implements `contract.Journal`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sql = queries("journal")

    def events(self, events: Iterable[RecallEvent]) -> None:
        rows: list[dict[str, Value]] = [
            {
                "vault": event.vault,
                "id": event.id,
                "at": event.at,
                "connection": event.connection,
                "agent": event.agent,
                "query": event.query,
                "refs": dump(event.refs),
            }
            for event in events
        ]
        if rows:
            self._session.many(self._sql["add_event"], rows)

    def event(self, vault: str, id: str) -> RecallEvent | None:
        row = self._session.one(self._sql["event"], {"vault": vault, "id": id})
        return None if row is None else _event(row)

    def recalled(self, vault: str) -> Iterator[RecallEvent]:
        for row in self._session.stream(self._sql["recalled"], {"vault": vault}):
            yield _event(row)

    def feedback(self, entry: Feedback) -> None:
        params: dict[str, Value] = {
            "vault": entry.vault,
            "id": entry.id,
            "at": entry.at,
            "connection": entry.connection,
            "agent": entry.agent,
            "event": entry.event,
            "refs": dump(entry.refs),
            "relevant": None if entry.relevant is None else int(entry.relevant),
            "sufficient": None if entry.sufficient is None else int(entry.sufficient),
            "reason": entry.reason,
        }
        self._session.run(self._sql["add_feedback"], params)

    def feedbacks(self, vault: str) -> Iterator[Feedback]:
        for row in self._session.stream(self._sql["feedbacks"], {"vault": vault}):
            yield _feedback(row)

    def audit(self, entries: Iterable[AuditEntry]) -> None:
        rows: list[dict[str, Value]] = [
            {
                "vault": entry.vault,
                "id": entry.id,
                "at": entry.at,
                "connection": entry.connection,
                "agent": entry.agent,
                "op": entry.op,
                "detail": entry.detail,
                "origin": entry.origin,
            }
            for entry in entries
        ]
        if rows:
            self._session.many(self._sql["add_audit"], rows)

    def answered(self, vault: str, connection: str, since: int) -> int:
        [(number,)] = self._session.all(
            self._sql["answered"], {"vault": vault, "connection": connection, "since": since}
        )
        return int(number)

    def audited(self, vault: str, limit: int = 100) -> list[AuditEntry]:
        rows = self._session.all(self._sql["audited"], {"vault": vault, "limit": limit})
        return [AuditEntry(*row) for row in rows]

    def purged(self, vault: str, ids: Sequence[str]) -> set[str]:
        found: set[str] = set()
        for chunk in chunks(ids):
            query, params = self._sql["purged"].spread(ids=chunk)
            found |= {row[0] for row in self._session.all(query, {"vault": vault, "op": "forget:purge", **params})}
        return found

    def trim(self, vault: str, before: int) -> int:
        return self._session.run(self._sql["trim"], {"vault": vault, "before": before})

    def remove(self, vault: str, events: Sequence[str], feedbacks: Sequence[str]) -> None:
        for name, ids in (("remove_events", events), ("remove_feedbacks", feedbacks)):
            for chunk in chunks(ids):
                query, params = self._sql[name].spread(ids=chunk)
                self._session.run(query, {"vault": vault, **params})


def _event(row: Row) -> RecallEvent:
    *fields, refs = row
    return RecallEvent(*fields, strings(refs))  # type: ignore[call-arg]  # a row of seven


def _feedback(row: Row) -> Feedback:
    id, vault, at, connection, agent, event, refs, relevant, sufficient, reason = row
    return Feedback(
        id, vault, at, connection, agent, event, strings(refs), _truth(relevant), _truth(sufficient), reason
    )


def _truth(value: int | None) -> bool | None:
    return None if value is None else bool(value)
