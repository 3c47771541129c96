"""Text as search sees it: one analyzer for both engines, passages, likeness."""

from dolmen.domain.text.analyzer import ANALYZER_VERSION, MAX_TOKEN_BYTES, TOKEN_MARKS, analyze, weight
from dolmen.domain.text.normal import clean, fold
from dolmen.domain.text.passages import passages
from dolmen.domain.text.similarity import content_key, shared_trigrams, trigram_similarity, trigrams

__all__ = [
    "ANALYZER_VERSION",
    "MAX_TOKEN_BYTES",
    "TOKEN_MARKS",
    "analyze",
    "clean",
    "content_key",
    "fold",
    "passages",
    "shared_trigrams",
    "trigram_similarity",
    "trigrams",
    "weight",
]
