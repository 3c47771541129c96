"""How much of what a statement says can still be expected to hold, by its kind and age (C-72, C-74)."""

from __future__ import annotations

import math
from collections.abc import Mapping

from dolmen.domain.memory import Kind
from dolmen.domain.values import DAY

HALF_LIFE: Mapping[Kind, int] = {
    "state": 30 * DAY,
    "episode": 30 * DAY,
    "code": 90 * DAY,
    "error": 180 * DAY,
    "fact": 180 * DAY,
    "procedure": 180 * DAY,
    "reference": 365 * DAY,
    "relation": 365 * DAY,
    "decision": 365 * DAY,
    "convention": 730 * DAY,
    "preference": 730 * DAY,
}
"""Microseconds after which half is left: the state of things goes first, conventions last."""


def freshness(kind: Kind, age: int) -> float:
    """1 for what was said or checked just now, a half after the kind's half-life; in (0, 1]. `age`: microseconds."""
    return max(math.exp2(-max(age, 0) / HALF_LIFE[kind]), 1e-6)
