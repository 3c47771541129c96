"""The reranker contract. A caller needs nothing else from this package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Reranker(Protocol):
    """Says how probable it is that a text answers a question.

    Every method may be called from several threads at once, and never while a transaction is open. A failure is always
    `ModelUnavailable`, at most four seconds after the call (C-153).
    """

    @property
    def model(self) -> str:
        """The name that people know it by."""

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """A probability in (0, 1] for each text, in the order of the texts. The same question about the same texts is
        answered alike for a while, so that the pages of an answer go on from each other."""

    def close(self) -> None:
        """Releases connections. Later calls raise `ModelUnavailable`."""
