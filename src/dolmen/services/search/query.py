"""The question, prepared before any transaction: cleaned, redacted, cut, as tokens and as a vector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dolmen.domain.secrets import redact
from dolmen.domain.text import analyze, clean, weight
from dolmen.domain.timeframe import temporal_intent
from dolmen.models.contract import ModelUnavailable
from dolmen.services.runtime import Runtime

if TYPE_CHECKING:
    from dolmen.models.contract import Vector

QUERY_LIMIT = 2_000
TOKENS_LIMIT = 48


@dataclass(frozen=True, slots=True)
class Query:
    """A query as the legs need it."""

    text: str
    tokens: tuple[str, ...]
    vector: Vector | None
    model: str
    dim: int
    notes: tuple[str, ...] = ()
    """What went wrong with it."""
    recent: bool = False
    unrelated: float | None = None
    """Cosine up to which a passage has nothing to do with the question, where the model knows it."""
    zone: str = "UTC"
    """Where the days begin that it names."""


def prepare(rt: Runtime, text: str, zone: str | None = None) -> Query:
    """Cleans, redacts and cuts the query (C-148, C-300), makes its tokens and, when the model is there, its vector."""
    notes: list[str] = []
    text, replaced = clean(text)
    if replaced:
        notes.append("characters that no text can hold were replaced")
    if len(text) > QUERY_LIMIT:
        notes.append(f"the query was cut from {len(text)} to {QUERY_LIMIT} characters")
        text = text[:QUERY_LIMIT]
    text, kinds = redact(text)
    if kinds:
        notes.append(f"secrets in the query were redacted: {', '.join(sorted(set(kinds)))}")
    tokens = sorted(analyze(text, query=True), key=weight, reverse=True)[:TOKENS_LIMIT]
    # What has no word in it has no meaning either: a model would still put it near something.
    vector, unrelated, note = _embed(rt, text) if tokens else (None, None, "")
    if note:
        notes.append(note)
    embedder = rt.embedder
    model, dim = (embedder.model, embedder.dim) if embedder and vector is not None else ("", 0)
    recent = temporal_intent(text)
    zone = zone or rt.options.zone
    return Query(text, tuple(tokens), vector, model, dim, tuple(notes), recent, unrelated, zone)


def _embed(rt: Runtime, text: str) -> tuple[Vector | None, float | None, str]:
    embedder = rt.embedder
    if embedder is None:
        return None, None, ""
    if not embedder.ready:
        embedder.warm()
        return None, None, "searched by words only: the embedding model is still loading"
    try:
        farthest = rt.options.search_max_distance
        return embedder.embed_query(text), embedder.unrelated(text) if farthest is None else 1 - farthest, ""
    except ModelUnavailable as error:
        return None, None, f"searched by words only: {error.reason}"
