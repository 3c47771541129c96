"""From a memory to the passages and vectors that find it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dolmen.domain.memory import Memory
from dolmen.domain.text import analyze, passages
from dolmen.models.contract import ModelUnavailable
from dolmen.store.contract import Passage, Tx

if TYPE_CHECKING:
    from dolmen.models.contract import Embedder, Vector


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors made before the transaction began, for the passages of one text; empty when there is no model now."""

    model: str = ""
    dim: int = 0
    vectors: tuple[Vector, ...] = ()


NOTHING = Embedded()


def spans(text: str) -> list[tuple[int, int]]:
    """Character offsets of the passages of a text."""
    return passages(text)


def embed(embedder: Embedder | None, texts: Sequence[str], most: int) -> list[Embedded]:
    """Vectors for each text's passages, when the model is loaded and there are no more than `most` passages in all;
    otherwise nothing, and the backfill makes them later."""
    nothing = [NOTHING] * len(texts)
    if embedder is None or not texts:
        return nothing
    if not embedder.ready:
        embedder.warm()
        return nothing
    pieces = [[text[start:end] for start, end in spans(text)] for text in texts]
    if sum(map(len, pieces)) > most:
        return nothing
    try:
        rows = embedder.embed_documents([piece for text in pieces for piece in text])
    except ModelUnavailable:
        return nothing
    out: list[Embedded] = []
    at = 0
    for text in pieces:
        out.append(Embedded(embedder.model, embedder.dim, tuple(rows[at : at + len(text)])))
        at += len(text)
    return out


def index(tx: Tx, memory: Memory, embedded: Embedded = NOTHING) -> None:
    """Adds the memory's current text to the index, with its vectors when they are at hand."""
    index_all(tx, [(memory, embedded)])


def index_all(tx: Tx, memories: Sequence[tuple[Memory, Embedded]]) -> None:
    """The same for several memories of one vault at once."""
    if not memories:
        return
    vault, owned = memories[0][0].vault, [_passages(memory) for memory, _ in memories]
    ids = iter(tx.index.put(vault, [row for rows in owned for row in rows]))
    for (_, embedded), rows in zip(memories, owned, strict=True):
        own = [next(ids) for _ in rows]
        if embedded.vectors:
            model = tx.index.model(embedded.model, embedded.dim, tx.now)
            tx.index.set_vectors(vault, model, list(zip(own, embedded.vectors, strict=True)))


def _passages(memory: Memory) -> list[Passage]:
    live = memory.status == "active"
    heading = analyze(" ".join((memory.title, *memory.tags)))
    return [
        Passage(
            memory=memory.id,
            scope=memory.scope,
            audience=memory.audience,
            ord=n,
            start=start,
            end=end,
            tokens=(*heading, *analyze(memory.text[start:end])),
            live=live,
            valid_from=memory.updated_at,
        )
        for n, (start, end) in enumerate(spans(memory.text))
    ]


def reindex(tx: Tx, before: Memory, after: Memory, embedded: Embedded = NOTHING) -> None:
    """Follows a change: new text gets new passages (the old ones keep serving as-of reads), a new status moves them."""
    if words(before) != words(after) or before.scope != after.scope:
        tx.index.retire(after.vault, after.id, tx.now)
        index(tx, after, embedded)
    elif (before.status == "active") != (after.status == "active"):
        tx.index.set_live(after.vault, after.id, after.status == "active")


def words(memory: Memory) -> tuple[str, str, tuple[str, ...]]:
    """What the index holds of a memory."""
    return memory.text, memory.title, memory.tags
