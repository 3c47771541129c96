"""What is known of a memory besides the question, laid on its score: at the end of each stage."""

from __future__ import annotations

from collections.abc import Sequence

from dolmen.domain.lifting import lifted
from dolmen.domain.memory import Memory
from dolmen.domain.ranking import Facts, signals
from dolmen.domain.timeframe import Range
from dolmen.services.search.query import Query


def facts_of(memory: Memory, now: int) -> Facts:
    """The facts that signals look at."""
    return Facts(
        age=max(0, now - memory.updated_at),
        code_gone=memory.attrs.get("code") == "gone",
        code_changed=memory.attrs.get("code") == "changed",
        importance=memory.importance,
        verified=memory.verification == "verified",
    )


def weighed(score: float, memory: Memory, facts: Facts, query: Query, ranges: Sequence[Range]) -> float:
    """The score after the signals, in (0, 1]. A time that the question names says more than that it asks about recent
    work: "last month" is not lately."""
    score = signals(score, facts, recent=query.recent and not ranges)
    if any(each.holds(memory.created_at) or each.holds(memory.updated_at) for each in ranges):
        score = lifted(score)
    return score
