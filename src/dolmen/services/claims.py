"""Claims: memories as a pack shows them, and what each costs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dolmen.domain.memory import Link, Memory
from dolmen.domain.note import address_of
from dolmen.domain.packing import CLAIM_OVERHEAD, REF_OVERHEAD, cost, excerpt
from dolmen.services.code.views import become
from dolmen.services.requests import Claim, Recall
from dolmen.services.search import Found
from dolmen.store.contract import Filter, Tx

_NEIGHBORS = 2


def claim_of(
    tx: Tx,
    memory: Memory,
    found: Found,
    spans: Mapping[int, tuple[int, int]],
    links: Mapping[str, tuple[Link, ...]],
    request: Recall,
    also: tuple[str, ...] = (),
) -> Claim:
    """A memory as an answer to a recall: whole when it is short, else around the passage that was found. `also`: its
    copies."""
    start, end = excerpt(memory.text, *spans.get(found.passage, (0, 0)))
    return quoted(
        memory,
        start,
        end,
        round(found.score, 4),
        superseded_by=memory.superseded_by,
        also=also,
        links=links.get(memory.id, ()),
        source=memory.source if "sources" in request.include else "",
        weak=found.weak,
        exact=found.exact,
        neighbors=_neighbors(tx, memory) if "neighbors" in request.include else (),
        explain=found.parts if "explain" in request.include else None,
        code=become(tx, memory),
    )


def quoted(memory: Memory, start: int, end: int, score: float, **more: Any) -> Claim:
    """A stretch of a memory with its provenance. `more`: other fields of the claim."""
    whole = (start, end) == (0, len(memory.text))
    return Claim(
        ref=memory.id,
        text=memory.text[start:end],
        kind=memory.kind,
        scope=memory.scope,
        score=score,
        status=memory.status,
        trust=memory.trust,
        verification=memory.verification,
        agent=memory.agent,
        created_at=memory.created_at,
        updated_at=memory.updated_at,
        title=memory.title,
        tags=memory.tags,
        span=None if whole else (start, end),
        memory=memory,
        **more,
    )


def price(claim: Claim) -> int:
    """Tokens that a claim costs in the answer; a little more than it does, never less."""
    case = claim.memory.case if claim.memory else None
    home = address_of(claim.memory) if claim.memory else ""
    words = cost(
        claim.text,
        claim.title,
        claim.scope,
        claim.agent,
        claim.source,
        home,
        *claim.tags,
        *claim.neighbors,
        *claim.code,
        *(() if case is None else (case.id, case.goal, case.outcome, case.resolution)),
        "" if claim.explain is None else json.dumps(dict(claim.explain)),
    )
    refs = len(claim.links) + len(claim.also) + (claim.superseded_by is not None)
    unusual = (claim.updated_at > claim.created_at, claim.status != "active", claim.verification != "accepted",
               claim.span is not None, claim.weak, claim.code, home)  # fmt: skip
    return CLAIM_OVERHEAD + words + refs * (REF_OVERHEAD + 10) + sum(map(bool, unusual)) * 16 + 2 * len(claim.tags)


def squeezed(claim: Claim, budget: int) -> Claim:
    """The first claim cut down to the budget: an answer with a handle to read more beats none. What was asked for
    besides goes first, then the end of the text."""
    cut = claim
    if price(cut) > budget:
        cut = replace(cut, links=(), neighbors=(), explain=None, source="", tags=())
    start = claim.span[0] if claim.span else 0
    while price(cut) > budget and len(cut.text) > 40:
        length = len(cut.text) * 2 // 3
        cut = replace(cut, text=cut.text[:length], span=(start, start + length))
    return cut


def links_of(tx: Tx, vault: str, ids: Sequence[str]) -> dict[str, tuple[Link, ...]]:
    """The edges of each memory."""
    out: dict[str, tuple[Link, ...]] = {}
    for edge in tx.links.around(vault, ids):
        for end in {edge.source, edge.target} & set(ids):
            out[end] = (*out.get(end, ()), edge)
    return out


def _neighbors(tx: Tx, memory: Memory) -> tuple[str, ...]:
    """What was written just before and after it in the same session, shortened."""
    if not memory.session:
        return ()
    sight = Filter(vault=memory.vault, scopes=(memory.scope,), now=tx.now, session=memory.session)
    ordered = tx.memories.select(sight, "oldest", limit=200)
    at = next((n for n, other in enumerate(ordered) if other.id == memory.id), None)
    if at is None:
        return ()
    near = ordered[max(0, at - _NEIGHBORS) : at] + ordered[at + 1 : at + 1 + _NEIGHBORS]
    return tuple(other.text[:300] for other in near)
