"""What the operations work with: the store, the models and the limits. Made once by the composition root."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from dolmen.domain.audience import Viewer, viewer_of
from dolmen.domain.values import MINUTE, Actor
from dolmen.services.journal import JournalBuffer
from dolmen.services.keycache import KeyCache
from dolmen.store.contract import Filter, IndexHealth, Store, Tx

if TYPE_CHECKING:
    from dolmen.models.chat import Chat
    from dolmen.models.contract import Embedder
    from dolmen.models.reranker.contract import Reranker

_HEALTH_FOR = 10.0
"""Seconds that an answer about the index is good enough: counting a large vault for each recall would cost more than it
tells."""
_HOME_FOR = 5.0
"""Seconds that the owner of this machine's vault is remembered, as long as a key is."""
_MOMENT = 0.2
_VIEWERS = 1000


@dataclass(frozen=True, slots=True)
class Options:
    """The settings that the operations obey."""

    vault: str = ""
    """Name or id of the vault of this machine's user; the first one when empty."""
    zone: str = "UTC"
    """Where "yesterday" is, when a caller does not say."""
    inline_embeddings: int = 8
    """Passages embedded before a write commits; more than this wait for the backfill."""
    max_distance: float = 0.25
    """Calibrated cosine distance up to which a stored memory is called similar (C-111)."""
    similar_trigrams: float = 0.5
    search_max_distance: float | None = None
    """Cosine distance from which a passage has nothing to do with a question (C-150); None: as the model knows it."""
    rerank_top: int = 15
    """Candidates that the reranker judges (C-153)."""
    chat_timeout: float = 60.0
    """Seconds that the chat model may take for an answer."""
    classify_timeout: float = 15.0
    """Seconds that a write waits for the chat model to name its kind (C-276)."""
    classify: bool = True
    """Whether the chat model, where there is one, names the kind of a memory that came without."""
    extract: bool = True
    """Whether the background looks for memories in session summaries, where there is a chat model."""
    extract_policy: Literal["propose", "auto"] = "propose"
    extract_after: int = 3 * MINUTE
    """How old a session summary is before memories are looked for in it."""
    consolidate: bool = True
    """Whether the background looks for duplicates and contradictions, where there is a chat model."""


@dataclass(frozen=True, slots=True)
class Runtime:
    store: Store
    embedder: Embedder | None
    """None: recall goes by words alone."""
    journal: JournalBuffer
    options: Options = field(default_factory=Options)
    reranker: Reranker | None = None
    """None: the order is that of the search's own scores."""
    chat: Chat | None = None
    """None: nothing is proposed by a model."""
    keys: KeyCache = field(default_factory=KeyCache)
    _home: list[tuple[float, str, str]] = field(default_factory=list)
    _health: dict[tuple[Viewer, int | None], tuple[float, IndexHealth]] = field(default_factory=dict)

    def read(self, actor: Actor) -> AbstractContextManager[Tx]:
        """A transaction in which only that is there which the actor may see; the way in for every operation."""
        return self.store.read(viewer_of(actor))

    @contextmanager
    def write(self, actor: Actor) -> Iterator[Tx]:
        """The same for writing. A connection that may keep so many memories and no more writes one after the other: two
        at once would each find the same room, as a write does not see what another has not committed yet."""
        with self.store.write(viewer_of(actor)) as tx:
            if actor.bounds.memories and not actor.human:
                tx.accounts.hold(actor.vault, actor.connection)
            yield tx

    def home(self, find: Callable[[], tuple[str, str]]) -> tuple[str, str]:
        """The vault and the owner of this machine's user, from `find`; at most five seconds old."""
        for at, vault, owner in self._home:
            if time.monotonic() - at < _HOME_FOR:
                return vault, owner
        vault, owner = find()
        self._home[:] = [(time.monotonic(), vault, owner)]
        return vault, owner

    def forget_home(self) -> None:
        """The vault of this machine's user may be another one now."""
        self._home.clear()

    def at_home(self) -> bool:
        """Whether `home` will answer at once in the next moment."""
        return any(time.monotonic() - at < _HOME_FOR - _MOMENT for at, *_ in self._home)

    def index_health(self, tx: Tx, actor: Actor, model: int | None) -> IndexHealth:
        """How much of the live text that the actor may see has vectors; at most ten seconds old."""
        viewer = viewer_of(actor)
        known = self._health.get((viewer, model))
        if known is not None and time.monotonic() - known[0] < _HEALTH_FOR:
            return known[1]
        health = tx.index.health(Filter(actor.vault, None, tx.now), model)
        if len(self._health) >= _VIEWERS:
            self._health.clear()
        self._health[viewer, model] = (time.monotonic(), health)
        return health
