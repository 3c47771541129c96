"""What the time of a memory does to its score, where a question names a time or a reranker has judged.

The signals that always apply are in `ranking`.
"""

from __future__ import annotations

import math

from dolmen.domain.values import DAY

LIFT = 1.5
"""Evidence that the time a question names is worth, on the scale of `ranking.fuse`: it outweighs half a standard
deviation or two of meaning and about a third of the question's words, and never a certain answer."""
NEIGHBOUR = 0.5
"""Share of a candidate's score at which what is linked to it joins the candidates (C-152)."""
AGED, SUMMARY_HALF_LIFE = 0.4, 30 * DAY
"""A session's summary loses up to this share of a reranker's probability with age (C-156)."""


def lifted(score: float) -> float:
    """The score of a memory of the time that the question names; order among such memories stays. In (0, 1)."""
    odds = score / max(1 - score, 1e-9) * math.exp(LIFT)
    return odds / (1 + odds)


def aged(score: float, age: int) -> float:
    """The score of a session's summary of that age (microseconds): half of the loss after thirty days."""
    return score * (1 - AGED * (1 - math.exp2(-max(age, 0) / SUMMARY_HALF_LIFE)))
