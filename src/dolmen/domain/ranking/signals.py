"""What age and code say about a memory, beside how well it matches."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dolmen.domain.values import DAY

CODE_GONE, CODE_CHANGED = 0.05, 0.6
RECENT_HALF_LIFE = 7 * DAY
KEPT_UNSURE, KEPT_SURE = 0.2, 0.9


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a memory besides its words."""

    age: int = 0
    """Microseconds since it was written or last changed."""
    code_gone: bool = False
    """Code that it refers to no longer exists (C-154)."""
    code_changed: bool = False
    """A symbol that it refers to has changed (C-154)."""
    importance: float = 0.5
    verified: bool = False

    @property
    def code_holds(self) -> bool:
        """Whether nothing is known against it: what speaks of other code than there is comes first by no name in it."""
        return not (self.code_gone or self.code_changed)


def signals(score: float, facts: Facts, *, recent: bool = False) -> float:
    """The score after the signals that may multiply a fused score; still in (0, 1].

    Args:
        score: from `fuse`, or a reranker's probability.
        facts: about the memory.
        recent: the query asks about recent work (`timeframe.temporal_intent`), C-155.
    """
    if facts.code_gone:
        score *= CODE_GONE
    elif facts.code_changed:
        score *= CODE_CHANGED
    if recent:
        score *= recency(score, facts.age)
    return max(score, 1e-9)


def recency(score: float, age: int) -> float:
    """Factor for a question about recent work: 1 for what was written just now, half of the loss after seven days
    (C-155). What certainly answers loses a tenth at most, what hardly does up to four fifths: where the words ask for
    nothing but the latest, time decides, and where they name a subject, the subject does."""
    kept = KEPT_UNSURE + (KEPT_SURE - KEPT_UNSURE) * score
    return kept + (1 - kept) * math.exp2(-max(age, 0) / RECENT_HALF_LIFE)


def order(score: float, facts: Facts) -> tuple[float, float, float, int]:
    """Sort key, best first. On fused scores importance, verification and age only break ties."""
    return (-round(score, 4), -facts.importance, -float(facts.verified), facts.age)
