"""What an agent says about an answer: kept, so that people can measure recall on their own memory."""

from __future__ import annotations

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError, not_found
from dolmen.domain.values import Actor
from dolmen.services import checking
from dolmen.services.recording import audit, reason_text, refuse_secrets
from dolmen.services.requests import FeedbackRequest
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import ref_id
from dolmen.store.contract import Feedback, RecallEvent


def feedback(rt: Runtime, actor: Actor, request: FeedbackRequest) -> str:
    """Records whether an answer was relevant and sufficient; returns the record's id.

    Any mode may give feedback: it changes no memory.

    Raises:
        DolmenError: `invalid-argument` when nothing is said; `not-found` for an event of somebody else; `too-large`;
            `secret-detected`.
    """
    require(actor, "read")
    if request.relevant is None and request.sufficient is None and not request.reason.strip():
        raise DolmenError(
            "invalid-argument", "The feedback says nothing.", "Pass `relevant`, `sufficient` or `reason`."
        )
    if request.event is None and not request.refs:
        raise DolmenError("invalid-argument", "The feedback names nothing.", "Pass the recall's `event`, or `refs`.")
    refs = tuple(ref_id(ref) for ref in checking.refs(request.refs))
    refuse_secrets(*refs)
    reason = reason_text(request.reason)
    if request.event is not None:
        rt.journal.flush()
    with rt.write(actor) as tx:
        if request.event is not None and not _asked_by(tx.journal.event(actor.vault, request.event), actor):
            raise not_found("Recall event", request.event)
        entry = Feedback(
            id=tx.new_id(),
            vault=actor.vault,
            at=tx.now,
            connection=actor.connection,
            agent=actor.agent,
            event=request.event,
            refs=refs,
            relevant=request.relevant,
            sufficient=request.sufficient,
            reason=reason,
        )
        tx.journal.feedback(entry)
        audit(tx, actor, "feedback", entry.id)
        return entry.id


def _asked_by(event: RecallEvent | None, actor: Actor) -> bool:
    """Whether it is a recall of this connection; who keeps the house judges every answer."""
    return event is not None and (event.connection == actor.connection or actor.human or actor.mode == "admin")
