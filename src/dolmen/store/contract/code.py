"""The references of memories to code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from dolmen.store.contract.filter import Filter

if TYPE_CHECKING:
    from dolmen.domain.code import CodeRef, Target


class CodeRefs(Protocol):
    """References, one for each file and symbol that a text of a memory mentions. Those of the present text count; those
    of a text that was replaced are kept for when it is brought back."""

    def add(self, vault: str, refs: Sequence[CodeRef]) -> int:
        """How many were new. One that is there stays as it is; one of a memory that is not here is left out."""

    def save(self, vault: str, refs: Sequence[CodeRef]) -> None:
        """The new states of references that are there; of one that is gone meanwhile, nothing."""

    def remove(self, vault: str, refs: Sequence[CodeRef]) -> None: ...

    def of(self, vault: str, memories: Sequence[str]) -> dict[str, list[CodeRef]]:
        """Those of the memories' present texts, in the order of mention. A memory without any is absent."""

    def of_text(self, vault: str, memory: str, statement: str) -> list[CodeRef]:
        """Those of one text, present or not."""

    def targets(self, filter: Filter, limit: int, offset: int = 0) -> list[Target]:
        """What memories that pass the filter refer to, each once: first what nobody has looked at, then what was looked
        at longest ago, at the same time the ones without an anchor first."""

    def about(self, filter: Filter, mentions: Sequence[tuple[str, str]]) -> list[CodeRef]:
        """References of memories that pass the filter to any of these (path, symbol)."""

    def counts(self, filter: Filter) -> dict[str, int]:
        """How many references of memories that pass the filter are in each state."""

    def stream(self, vault: str) -> Iterator[CodeRef]:
        """Every reference of the vault, of past texts too."""

    def hold(self, vault: str, memories: Sequence[str]) -> None:
        """Until the transaction ends, nobody else changes these memories. To be called before their references are
        saved, so that it never waits for somebody who changes a memory and waits for its references."""

    def mark(self, vault: str, memory: str, version: int, attrs: Mapping[str, Any]) -> bool:
        """Replaces a memory's `attrs` without a revision; False, and nothing done, when it no longer has that version:
        the caller read it before somebody changed it."""
