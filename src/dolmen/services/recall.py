"""Recall: the answer to a question, as a pack under a token budget."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dolmen.domain.access import require
from dolmen.domain.competing import competing
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory, Status
from dolmen.domain.packing import REF_OVERHEAD, clamp, pack
from dolmen.domain.text import analyze, weight
from dolmen.domain.values import Actor
from dolmen.services.claims import claim_of, links_of, price, squeezed
from dolmen.services.forget import containing
from dolmen.services.requests import Budget, CaseView, Claim, Conflict, Pack, Recall
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import EVERY_PROJECT, visible
from dolmen.services.search import Found, Query, Result, answered, prepare, search, when
from dolmen.store.contract import Filter, RecallEvent, Tx

LIMIT = 50
DEPTH = 500
"""How deep a cursor reaches."""
UNSURE = "No sure answer: these are only near the question."
_COMPARED, _CONFLICTS = 12, 8
_ANY = 2**31


def recall(rt: Runtime, actor: Actor, request: Recall) -> Pack:
    """What memory holds about a question (C-1): claims best first, what contradicts, what is missing, what did not fit.

    An empty pack is an answer: nothing relevant is stored.

    Raises:
        DolmenError: `invalid-argument` for a limit, mode or cursor that does not fit.
    """
    require(actor, "read")
    if not 1 <= request.limit <= LIMIT:
        raise DolmenError("invalid-argument", f"limit {request.limit} is out of range.", f"Use 1 to {LIMIT}.")
    query = prepare(rt, request.query, request.zone)
    offset = _offset(request)

    def first(tx: Tx) -> tuple[Filter, Result]:
        sight = _sight(tx, actor, request)
        return sight, _find(rt, tx, sight, query, request, offset + request.limit + 1)

    def then(tx: Tx, sight: Filter, result: Result) -> Pack:
        answer = _pack(tx, sight, query, request, result, offset)
        health, lag = _health(rt, tx, sight)
        event = _noted(rt, tx, actor, query, answer) if request.record else None
        return replace(
            answer,
            index_health={"legs": list(result.legs), **health},
            event=event,
            partial=answer.partial or bool(result.notes) or lag,
            notes=(*result.notes, *when(result, query), *answer.notes),
        )

    return answered(rt, query, first, then)


def _noted(rt: Runtime, tx: Tx, actor: Actor, query: Query, answer: Pack) -> str:
    """The id under which the recall is kept, for feedback."""
    event = tx.new_id()
    refs = tuple(claim.ref for claim in answer.claims)
    rt.journal.event(RecallEvent(event, actor.vault, tx.now, actor.connection, actor.agent, query.text, refs))
    return event


def _sight(tx: Tx, actor: Actor, request: Recall) -> Filter:
    statuses: tuple[Status, ...] = ("active", "superseded") if "superseded" in request.include else ("active",)
    if request.every_scope and not (actor.human or actor.mode == "admin"):
        raise DolmenError(
            "forbidden", "Only people search every scope.", f"Pass project `{EVERY_PROJECT}` or name one."
        )
    return visible(
        tx,
        actor,
        EVERY_PROJECT if request.every_scope else request.project,
        statuses=statuses,
        kinds=request.kinds,
        labels=request.labels,
        tags=request.tags,
        since=request.since,
        until=request.until,
        as_of=None if request.as_of is None else min(request.as_of, tx.now),
    )


def _find(rt: Runtime, tx: Tx, sight: Filter, query: Query, request: Recall, depth: int) -> Result:
    if request.mode == "exact":
        return _listed(query, containing(tx, sight, query.text, depth), ("exact",))
    if not query.text.strip():
        return _listed(query, tx.memories.select(sight, limit=depth), ("newest",))
    enough = depth if rt.reranker is None else max(depth, rt.options.rerank_top)
    return search(tx, sight, query, limit=enough, explain="explain" in request.include)


def _listed(query: Query, memories: Sequence[Memory], legs: tuple[str, ...]) -> Result:
    found = tuple(Found(m.id, 0, 1.0) for m in memories)
    return Result(found, {m.id: m for m in memories}, legs, query.notes, {})


def _pack(tx: Tx, sight: Filter, query: Query, request: Recall, result: Result, offset: int) -> Pack:
    page = result.found[offset : offset + request.limit]
    spans = tx.index.spans(sight.vault, [f.passage for f in page if f.passage])
    links = links_of(tx, sight.vault, [f.memory for f in page]) if "links" in request.include else {}
    claims = [claim_of(tx, result.memories[f.memory], f, spans, links, request) for f in page]
    budget = _ANY if request.budget_tokens is None else clamp(request.budget_tokens)
    kept, used, conflicts = _fitting(tx, sight, claims, page, budget)
    reached = offset + len(kept)
    more = len(result.found) > reached
    cut = request.budget_tokens not in (None, budget)
    notes = (UNSURE,) if kept and all(claim.weak for claim in kept) else ()
    if cut:
        notes = (*notes, f"budget_tokens {request.budget_tokens} was taken as {budget}")
    shown = tuple(sorted(kept, key=lambda c: c.created_at)) if request.mode == "timeline" else tuple(kept)
    return Pack(
        query=query.text,
        claims=() if request.mode == "cases" else shown,
        cases=_cases(shown, result.memories) if request.mode == "cases" else (),
        budget=Budget(request.budget_tokens or 0, used, len(claims) - len(kept)),
        conflicts=tuple(conflicts),
        gaps=tuple(_gaps(query, result)),
        partial=more or cut,
        cursor=_cursor(request, reached) if more and kept and reached < DEPTH else None,
        notes=notes,
    )


def _fitting(
    tx: Tx, sight: Filter, claims: Sequence[Claim], page: Sequence[Found], budget: int
) -> tuple[list[Claim], int, list[Conflict]]:
    """The claims that fit together with the conflicts between them, what both cost, and those conflicts."""
    packed = pack(claims, price, budget)
    kept, spent = list(packed.kept), packed.used
    if not kept and claims:
        kept = [squeezed(claims[0], budget)]
        spent = price(kept[0])
    while True:
        room = max(budget // 4 if len(kept) > 1 else 0, budget - spent)
        conflicts = _conflicts(tx, sight, kept, page)[: room // (2 * REF_OVERHEAD)]
        used = spent + len(conflicts) * 2 * REF_OVERHEAD
        if used <= budget or len(kept) < 2:
            return kept, used, conflicts
        spent -= price(kept.pop())


def _conflicts(tx: Tx, sight: Filter, claims: Sequence[Claim], page: Sequence[Found]) -> list[Conflict]:
    """What competes with a shown claim, also from outside the page when it is linked as contradicting and served."""
    refs = {claim.ref for claim in claims}
    out: dict[tuple[str, ...], Conflict] = {}
    edges = [e for e in tx.links.around(sight.vault, sorted(refs)) if e.rel == "contradicts"] if refs else []
    others = tx.memories.many(sight.vault, [end for e in edges for end in (e.source, e.target) if end not in refs])
    served = refs | {m.id for m in others.values() if m.served(sight.now) and _in(sight, m)}
    for edge in edges:
        if edge.source in served and edge.target in served:
            pair = tuple(sorted((edge.source, edge.target)))
            out[pair] = Conflict(pair, "linked as contradicting")
    for claim in claims:
        if claim.superseded_by in refs:
            pair = tuple(sorted((claim.ref, str(claim.superseded_by))))
            out[pair] = Conflict((claim.ref, str(claim.superseded_by)), "the first was superseded by the second")
    indexed = {found.memory: found.tokens for found in page}
    # To analyze every claim again where the search has read its tokens would take a tenth of a recall.
    compared = [(c.ref, c.text, indexed[c.ref] or " ".join(analyze(c.text))) for c in claims[:_COMPARED]]
    for a, b, why in competing(compared):
        out.setdefault(tuple(sorted((a, b))), Conflict((a, b), why))
    return list(out.values())[:_CONFLICTS]


def _in(sight: Filter, memory: Memory) -> bool:
    return sight.scopes is None or memory.scope in sight.scopes


def _gaps(query: Query, result: Result) -> list[str]:
    """Words of the query that nothing in sight has: names and identifiers always, others when there is no answer."""
    if "words" not in result.legs:
        return []
    missing: list[str] = []
    for word in dict.fromkeys(query.text.split()):
        tokens = [t for t in analyze(word, query=True) if weight(t) >= 0.4]
        if not tokens or any(result.frequencies.get(t, 0) for t in tokens):
            continue
        bare = word.strip(".,;:!?\"'()[]{}`")
        named = any(c.isdigit() or c in "_/.:@-" for c in bare) or (
            bare[:1].isupper() and not query.text.startswith(word)
        )
        if bare and (named or not result.found):
            missing.append(bare)
    return missing[:12]


def _cases(claims: Sequence[Claim], memories: Mapping[str, Memory]) -> tuple[CaseView, ...]:
    grouped: dict[str, list[Claim]] = {}
    for claim in claims:
        case = memories[claim.ref].case
        grouped.setdefault(case.id if case else "", []).append(claim)
    views = []
    for id, events in grouped.items():
        if not id:
            continue
        cases = [c for e in events if (c := memories[e.ref].case)]
        text = {
            name: next((v for c in cases if (v := getattr(c, name))), "") for name in ("goal", "outcome", "resolution")
        }
        ordered = tuple(sorted(events, key=lambda e: e.created_at))
        views.append(CaseView(id, **text, score=max(e.score for e in events), events=ordered))
    return tuple(sorted(views, key=lambda v: -v.score))


def _health(rt: Runtime, tx: Tx, sight: Filter) -> tuple[dict[str, Any], bool]:
    """How much of what is in sight can be found by meaning, and whether some of it cannot yet."""
    embedder = rt.embedder
    if embedder is None or embedder.dim == 0:
        return {"embedding_coverage": None, "lag_seconds": 0}, False
    health = rt.index_health(tx, sight.vault, tx.index.find_model(embedder.model, embedder.dim))
    coverage = round(health.embedded / health.passages, 4) if health.passages else 1.0
    lag = 0 if health.oldest_pending_at is None else max(0, tx.now - health.oldest_pending_at) // 1_000_000
    return {"embedding_coverage": coverage, "lag_seconds": lag}, coverage < 1


# --------------------------------------------------------------------------------------------------------------- cursor
def _signature(request: Recall) -> str:
    fields = (
        request.query, request.project, request.kinds, request.labels, request.tags, request.since, request.until,
        request.as_of, request.mode, request.limit, "superseded" in request.include,
    )  # fmt: skip
    return hashlib.sha256(repr(fields).encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _cursor(request: Recall, offset: int) -> str:
    return base64.urlsafe_b64encode(f"{offset}.{_signature(request)}".encode()).decode().rstrip("=")


def _offset(request: Recall) -> int:
    if not request.cursor:
        return 0
    try:
        padded = request.cursor + "=" * (-len(request.cursor) % 4)
        offset, _, signature = base64.urlsafe_b64decode(padded).decode().partition(".")
        if signature == _signature(request) and 0 < int(offset) <= DEPTH:
            return int(offset)
    except ValueError:
        pass
    raise DolmenError("invalid-argument", "The cursor does not belong to this query.", "Repeat the query without it.")
