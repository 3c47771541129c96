"""How alike two texts are without a model: the duplicate key and trigram similarity."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_TRAILING = re.compile(r"[\s.!?,;:…。！？、，；：．｡､]+\Z")
_WORDS = re.compile(r"[^\W_]+")


def content_key(text: str) -> str:
    """Key under which two texts count as the same statement (C-110): sha256 of the normal form, 64 hex digits.

    The normal form is NFC, casefolded, every run of white space one space, ends trimmed, and trailing sentence
    punctuation `. ! ? , ; : …` and its East Asian forms removed. A text of punctuation alone keeps it.
    """
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    collapsed = " ".join(folded.split())
    bare = _TRAILING.sub("", collapsed) or collapsed
    return hashlib.sha256(bare.encode("utf-8", "surrogatepass")).hexdigest()


def trigram_similarity(a: str, b: str) -> float:
    """PostgreSQL pg_trgm's `similarity`: shared over all distinct trigrams of the lowercased, padded words. 0..1."""
    left, right = _trigram_set(a), _trigram_set(b)
    union = len(left | right)
    return len(left & right) / union if union else 0.0


def _trigram_set(text: str) -> set[str]:
    grams: set[str] = set()
    for word in _WORDS.findall(unicodedata.normalize("NFC", text).lower()):
        padded = f"  {word} "
        grams.update(padded[i : i + 3] for i in range(len(padded) - 2))
    return grams
