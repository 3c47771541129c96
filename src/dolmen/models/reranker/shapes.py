"""The shapes in which servers take a question with texts, and in which they give their scores.

| servers | request | answer |
|---|---|---|
| Jina, Cohere, vLLM, llama.cpp | `{model, query, documents, top_n}` | `{results: [{index, relevance_score}]}` |
| Voyage | the same | `{data: [{index, relevance_score}]}` |
| Text Embeddings Inference | `{query, texts, truncate}` | `[{index, score}]` |
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from dolmen.models.contract import ModelUnavailable

Shape = Literal["documents", "texts"]
SHAPES: tuple[Shape, ...] = ("documents", "texts")

WHAT = "reranker"
FIX = "Check the reranker's address, key and model with `dolmen doctor`; until then the search's own order stands."
_LEAST = 1e-6
"""A probability is never quite 0, so that what changes a score afterwards still has an order to keep."""


def request(shape: Shape, model: str, query: str, texts: Sequence[str]) -> dict[str, Any]:
    """The body of a request."""
    if shape == "texts":
        return {"query": query, "texts": list(texts), "truncate": True}
    named = {"model": model} if model else {}
    return {**named, "query": query, "documents": list(texts), "top_n": len(texts)}


def scores(answer: bytes, count: int) -> list[float]:
    """The scores as the server gives them, in the order of the texts.

    Raises:
        ModelUnavailable: another shape, another count, or a number that is none.
    """
    try:
        found = {_index(item): _score(item) for item in _items(json.loads(answer))}
    except (ValueError, KeyError, TypeError, RecursionError) as failure:
        raise unavailable("its answer is not a list of scores") from failure
    if sorted(found) != list(range(count)) or not all(map(math.isfinite, found.values())):
        raise unavailable(f"its answer does not hold {count} scores")
    return [found[n] for n in range(count)]


def probability(score: float, *, logit: bool) -> float:
    """In (0, 1], in the order of the scores."""
    value = 1 / (1 + math.exp(-max(-30.0, min(30.0, score)))) if logit else score
    return max(_LEAST, min(1.0, value))


def are_logits(values: Sequence[float]) -> bool:
    """Whether some of the scores can be no probabilities."""
    return any(not 0 <= value <= 1 for value in values)


def unavailable(reason: str) -> ModelUnavailable:
    return ModelUnavailable(reason, FIX, WHAT)


def _items(answer: Any) -> Sequence[Mapping[str, Any]]:
    if isinstance(answer, dict):
        answer = answer["results"] if "results" in answer else answer["data"]
    if not isinstance(answer, list):
        raise TypeError
    return answer


def _index(item: Mapping[str, Any]) -> int:
    index = item["index"]
    if not isinstance(index, int) or isinstance(index, bool):
        raise TypeError
    return index


def _score(item: Mapping[str, Any]) -> float:
    score = item["relevance_score"] if "relevance_score" in item else item["score"]
    if not isinstance(score, int | float) or isinstance(score, bool):
        raise TypeError
    return float(score)
