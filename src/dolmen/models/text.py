"""What a model may be given of a text: composed, printable, of bounded length."""

from __future__ import annotations

import unicodedata


def printable(text: str, limit: int) -> str:
    """NFKC of the first `limit` characters, every run of spaces and unprintable characters one space.

    Composes decomposed Hangul and kana, and takes NUL and lone surrogates out. At most `limit` characters: some
    characters (U+FDFA) grow eighteenfold.
    """
    composed = unicodedata.normalize("NFKC", text[:limit])[:limit]
    if not composed.isprintable():
        composed = "".join(c if c.isprintable() else " " for c in composed)
    return " ".join(composed.split())


def sendable(text: str) -> str:
    """What an endpoint takes: servers refuse an empty text, NUL and half a surrogate."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode() or " "
