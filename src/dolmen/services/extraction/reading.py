"""Reading one session: ask the model, check every statement, keep what passes as proposals (C-272 to C-275)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from dolmen.domain.audience import everybody
from dolmen.domain.consolidating import covered
from dolmen.domain.errors import DolmenError
from dolmen.domain.extraction import EVIDENCE, KIND_OF, Candidate, Session, commands
from dolmen.domain.memory import Memory, Status
from dolmen.domain.text import content_key, trigram_similarity
from dolmen.domain.values import HOUR, USER_SCOPE, Actor
from dolmen.services.checking import checked
from dolmen.services.extraction.asking import candidates, extraction
from dolmen.services.indexing import Embedded, embed
from dolmen.services.jobs import Later, Write
from dolmen.services.policy import by_versions, policy_in
from dolmen.services.recording import audit
from dolmen.services.remember import store_one
from dolmen.services.requests import NewLink, NewMemory
from dolmen.services.runtime import Runtime
from dolmen.services.similarity import similar
from dolmen.store.contract import Filter, Job, Tx

KIND = "extract"
"""The kind of these jobs; their key is the summary."""
AGENT = "dolmen-extractor"
"""Who writes what was extracted."""
CONNECTION = "extractor"
_UNDECIDED = HOUR
"""How long a summary that waits for a person itself is left alone."""
_LOOKED_AT = 500
"""Proposed, and as many forgotten, memories of a scope that a new one is compared with."""


def extract(rt: Runtime, job: Job) -> Write:
    """The handler of the jobs: reads one summary.

    One that not everybody may see is never read to a model.

    Nothing that a summary or the model says reaches further than the text, the kind and the evidence of memories in the
    summary's own scope.
    """
    with rt.store.read(everybody(job.vault)) as tx:
        summary = tx.memories.get(job.vault, job.key)
    if summary is not None and summary.status == "proposed":
        raise Later(_UNDECIDED, "the summary waits for a person")
    if rt.chat is None or summary is None or summary.status != "active":
        return lambda tx: None
    in_repository = summary.scope != USER_SCOPE
    answer = rt.chat.ask(extraction(summary.text, in_repository=in_repository))
    session = Session(summary.text, in_repository=in_repository)
    good, faults = [], Counter[str]()
    for candidate in candidates(answer):
        fault = session.fault(candidate)
        faults.update([fault] if fault else [])
        good += [] if fault else [candidate]
    vectors = embed(rt.embedder, [each.text.strip() for each in good], rt.options.inline_embeddings)
    found, model = summary, rt.chat.model
    return lambda tx: _keep(rt, tx, found, list(zip(good, vectors, strict=True)), model, faults)


def _keep(
    rt: Runtime, tx: Tx, seen: Memory, good: Sequence[tuple[Candidate, Embedded]], model: str, faults: Counter[str]
) -> None:
    summary = tx.memories.get(seen.vault, seen.id)
    if summary is None or summary.version != seen.version:
        return  # changed or purged while the model was reading: its words are not what this summary says
    tx.scopes.lock(summary.vault, summary.scope)  # of two sessions that say the same, the second finds the first
    actor = Actor(summary.vault, summary.person, AGENT, "suggest", CONNECTION)
    stored = 0
    for candidate, embedded in good:
        try:
            fault = _store(rt, tx, actor, summary, candidate, embedded, model)
        except DolmenError as refused:
            if refused.code in ("store-busy", "unavailable", "internal", "conflict"):
                raise
            fault = refused.code
        stored += fault is None
        faults.update([fault] if fault else [])
    dropped = ", ".join(f"{name} {number}" for name, number in sorted(faults.items()))
    audit(tx, actor, "extract", f"{summary.id}: {stored} kept" + (f"; dropped: {dropped}" if dropped else ""))


def _store(
    rt: Runtime, tx: Tx, actor: Actor, summary: Memory, candidate: Candidate, embedded: Embedded, model: str
) -> str | None:
    """Keeps one statement; why not, otherwise."""
    kind = KIND_OF[candidate.category]
    item = checked(
        NewMemory(
            content=candidate.text.strip(),
            kind=kind,
            project=summary.scope.removeprefix("project:"),
            session=summary.session,
            links=(NewLink("derived_from", summary.id),),
            attrs=_attrs(summary, candidate, model),
        )
    )
    if tx.memories.saying(summary.vault, summary.scope, content_key(item.content)):
        return "known"
    statement = Memory("", summary.vault, summary.scope, kind, item.content, created_at=tx.now)
    alike = _alike(rt, tx, statement, embedded)
    if any(covered(item.content, other.text) for other in (*alike, *_rejected(tx, statement))):
        return "known"
    if any(_said_before(tx, other, item.content) for other in alike):
        return "known"
    item = replace(item, attrs={**item.attrs, "similar_to": [other.id for other in alike]})
    direct = candidate.basis == "stated" and not alike and not commands(item.content)
    served = rt.options.extract_policy == "auto" and direct and kind != "preference"
    writer = replace(actor, mode="write", writing=by_versions(policy_in(tx, actor.vault))) if served else actor
    store_one(rt, tx, writer, item, embedded, origin="extract:store", waits="extracted")
    return None


def _attrs(summary: Memory, candidate: Candidate, model: str) -> dict[str, Any]:
    return {
        "session_agent": summary.agent,
        EVIDENCE: candidate.evidence.strip(),
        "basis": candidate.basis,
        "extractor_model": model,
    }


def _alike(rt: Runtime, tx: Tx, statement: Memory, embedded: Embedded) -> list[Memory]:
    """Active and proposed memories of the scope that the statement resembles."""
    active = [each.memory for each in similar(rt, tx, statement, embedded) if each.memory is not None]
    proposed = _some(tx, statement, "proposed")
    near = [m for m in proposed if trigram_similarity(m.text, statement.text) >= rt.options.similar_trigrams]
    return [*active, *near]


def _said_before(tx: Tx, memory: Memory, content: str) -> bool:
    """Whether the memory said this until somebody changed it, such as a person who edited it before agreeing."""
    key = content_key(content)
    return any(content_key(earlier.memory.text) == key for earlier in tx.memories.revisions(memory.vault, memory.id))


def _rejected(tx: Tx, statement: Memory) -> list[Memory]:
    """What a person said no to in the scope, latest first."""
    return [memory for memory in _some(tx, statement, "deleted") if memory.verification == "rejected"]


def _some(tx: Tx, statement: Memory, status: Status) -> list[Memory]:
    sight = Filter(statement.vault, (statement.scope,), tx.now, (status,), include_expired=True)
    return tx.memories.select(sight, "changed", _LOOKED_AT)
