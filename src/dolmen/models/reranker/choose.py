"""The reranker that the settings name, and what `doctor` says about it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from dolmen.models.choose import Fact
from dolmen.models.contract import ModelUnavailable
from dolmen.models.reranker.contract import Reranker
from dolmen.models.reranker.http import HttpReranker, RerankEndpoint, Scores

_QUESTION = "When does the library open?"
_TEXTS = ("The library opens at nine in the morning.", "Herons nest in tall trees.")


@dataclass(frozen=True, slots=True)
class RerankerSettings:
    """What the settings say about reranking."""

    url: str = ""  # without one there is no reranker
    key: str = ""
    model: str = ""
    scores: Scores = "auto"


@dataclass(frozen=True, slots=True)
class RerankerChoice:
    """The reranker and where it is."""

    reranker: Reranker
    address: str

    def describe(self) -> list[Fact]:
        """What `doctor` shows. Sends nothing."""
        return [Fact("reranker", f"{self.reranker.model} at {self.address}")]

    def verify(self) -> list[Fact]:
        """`describe`, and whether it works: one request, with a text that answers and one that does not."""
        started = time.monotonic()
        try:
            first, second = self.reranker.rerank(_QUESTION, _TEXTS)
        except ModelUnavailable as failure:
            return [*self.describe(), Fact("reranking", failure.reason, good=False, fix=failure.fix)]
        if first <= second:
            doubt = f"it finds a text about herons as good an answer as the right one ({second:.3f}, {first:.3f})"
            fix = "Choose a model that was trained to rerank, such as bge-reranker-v2-m3."
            return [*self.describe(), Fact("reranking", doubt, good=False, fix=fix)]
        took = time.monotonic() - started
        return [*self.describe(), Fact("reranking", f"works, {took:.1f} s for two texts")]


def choose_reranker(settings: RerankerSettings) -> RerankerChoice | None:
    """The reranker for these settings, not yet connected; None when no address is set."""
    if not settings.url:
        return None
    endpoint = RerankEndpoint(settings.url, settings.model, settings.key or None, settings.scores)
    return RerankerChoice(HttpReranker(endpoint), endpoint.shown)
