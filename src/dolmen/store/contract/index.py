"""The search index: what is put in and what comes back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from dolmen.store.contract.filter import Filter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
"""Shape (dim,), unit length. Spelled as text, so that importing this loads no numpy."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a search leg found."""

    passage: int
    memory: str
    score: float
    """Text leg: number of query tokens is judged by the caller from `tokens`; vector leg: cosine."""
    tokens: str = ""
    """The passage's tokens, joined by spaces (text leg)."""
    length: int = 0


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a memory's text that is indexed as one."""

    memory: str
    scope: str
    audience: str
    """Of its memory."""
    ord: int
    start: int
    end: int
    """Character offsets into the memory's text: text[start:end]."""
    tokens: tuple[str, ...]
    """The analyzer's tokens, in order, with repetitions."""
    live: bool
    valid_from: int
    valid_to: int | None = None
    id: int = 0


@dataclass(frozen=True, slots=True)
class Pending:
    """A passage that still needs a vector of the current model."""

    vault: str
    passage: int
    memory: str
    text: str


@dataclass(frozen=True, slots=True)
class IndexHealth:
    """How much of the vault's live text can be found by meaning."""

    passages: int
    embedded: int
    oldest_pending_at: int | None
    models: Mapping[str, int] = field(default_factory=dict)
    """Vectors per model name, current or old."""


class Index(Protocol):
    """The search index: passages by their tokens and by their vectors. Holds nothing that is not in the memory rows."""

    def put(self, vault: str, passages: Sequence[Passage]) -> list[int]:
        """Adds them, in the transaction of the memory that they belong to; returns their ids in the same order."""

    def retire(self, vault: str, memory: str, at: int) -> None:
        """The memory's text was replaced: its current passages serve as-of reads only."""

    def set_live(self, vault: str, memory: str, live: bool) -> None:
        """The memory's status changed: its current passages become (in)visible to ordinary reads."""

    def drop(self, vault: str, memories: Sequence[str]) -> None: ...

    def clear(self, vault: str) -> None:
        """Empties the index of the vault; the caller then rebuilds it from the rows."""

    def frequencies(self, filter: Filter, tokens: Sequence[str], cap: int) -> tuple[int, dict[str, int]]:
        """(passages in sight, {token: passages in sight that have it}). In sight here: live and of the filter's scopes;
        its other conditions are not looked at. Bounded work: a token found more often than `cap` may be answered by an
        estimate that is at least `cap`, one found a hundred times or more by what was counted a little earlier."""

    def match(self, filter: Filter, tokens: Sequence[str], limit: int) -> list[Hit]:
        """Up to `limit` passages that pass the filter and have at least one of the tokens, those with more, rarer and
        (by `text.weight`) weightier tokens first; each with its tokens. When fewer than `limit` qualify, all come.
        Tokens that are everywhere may be left out of the order when there are rarer ones, so that the work stays
        bounded."""

    def likeliest(self, filter: Filter, tokens: Sequence[str], limit: int, keep: int) -> tuple[list[Hit], float]:
        """(the `keep` of what `match` would find that BM25 puts first, as far as rarity and length tell, and the length
        of an average one of all). To read the tokens of all would take a fifth of a recall by words."""

    def model(self, name: str, dim: int, at: int) -> int:
        """The id of a vector model, registered on first use (write transactions)."""

    def find_model(self, name: str, dim: int) -> int | None:
        """The id of a vector model; None when nothing was ever embedded with it."""

    def set_vectors(self, vault: str, model: int, items: Sequence[tuple[int, Vector]]) -> None:
        """(passage id, unit vector of the model's dimension). A passage that is gone meanwhile is skipped; a vector of
        another model is replaced."""

    def nearest(self, filter: Filter, model: int, query: Vector, limit: int) -> list[Hit]:
        """The `limit` passages that pass the filter with the highest cosine, best first. The filter is applied before
        the cut: min(limit, passages that qualify and have a vector of this model) come back. In a large store an engine
        may miss a few of the true nearest (under 1 in 100 on average); what it returns carries its exact cosine, and
        where up to some thousands qualify, none is missed."""

    def cosines(self, vault: str, model: int, query: Vector, passages: Sequence[int]) -> dict[int, float]: ...

    def vectors(self, vault: str, model: int, memories: Sequence[str]) -> dict[str, Vector]:
        """The unit vectors of those memories whose current text is one passage with a vector of this model."""

    def background(self, filter: Filter, model: int, query: Vector) -> tuple[float, float] | None:
        """(mean, standard deviation) of the query's cosine over a sample of what may be seen of the vault; None
        under 8 passages."""

    def pending(self, model: int, limit: int) -> list[Pending]:
        """Passages of any vault without a vector of this model (none, or one of another): live ones first, oldest
        first. The text is the passage's own, also when the memory says something else by now."""

    def health(self, filter: Filter, model: int | None) -> IndexHealth: ...

    def spans(self, vault: str, passages: Sequence[int]) -> dict[int, tuple[int, int]]:
        """Character offsets of passages in their memory's text."""
