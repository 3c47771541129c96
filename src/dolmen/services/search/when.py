"""Questions that name a time: what is said of it, and what is listed where they ask about nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

from dolmen.domain.timeframe import Range, local, without_recent
from dolmen.services.search.first import Found, Result
from dolmen.services.search.query import Query
from dolmen.store.contract import Filter, Tx

ALWAYS = Range(None, None, "")
LISTED = 0.5
"""Score of what is listed because it is from the time that a question asks about."""
_ASKING = re.compile(
    r"\b(?:what|which|anything|everything|things?|did|do|does|have|has|was|were|is|are|we|i|you|us|our|my|the|on|in|at|of|"
    r"to|get|got|done|happen(?:ed|s)?|going|work(?:ed|ing)?|new|changed?|changes|show|list|tell|me|about|all|memories|"
    r"notes?|recorded|written|learned|that|there|been|from|and|most|time|sessions?|tasks?|activity|progress|updates?|"
    r"summar(?:y|ies|ize))\b|['’]s\b|"
    r"(?:뭐|뭘|무엇|무슨|어떤|일|것|작업|기록|목록|세션|내용|메모리|메모)(?:들)?(?:에서|으로|[이가은는을를의도])?|"
    r"[했한](?:더라|었)?[지나어니던]?|하[고는]?|있었[지나어니던]?|(?:이었|였)[지나어니던]|인가요?|인지|이야|야|요|까|보여|알려|줘|으로|에서|에|의"
)
"""The words of a question that asks about a time and about nothing else."""


def when(result: Result, query: Query) -> tuple[str, ...]:
    """One note with the ranges that were understood, and where their days begin (B166); none for most questions."""
    if not result.ranges:
        return ()
    said = "; ".join(f"{each.words!r} = {_shown(each, query.zone)}" for each in result.ranges)
    return (f"Times in the query: {said} ({query.zone}). What is from then ranks higher; nothing was left out.",)


def _shown(each: Range, zone: str) -> str:
    start = "" if each.start is None else f"from {local(each.start, zone)}"
    end = "" if each.end is None else f"to {local(each.end, zone)}"
    return f"{start} {end}".strip()


def of_then(tx: Tx, sight: Filter, query: Query, result: Result, depth: int) -> Result:
    """For "what did we do yesterday": what is from then, newest first, before what was found otherwise. For "what was
    the latest work", which names no subject either: whatever is newest."""
    then = result.ranges or ((ALWAYS,) if query.recent else ())
    if not then or not _only_when(query.text, result.ranges):
        return result
    listed = {memory.id: memory for each in then for memory in tx.memories.select(_within(sight, each), limit=depth)}
    first = [Found(id, 0, LISTED) for id in listed]
    rest = [replace(found, score=min(found.score, LISTED)) for found in result.found if found.memory not in listed]
    return replace(result, found=(*first, *rest), memories={**result.memories, **listed}, legs=(*result.legs, "newest"))


def _only_when(text: str, ranges: tuple[Range, ...]) -> bool:
    rest = " ".join(text.lower().split())
    for each in ranges:
        rest = rest.replace(each.words, " ")
    return re.search(r"\w", _ASKING.sub(" ", without_recent(rest))) is None


def _within(sight: Filter, each: Range) -> Filter:
    since = [at for at in (sight.since, each.start) if at is not None]
    until = [at for at in (sight.until, each.end) if at is not None]
    return replace(sight, since=max(since, default=None), until=min(until, default=None))
