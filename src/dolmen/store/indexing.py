"""What the repositories ask of an engine's search index beyond the contract."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from dolmen.domain.ranking import damped
from dolmen.domain.text import weight
from dolmen.store.contract import Hit, Index


class EngineIndex(Index, Protocol):
    def move(self, vault: str, memories: Sequence[str], scope: int) -> None:
        """The memories, with all their passages, now belong to the scope with this number."""


def worth(token: str, total: int, frequency: int) -> float:
    """What it says for a passage that it has the token, before anything else is known about the passage."""
    return weight(token) * math.log1p((total + 0.5) / (frequency + 0.5))


def likeliest(hits: list[Hit], keep: int) -> tuple[list[Hit], float]:
    """`Index.likeliest` from all hits: those to keep, and the length of an average one of all."""
    average = sum(hit.length for hit in hits) / max(1, len(hits))
    if len(hits) > keep:
        hits = sorted(hits, key=lambda hit: -damped(hit.score, hit.length, average))[:keep]
    return hits, average


def single(rows: Sequence[tuple[str, bytes | None]]) -> dict[str, bytes]:
    """Of (memory, stored vector of a passage), those memories that have one passage, and a vector for it."""
    passages: dict[str, list[bytes | None]] = {}
    for id, data in rows:
        passages.setdefault(id, []).append(data)
    return {id: found[0] for id, found in passages.items() if len(found) == 1 and found[0] is not None}
