"""Recall: the answer to a question, as a pack under a token budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import Memory, Status
from dolmen.domain.packing import EXCERPT, REF_OVERHEAD, clamp, pack, taken_as
from dolmen.domain.values import Actor
from dolmen.services.answer.conflicts import conflicts_of
from dolmen.services.answer.copies import NAMED, Grouped, without_copies
from dolmen.services.answer.cursor import DEPTH, Place, cursor_of, place_of
from dolmen.services.answer.gaps import gaps_of
from dolmen.services.claims import claim_of, links_of, price, squeezed
from dolmen.services.requests import Budget, CaseView, Claim, Conflict, Pack, Recall
from dolmen.services.runtime import Runtime
from dolmen.services.scoping import EVERY_PROJECT, visible
from dolmen.services.search import Found, Query, Result, answered, exact, of_then, prepare, search, when
from dolmen.store.contract import Filter, RecallEvent, Tx

LIMIT = 50
UNSURE = "No sure answer: these are only near the question."
REORDERED = "The order changed since the first page: what ranked it then did not now. Some may come twice, or not."
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
    place = place_of(request)

    def first(tx: Tx) -> tuple[Filter, Result]:
        sight = _sight(tx, actor, request)
        return sight, _find(rt, tx, sight, query, request, place.shown + request.limit + 1)

    def then(tx: Tx, sight: Filter, result: Result) -> Pack:
        answer = _pack(tx, sight, query, request, result, place)
        health, lag = _health(rt, tx, actor)
        event = _noted(rt, tx, actor, query, answer) if request.record else None
        return replace(
            answer,
            index_health={"legs": list(result.legs), **health},
            event=event,
            partial=answer.partial or bool(result.notes) or lag,
            notes=(*result.notes, *when(result, query), *answer.notes),
        )

    return answered(rt, actor, query, first, then)


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
    if not query.text.strip():
        memories = tx.memories.select(sight, limit=depth)
        found = tuple(Found(m.id, 0, 1.0) for m in memories)
        return Result(found, {m.id: m for m in memories}, ("newest",), query.notes, {})
    if request.mode == "exact":
        return exact(tx, sight, query, depth)
    asked = depth if rt.reranker is None else max(depth, rt.options.rerank_top)
    return of_then(tx, sight, query, search(tx, sight, query, limit=asked, explain="explain" in request.include), depth)


def _shown(
    tx: Tx, sight: Filter, query: Query, request: Recall, result: Result, place: Place
) -> tuple[Result, Grouped]:
    """What an answer may show up to its page and one more, and the result, searched deeper where copies took the places
    of others."""
    asked = wanted = place.shown + request.limit + 1
    while True:
        distinct = _distinct(request, result, wanted, place.at)
        if len(distinct.heads) >= wanted or len(result.found) < asked or asked >= DEPTH or not result.searched:
            return result, distinct
        asked *= 4
        deeper = search(tx, sight, query, limit=asked, explain="explain" in request.include)
        known = {found.memory for found in result.found}
        more = (found for found in deeper.found if found.memory not in known)
        result = replace(result, found=(*result.found, *more), memories={**deeper.memories, **result.memories})


def _distinct(request: Recall, result: Result, most: int, at: int | None = None) -> Grouped:
    """The candidates that an answer shows, in their order; not what was written after its first page."""
    found = result.found if at is None else [f for f in result.found if result.memories[f.memory].created_at <= at]
    folds = request.fold and request.mode == "claims"
    return without_copies(found, result.memories, most) if folds else Grouped(tuple(found[:most]), {})


def _pack(tx: Tx, sight: Filter, query: Query, request: Recall, result: Result, place: Place) -> Pack:
    result, distinct = _shown(tx, sight, query, request, result, place)
    start = place.start([found.memory for found in distinct.heads])
    page = distinct.heads[start : start + request.limit]
    long = [f.passage for f in page if f.passage and len(result.memories[f.memory].text) > EXCERPT]
    spans = tx.index.spans(sight.vault, long) if long else {}
    links = links_of(tx, sight.vault, [f.memory for f in page]) if "links" in request.include else {}
    claims = [
        claim_of(
            tx, result.memories[f.memory], f, spans, links, request, also=distinct.copies.get(f.memory, ())[:NAMED]
        )
        for f in page
    ]
    budget = _ANY if request.budget_tokens is None else clamp(request.budget_tokens)
    kept, used, conflicts = _fitting(tx, sight, claims, page, budget)
    reached = start + len(kept)
    more = len(distinct.heads) > reached
    legs = "".join(leg[0] for leg in result.legs)
    cut = request.budget_tokens not in (None, budget)
    notes = (UNSURE,) if kept and all(claim.weak for claim in kept) else ()
    if request.budget_tokens is not None:
        notes = (*notes, *taken_as(request.budget_tokens, budget))
    if place.at is not None and legs != place.legs:
        notes = (*notes, REORDERED)
    at = sight.now if place.at is None else place.at
    unnamed = sum(max(0, len(distinct.copies.get(claim.ref, ())) - NAMED) for claim in kept)
    shown = tuple(sorted(kept, key=lambda c: c.created_at)) if request.mode == "timeline" else tuple(kept)
    return Pack(
        query=query.text,
        claims=() if request.mode == "cases" else shown,
        cases=_cases(shown, result.memories) if request.mode == "cases" else (),
        budget=Budget(request.budget_tokens or 0, used, len(claims) - len(kept) + unnamed),
        conflicts=tuple(conflicts),
        gaps=tuple(gaps_of(query, result, request.limit)),
        partial=more or cut,
        cursor=cursor_of(request, Place(reached, kept[-1].ref, at, legs))
        if more and kept and reached < DEPTH
        else None,
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
        conflicts = conflicts_of(tx, sight, kept, page)[: room // (2 * REF_OVERHEAD)]
        used = spent + len(conflicts) * 2 * REF_OVERHEAD
        if used <= budget or len(kept) < 2:
            return kept, used, conflicts
        spent -= price(kept.pop())


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


def _health(rt: Runtime, tx: Tx, actor: Actor) -> tuple[dict[str, Any], bool]:
    """How much of what is in sight can be found by meaning, and whether some of it cannot yet."""
    embedder = rt.embedder
    if embedder is None or embedder.dim == 0:
        return {"embedding_coverage": None, "lag_seconds": 0}, False
    health = rt.index_health(tx, actor, tx.index.find_model(embedder.model, embedder.dim))
    coverage = round(health.embedded / health.passages, 4) if health.passages else 1.0
    lag = 0 if health.oldest_pending_at is None else max(0, tx.now - health.oldest_pending_at) // 1_000_000
    return {"embedding_coverage": coverage, "lag_seconds": lag}, coverage < 1
