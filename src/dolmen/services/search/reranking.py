"""The second stage (C-152, C-153): a cross-encoder judges the best candidates, between two transactions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from dolmen.domain.lifting import aged
from dolmen.domain.memory import SUMMARY, Memory
from dolmen.domain.ranking import order
from dolmen.domain.values import Actor
from dolmen.models.contract import ModelUnavailable
from dolmen.services.runtime import Runtime
from dolmen.services.search.first import Found, Result
from dolmen.services.search.neighbours import expanded
from dolmen.services.search.query import Query
from dolmen.services.search.weighing import facts_of, weighed
from dolmen.store.contract import Filter, Tx

if TYPE_CHECKING:
    from dolmen.models.reranker.contract import Reranker

T = TypeVar("T")

TEXT = 2_000
"""Characters of a memory that are judged, around its best passage."""
SURE = 0.5
"""Probability from which an answer is not called weak."""
NOT_RERANKED = "not reranked: "


@dataclass(frozen=True, slots=True)
class _Shortlist:
    """What the reranker is asked about."""

    found: tuple[Found, ...]
    texts: tuple[str, ...]
    memories: Mapping[str, Memory]


def answered(
    rt: Runtime,
    actor: Actor,
    query: Query | None,
    first: Callable[[Tx], tuple[Filter, Result]],
    then: Callable[[Tx, Filter, Result], T],
) -> T:
    """Runs a search and what is made of its result: in one transaction, or, where a reranker judges in between, in two,
    since no model is called while one is open. What changed or went meanwhile is looked at again before it is shown."""
    with rt.read(actor) as tx:
        sight, result = first(tx)
        if rt.reranker is None or query is None or not (result.searched and result.found):
            return then(tx, sight, result)
        shortlist = _shortlist(tx, sight, result, rt.options.rerank_top)
    result = _judged(rt.reranker, sight.now, query, result, shortlist)
    with rt.read(actor) as tx:
        sight = replace(sight, now=tx.now)
        return then(tx, sight, _still_seen(tx, sight, result))


def _shortlist(tx: Tx, sight: Filter, result: Result, top: int) -> _Shortlist:
    joined = expanded(tx, sight, result)
    found = joined.found[:top]
    memories = {**joined.memories, **result.memories}
    spans = tx.index.spans(sight.vault, [each.passage for each in found if each.passage])
    texts = tuple(_text(memories[each.memory], *spans.get(each.passage, (0, 0))) for each in found)
    return _Shortlist(found, texts, memories)


def _text(memory: Memory, start: int, end: int) -> str:
    """The title, and the passage with what stands around it."""
    room = TEXT - min(TEXT, end - start)
    at = max(0, min(start - room // 2, len(memory.text) - TEXT))
    title = f"{memory.title}\n" if memory.title else ""
    return title + memory.text[at : at + TEXT]


def _judged(reranker: Reranker, now: int, query: Query, result: Result, shortlist: _Shortlist) -> Result:
    """The result in the reranker's order; as it was, without neighbours, when there is no answer in time."""
    try:
        probabilities = reranker.rerank(query.text, shortlist.texts)
    except ModelUnavailable as failure:
        return replace(result, notes=(*result.notes, NOT_RERANKED + failure.reason))
    ranked: list[tuple[tuple[float, ...], Found]] = []
    for found, probability in zip(shortlist.found, probabilities, strict=True):
        memory = shortlist.memories[found.memory]
        facts = facts_of(memory, now)
        score = weighed(probability, memory, facts, query, result.ranges)
        if memory.label == SUMMARY:
            score = aged(score, facts.age)
        parts: dict[str, Any] = {**found.parts, "first": round(found.score, 4), "reranked": round(probability, 4)}
        judged = replace(found, score=score, parts=parts, weak=found.weak and probability < SURE)
        ranked.append(((float(not found.exact), *order(score, facts)), judged))
    ranked.sort(key=lambda pair: pair[0])
    best = [judged for _, judged in ranked]
    seen = {judged.memory for judged in best}
    last = min(judged.score for judged in best)
    rest = [replace(each, score=min(each.score, last)) for each in result.found if each.memory not in seen]
    return replace(result, found=(*best, *rest), memories=shortlist.memories, legs=(*result.legs, "reranked"))


def _still_seen(tx: Tx, sight: Filter, result: Result) -> Result:
    """Without what was forgotten while the reranker worked; what was edited is shown as it is now."""
    ids = tuple(found.memory for found in result.found)
    memories = {m.id: m for m in tx.memories.select(replace(sight, ids=ids), limit=len(ids))}
    found = [
        each
        if memories[each.memory].version == result.memories[each.memory].version
        else replace(each, passage=0, tokens="")
        for each in result.found
        if each.memory in memories
    ]
    return replace(result, found=tuple(found), memories=memories)
