"""No embeddings: recall goes by words alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dolmen.models.contract import ModelUnavailable

if TYPE_CHECKING:
    from dolmen.models.contract import Vector, Vectors


class NoEmbedder:
    """Refuses every text, with the reason why there is no model. `dim` is 0, so callers can ask before they try."""

    model = "none"
    dim = 0
    ready = False

    def __init__(self, reason: str = "embeddings are switched off", fix: str = "") -> None:
        self._reason = reason
        self._fix = fix or "Set `embedder` to `auto` to have them."

    def warm(self) -> None:
        """Nothing to load."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        raise ModelUnavailable(self._reason, self._fix)

    def embed_query(self, text: str) -> Vector:
        raise ModelUnavailable(self._reason, self._fix)

    def unrelated(self, text: str) -> float | None:
        return None

    def close(self) -> None:
        """Nothing to release."""
