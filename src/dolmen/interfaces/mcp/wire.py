r"""What arrives as JSON and is none that every part of the protocol stack reads: half surrogate pairs.

JSON can write `"\ud83d"`, half of a character; no text can hold it, and the SDK's parser drops the whole message. It
becomes U+FFFD, as it does everywhere in the store.
"""

from __future__ import annotations

import json
import re

_ESCAPED = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF = re.compile("[\ud800-\udfff]")


def without_half_pairs(message: bytes) -> bytes:
    """The same JSON with U+FFFD for every half pair; the same bytes when there is none, or when it is no JSON."""
    if not _ESCAPED.search(message):
        return message
    try:
        value = json.loads(message)
    except (ValueError, RecursionError):
        return message
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return without_halves(text).encode() if _HALF.search(text) else message


def without_halves(text: str) -> str:
    """The text with U+FFFD for every half pair."""
    return text if text.isascii() else _HALF.sub("\ufffd", text)
