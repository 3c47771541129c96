"""One form of a text for search: what is folded away, and what is kept because it changes the word."""

from __future__ import annotations

import re
import unicodedata

from dolmen.domain.text.scripts import MARKS, UNSPACED_MARKS

# NUL ends strings in one engine's C interface and is refused by the other; lone surrogates have no UTF-8.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# CPython sorts a run of combining marks by insertion, so an endless run costs quadratic time; UAX #15 allows cutting
# it (stream-safe text).
_MARK_RUN = re.compile(f"([{MARKS}{UNSPACED_MARKS}\u3099\u309a]{{30}})[{MARKS}{UNSPACED_MARKS}\u3099\u309a]+")
# Invisible: soft hyphen, zero width (non-)joiners, word joiner, BOM, variation selectors, bidirectional controls.
_INVISIBLE = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)

# Latin, Greek: diacritics; Hebrew: points; Arabic: vowel signs, hamza and tatweel. Other scripts keep their marks.
_STRIPPABLE = re.compile("[\u0300-\u036f\u0591-\u05c7\u0640\u064b-\u065f\u0670]")
_NOT_DECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ı": "i", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ŧ": "t", "ё": "е"}
)
_CYRILLIC = re.compile("[\u0400-\u052f]")


def clean(text: str) -> tuple[str, bool]:
    """The text as it can be stored on every engine, and whether that changed it.

    NUL and lone surrogates become U+FFFD; every other character stays exactly as given.
    """
    if text.isascii() and "\x00" not in text:
        return text, False
    cleaned, count = _UNSTORABLE.subn("\ufffd", text)
    return cleaned, count > 0


def compose(text: str) -> str:
    """NFKC without its quadratic case, invisible characters dropped. Letter case stays."""
    if text.isascii():
        return text
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", _MARK_RUN.sub(r"\1", text)))


def fold(text: str) -> str:
    """Search key of a text: NFKC, casefold, NFKC again (casefold can undo the composition)."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", compose(text).casefold())


def strip_accents(word: str) -> str:
    """A folded word without the marks that people leave out: `método` -> `metodo`, `ё` -> `е`.

    Cyrillic `й`, Indic, Thai and other marks that make another word stay.
    """
    if word.isascii():
        return word
    if _CYRILLIC.search(word):
        return word.translate(_NOT_DECOMPOSED)
    bare = _STRIPPABLE.sub("", unicodedata.normalize("NFD", word))
    return unicodedata.normalize("NFC", bare).translate(_NOT_DECOMPOSED)
