"""What became of a write, as JSON."""

from __future__ import annotations

from dolmen.interfaces.mcp.presenting import Json, compact, score
from dolmen.services.requests import Remembered, Similar


def remembered(result: Remembered) -> Json:
    return compact(
        {
            "outcome": result.outcome,
            "ref": result.ref,
            "kind": result.kind,
            "scope": result.scope,
            "status": "" if result.status == "active" else result.status,
            "deduplicated": result.deduplicated,
            "idempotent": result.idempotent,
            "superseded": list(result.superseded),
            "similar": [similar(one) for one in result.similar],
            "proposal": result.proposal,
            "because": result.because,
            "notes": list(result.notes),
            "error": None if result.error is None else dict(result.error),
        }
    )


def similar(one: Similar) -> Json:
    return {"ref": one.ref, "text": one.text, "similarity": score(one.similarity)}
