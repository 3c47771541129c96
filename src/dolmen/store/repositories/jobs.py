"""Work that is done in the background. A waiting job's `due_at` is also the end of its lease."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from dolmen.store.contract.jobs import Job, JobState, JobStatus
from dolmen.store.mapping import dump
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import queries

_COLUMNS = "id, kind, key, payload, status, attempts, due_at, owner, created_at, finished_at, error"
_LOOK = 8
"""Due jobs looked at in one go: others take the first ones at the same moment."""


class JobRepository:
    """Implements `contract.Jobs`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sql = queries("jobs")

    def enqueue(self, job: Job) -> bool:
        params: dict[str, Value] = {
            "vault": job.vault,
            "id": job.id,
            "kind": job.kind,
            "key": job.key,
            "payload": dump(job.payload),
            "due_at": job.due_at,
            "created_at": job.created_at,
        }
        return self._session.run(self._sql["add"], params) > 0

    def lease(self, kinds: Sequence[str], owner: str, now: int, until: int, vault: str | None = None) -> Job | None:
        if not kinds:
            return None
        query, listed = (
            self._sql["due"]
            .fill(columns=_COLUMNS, vault="" if vault is None else "AND vault_id = :vault")
            .spread(kinds=kinds)
        )
        params: dict[str, Value] = {**listed, "now": now, "limit": _LOOK}
        if vault is not None:
            params["vault"] = vault
        while rows := self._session.all(query, params):
            for row in rows:
                seen = _job(row)
                if self._take(seen, owner, until):
                    return replace(seen, owner=owner, due_at=until, attempts=seen.attempts + 1)
        return None

    def _take(self, seen: Job, owner: str, until: int) -> bool:
        params = {**_lease(seen), "seen": seen.owner, "owner": owner, "due_at": seen.due_at, "until": until}
        return self._session.run(self._sql["take"], params) > 0

    def renew(self, job: Job, until: int) -> bool:
        return self._session.run(self._sql["renew"], {**_lease(job), "until": until}) > 0

    def finish(self, job: Job, at: int) -> bool:
        return self._end(job, "done", at, at, "")

    def put_back(self, job: Job, due_at: int, error: str, *, counted: bool = True) -> bool:
        return self._end(job, "waiting", due_at, None, error, uncounted=0 if counted else 1)

    def bury(self, job: Job, at: int, error: str) -> bool:
        return self._end(job, "dead", at, at, error)

    def _end(
        self, job: Job, status: JobStatus, due_at: int, finished_at: int | None, error: str, uncounted: int = 0
    ) -> bool:
        params: dict[str, Value] = {
            **_lease(job),
            "status": status,
            "due_at": due_at,
            "finished_at": finished_at,
            "error": error,
            "uncounted": uncounted,
        }
        return self._session.run(self._sql["end"], params) > 0

    def revive(self, vault: str, kind: str, now: int) -> int:
        return self._session.run(self._sql["revive"], {"vault": vault, "kind": kind, "now": now})

    def select(
        self, vault: str, kind: str | None = None, status: JobStatus | None = None, limit: int = 200
    ) -> list[Job]:
        where, params = "", dict[str, Value](vault=vault, limit=limit)
        for column, value in (("kind", kind), ("status", status)):
            if value is not None:
                where += f" AND {column} = :{column}"
                params[column] = value
        query = self._sql["select"].fill(columns=_COLUMNS, where=where)
        return [_job(row) for row in self._session.all(query, params)]

    def counts(self, vault: str | None, now: int) -> dict[str, dict[JobState, int]]:
        query = self._sql["counts"].fill(where="" if vault is None else "WHERE vault_id = :vault")
        params: dict[str, Value] = {"now": now} if vault is None else {"now": now, "vault": vault}
        found: dict[str, dict[JobState, int]] = {}
        for kind, state, number in self._session.all(query, params):
            found.setdefault(kind, {})[state] = number
        return found

    def trim(self, vault: str, kind: str, before: int) -> int:
        return self._session.run(self._sql["trim"], {"vault": vault, "kind": kind, "before": before})


def _lease(job: Job) -> dict[str, Value]:
    return {"vault": job.vault, "id": job.id, "owner": job.owner}


def _job(row: Row) -> Job:
    vault, id, kind, key, payload, status, attempts, due_at, owner, created_at, finished_at, error = row
    return Job(
        id, vault, kind, key, json.loads(payload), status, attempts, due_at, owner, created_at, finished_at, error
    )
