"""What an answer says of the times that its question names."""

from __future__ import annotations

from dolmen.domain.timeframe import Range, local
from dolmen.services.search.first import Result
from dolmen.services.search.query import Query


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
