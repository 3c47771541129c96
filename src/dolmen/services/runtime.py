"""What the operations work with: the store, the models and the limits. Made once by the composition root."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dolmen.services.journal import JournalBuffer
from dolmen.services.keycache import KeyCache
from dolmen.store.contract import Store

if TYPE_CHECKING:
    from dolmen.models.contract import Embedder


@dataclass(frozen=True, slots=True)
class Options:
    """The settings that the operations obey."""

    zone: str = "UTC"
    """Where "yesterday" is, when a caller does not say."""
    inline_embeddings: int = 8
    """Texts embedded before a write commits; more than this wait for the backfill."""
    max_distance: float = 0.25
    """Cosine distance up to which a stored memory is called similar (C-111)."""
    similar_trigrams: float = 0.5
    journal_reads: bool = True
    model_wait: float = 0.0
    """Seconds that a call waits for a model that is still loading; after that it goes on without."""


@dataclass(frozen=True, slots=True)
class Runtime:
    store: Store
    embedder: Embedder | None
    journal: JournalBuffer
    options: Options = field(default_factory=Options)
    keys: KeyCache = field(default_factory=KeyCache)
