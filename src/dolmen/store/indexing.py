"""What the repositories ask of an engine's search index beyond the contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dolmen.domain.ranking import damped
from dolmen.store.contract import Hit, Index


class EngineIndex(Index, Protocol):
    def move(self, vault: str, memories: Sequence[str], scope: int) -> None:
        """The memories, with all their passages, now belong to the scope with this number."""


def likeliest(hits: list[Hit], keep: int) -> tuple[list[Hit], float]:
    """`Index.likeliest` from all hits: those to keep, and the length of an average one of all."""
    average = sum(hit.length for hit in hits) / max(1, len(hits))
    if len(hits) > keep:
        hits = sorted(hits, key=lambda hit: -damped(hit.score, hit.length, average))[:keep]
    return hits, average
