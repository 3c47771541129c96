"""What the repositories ask of an engine's search index beyond the contract."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dolmen.store.contract import Index


class EngineIndex(Index, Protocol):
    def move(self, vault: str, memories: Sequence[str], scope: int) -> None:
        """The memories, with all their passages, now belong to the scope with this number."""
