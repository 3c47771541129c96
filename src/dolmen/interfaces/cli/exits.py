"""What a command's exit code means: one table, shown in the docs."""

from __future__ import annotations

from collections.abc import Mapping

OK, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

MEANINGS: Mapping[int, str] = {
    OK: "done",
    FAILED: "refused or failed; standard error says why and what to do",
    USAGE: "the command line or a value on it is wrong",
    3: "what was named is not here, or no longer",
    4: "something else changed it, or is doing it",
    5: "not allowed",
    6: "cannot be reached now; the same command may work later",
    7: "settings or store do not fit this program",
    8: "the store is damaged, or is not Dolmen's",
    70: "a mistake in Dolmen itself",
    INTERRUPTED: "interrupted",
}

BY_CODE: Mapping[str, int] = {
    "invalid-argument": USAGE,
    "invalid-project": USAGE,
    "invalid-time": USAGE,
    "too-large": FAILED,
    "secret-detected": FAILED,
    "not-found": 3,
    "gone": 3,
    "conflict": 4,
    "unauthorized": 5,
    "forbidden": 5,
    "read-only": 5,
    "rate-limited": 6,
    "unavailable": 6,
    "model-unavailable": 6,
    "store-busy": 6,
    "store-too-new": 7,
    "store-unsafe": 7,
    "store-foreign": 8,
    "store-damaged": 8,
    "configuration": 7,
    "internal": 70,
}
"""Every code of `domain.errors` has one."""
