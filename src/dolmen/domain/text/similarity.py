"""How alike two texts are without a model: the duplicate key and trigram similarity."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from functools import lru_cache

_TRAILING = " .!?,;:…。！？、，；：．｡､"
_WORDS = re.compile(r"[^\W_]+")
_KEPT = 32
"""Characters of the longest word whose trigrams are remembered."""


def content_key(text: str) -> str:
    """Key under which two texts count as the same statement (C-110): sha256 of the normal form, 64 hex digits.

    The normal form is NFC, casefolded, every run of white space one space, ends trimmed, and trailing sentence
    punctuation `. ! ? , ; : …` and its East Asian forms removed. A text of punctuation alone keeps it.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    collapsed = " ".join(folded.split())
    bare = collapsed.rstrip(_TRAILING) or collapsed
    return hashlib.sha256(bare.encode("utf-8", "surrogatepass")).hexdigest()


def trigram_similarity(a: str, b: str) -> float:
    """PostgreSQL pg_trgm's `similarity`: shared over all distinct trigrams of the lowercased, padded words. 0..1."""
    return shared_trigrams(trigrams(a), trigrams(b))


def trigrams(text: str) -> frozenset[str]:
    """The distinct trigrams of a text's words, as pg_trgm makes them."""
    words = _WORDS.findall(unicodedata.normalize("NFC", text).lower())
    return frozenset[str]().union(*(_of_word(word) if len(word) <= _KEPT else _grams(word) for word in words))


def shared_trigrams(left: frozenset[str], right: frozenset[str]) -> float:
    """`trigram_similarity` of two texts whose trigrams are known."""
    common = len(left & right)
    union = len(left) + len(right) - common
    return common / union if union else 0.0


@lru_cache(maxsize=4096)
def _of_word(word: str) -> frozenset[str]:
    """Kept, since a few thousand words make up most texts."""
    return _grams(word)


def _grams(word: str) -> frozenset[str]:
    padded = f"  {word} "
    return frozenset([padded[i : i + 3] for i in range(len(padded) - 2)])
