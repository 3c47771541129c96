"""The embedder contract. A caller needs nothing else from this package, and importing it loads no numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from dolmen.domain.errors import DolmenError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    """Shape (n, dim): one unit-length row per text, in the order of the texts."""
    Vector: TypeAlias = NDArray[np.float32]
    """Shape (dim,): unit length."""


class ModelUnavailable(DolmenError):
    """The model cannot answer now. The caller goes on without it and says so (`partial`)."""

    def __init__(
        self,
        reason: str,
        fix: str = "Run `dolmen doctor`; recall works by words until it is back.",
        what: str = "embedding model",
    ) -> None:
        super().__init__("model-unavailable", f"The {what} is not available: {reason}", fix)
        self.reason = reason
        self.what = what


class Embedder(Protocol):
    """Turns text into unit vectors whose dot product is the cosine.

    Every method may be called from several threads at once. A failure is always `ModelUnavailable`.
    Any text is accepted: empty, control characters, lone surrogates, any length. Text past the model's
    window does not count, so the caller cuts long text into passages first.
    """

    @property
    def model(self) -> str:
        """Identity with version. Vectors of two embedders may be compared only if this is equal."""

    @property
    def dim(self) -> int:
        """Number of dimensions; 0 when there is none (embeddings off) or none known yet (an endpoint before its
        first answer)."""

    @property
    def ready(self) -> bool:
        """Whether the next call answers without loading anything first."""

    def warm(self) -> None:
        """Starts loading in the background and returns at once. Harmless to repeat; never raises."""

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Vectors of passages to be found. An empty sequence gives shape (0, dim)."""

    def embed_query(self, text: str) -> Vector:
        """Vector of a question. Recent ones are remembered."""

    def unrelated(self, text: str) -> float | None:
        """The cosine to `embed_query(text)` up to which a passage has nothing to do with the question; None when that
        is not known for the model. Costs nothing after `embed_query` of the same text."""

    def close(self) -> None:
        """Releases memory and connections. Later calls raise `ModelUnavailable`."""
