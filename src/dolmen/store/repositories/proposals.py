"""Writes that wait for a person."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from dolmen.domain.proposal import Proposal, ProposalStatus
from dolmen.store.mapping import dump
from dolmen.store.repositories.history import gone
from dolmen.store.repositories.numbers import ScopeNumbers
from dolmen.store.session import Row, Session, Value
from dolmen.store.sql import chunks, queries


class ProposalRepository:
    """Implements `contract.Proposals`."""

    def __init__(self, session: Session, numbers: ScopeNumbers) -> None:
        self._session = session
        self._numbers = numbers
        self._sql = queries("proposals")

    def add(self, proposal: Proposal) -> None:
        params: dict[str, Value] = {
            "vault": proposal.vault,
            "id": proposal.id,
            "op": proposal.op,
            "memory": proposal.memory,
            "base_version": proposal.base_version,
            "payload": dump(proposal.payload),
            "reason": proposal.reason,
            "because": proposal.because,
            "status": proposal.status,
            "agent": proposal.agent,
            "person": proposal.person,
            "connection": proposal.connection,
            "created_at": proposal.created_at,
            "decided_at": proposal.decided_at,
            "decided_by": proposal.decided_by,
            "decision_note": proposal.decision_note,
            "note": proposal.note,
            "audience": proposal.audience,
        }
        if not self._session.run(self._sql["add"], params):
            raise gone(proposal.memory or proposal.note or "")

    def get(self, vault: str, id: str) -> Proposal | None:
        found = self._some("AND id = :id", {"vault": vault, "id": id})
        return found[0] if found else None

    def select(
        self, vault: str, status: ProposalStatus | None = "pending", connection: str | None = None, limit: int = 200
    ) -> list[Proposal]:
        where, params = "", dict[str, Value](vault=vault, limit=limit)
        for column, value in (("status", status), ("connection", connection)):
            if value is not None:
                where += f" AND {column} = :{column}"
                params[column] = value
        return self._some(where, params, "LIMIT :limit")

    def for_memory(self, vault: str, memory: str) -> list[Proposal]:
        return self._some("AND memory_id = :memory", {"vault": vault, "memory": memory})

    def for_note(self, vault: str, note: str) -> list[Proposal]:
        return self._some("AND note_id = :note", {"vault": vault, "note": note})

    def decide(self, vault: str, id: str, status: ProposalStatus, at: int, by: str, note: str) -> bool:
        params: dict[str, Value] = {"vault": vault, "id": id, "status": status, "at": at, "by": by, "note": note}
        return self._session.run(self._sql["decide"], params) > 0

    def stream(self, vault: str) -> Iterator[Proposal]:
        seen, params = self._seen(vault)
        for row in self._session.stream(self._sql["select"].fill(where=seen, limit=""), {"vault": vault} | params):
            yield _proposal(vault, row)

    def remove(self, vault: str, ids: Sequence[str]) -> None:
        for chunk in chunks(ids):
            query, params = self._sql["remove"].spread(ids=chunk)
            self._session.run(query, {"vault": vault, **params})

    def _some(self, where: str, params: dict[str, Value], limit: str = "") -> list[Proposal]:
        vault = str(params["vault"])
        seen, listed = self._seen(vault)
        rows = self._session.all(self._sql["select"].fill(where=where + seen, limit=limit), params | listed)
        return [_proposal(vault, row) for row in rows]

    def _seen(self, vault: str) -> tuple[str, dict[str, Value]]:
        """Keeps out what is about something that the viewer must not see."""
        if self._numbers.unbounded:
            return "", {}
        audiences = self._numbers.audiences(vault) or ["nobody"]
        query, params = self._sql["seen_by"].spread(audiences=audiences)
        hidden = self._numbers.hidden(vault)
        if hidden:
            about, numbers = self._sql["about_hidden"].spread(hidden=hidden)
            return f" {query.text} {about.text}", {**params, **numbers}
        return f" {query.text}", dict(params)


def _proposal(vault: str, row: Row) -> Proposal:
    id, op, memory, base_version, payload, *rest = row
    return Proposal(id, vault, op, memory, base_version, json.loads(payload), *rest)
