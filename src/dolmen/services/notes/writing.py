"""The steps that every write to a note shares: its limits, its vectors, and one transaction that keeps or queues it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dolmen.domain.access import decide
from dolmen.domain.errors import DolmenError
from dolmen.domain.note import SOURCE_LIMIT, Note, address
from dolmen.domain.policy import CHANGE, Write
from dolmen.domain.proposal import ProposalOp
from dolmen.domain.text import clean
from dolmen.domain.values import Actor
from dolmen.services.bounds import require_room
from dolmen.services.indexing import Embedded, embed
from dolmen.services.notes.drafting import Draft
from dolmen.services.notes.settling import Settled, kinds_of, settle, standing_of
from dolmen.services.recording import audit, change, queue
from dolmen.services.requests.notes import NoteWritten
from dolmen.services.requests.writing import Outcome
from dolmen.services.runtime import Runtime
from dolmen.services.sharing import audience_of_change
from dolmen.store.contract import Tx


def source_text(content: str, what: str = "content") -> str:
    """Markdown as it is kept: exactly as given but for NUL and lone surrogates.

    Raises:
        DolmenError: `too-large` above 1,000,000 characters (C-239).
    """
    text = clean(content)[0]
    if len(text) > SOURCE_LIMIT:
        raise too_long(len(text), what)
    return text


def too_long(length: int, what: str = "note") -> DolmenError:
    return DolmenError(
        "too-large",
        f"The {what} has {length} characters; a note holds at most {SOURCE_LIMIT}.",
        "Split it into several notes that link to each other.",
    )


def within_limit(draft: Draft) -> Draft:
    if len(draft.note.source) > SOURCE_LIMIT:
        raise too_long(len(draft.note.source))
    return draft


def vectors_of(rt: Runtime, draft: Draft, before: Note | None = None) -> dict[str, Embedded]:
    """Vectors for the blocks that are new or reworded, when they are few; the others are embedded later."""
    known = set(before.blocks) if before is not None else set()
    fresh = [id for id in draft.statements if id not in known]
    texts = [draft.statements[id].text for id in fresh]
    return dict(zip(fresh, embed(rt.embedder, texts, rt.options.inline_embeddings)))


def conflict(note: Note, said: str = "has changed since it was read") -> DolmenError:
    """Somebody was faster: the answer has what the writer needs to try again (B061)."""
    return DolmenError(
        "conflict",
        f"The note at {note.permalink} {said} (now version {note.version}).",
        "Read it again, take what changed into account, and edit with its sha.",
        ref=address(note.permalink),
        sha=note.sha,
        version=note.version,
    )


def fresh(note: Note, expected: str | None) -> None:
    if not is_seen(note, expected):
        raise conflict(note)


def is_seen(note: Note, expected: str | None) -> bool:
    """Whether the writer saw this version, or named none."""
    return expected is None or expected.lower() == note.sha


def keep(
    tx: Tx,
    actor: Actor,
    before: Note,
    draft: Draft,
    op: str,
    reason: str = "",
    vectors: Mapping[str, Embedded] | None = None,
    *,
    proposal: tuple[ProposalOp, Mapping[str, Any]],
    agreed: Mapping[str, Any] | None = None,
    write: Write = CHANGE,
) -> NoteWritten:
    """Writes the next version of a note, or queues it for a person.

    Args:
        proposal: what to queue, when this has to wait.
        write: what it is to the write policy.

    Raises:
        DolmenError: `conflict` when the policy refuses a write to a version that its writer did not see.
    """
    after = draft.note.with_(audience=audience_of_change(tx, actor, before, draft.note))
    draft = Draft(after, draft.statements, draft.reworded)
    if _alike(before, after):
        return written("unchanged", before)
    standing = standing_of(tx, before)
    decision, because = decide(actor, *kinds_of(standing, draft), write=write)
    if decision == "refuse":
        raise conflict(before)
    if decision == "queue":
        kept = queue(tx, actor, proposal[0], because, None, proposal[1], reason, note=before)
        return written("queued", before, proposal=kept.id, because=because)
    require_room(tx, actor, len(draft.statements) - len(standing))
    after = after.with_(version=before.version + 1, updated_at=tx.now)
    tx.notes.update(before, after, change(tx, actor, op, reason))
    ready = Draft(after, draft.statements, draft.reworded)
    revive = before.status == "superseded" and after.status == "active"
    done = settle(tx, actor, ready, standing, op, reason, vectors, agreed, revive=revive)
    audit(tx, actor, f"note:{op}", after.id)  # its address may say what is purged one day
    return written("deleted" if after.status == "deleted" else "updated", after, done)


def written(outcome: Outcome, note: Note, done: Settled | None = None, **more: Any) -> NoteWritten:
    done = done or Settled()
    return NoteWritten(
        outcome,
        address(note.permalink),
        note.permalink,
        note.title,
        note.version,
        note.sha,
        tuple(done.added),
        tuple(done.changed),
        tuple(done.removed),
        note=note,
        **more,
    )


def _alike(before: Note, after: Note) -> bool:
    return after.with_(version=before.version, updated_at=before.updated_at) == before
