"""Hashes of definitions: the same however the code is laid out, another one when it says something else.

`def1:` and sixteen hexadecimal digits for each definition that a symbol has, in no order. A definition's digits are of
its text without any white space; where indentation says what belongs together, blocks are kept apart.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

SCHEME = "def1"
_DIGITS = 16
_MOST = 12
"""Definitions whose hashes are told apart; what has more is one hash."""


def short_hash(text: bytes, blocks: Iterable[tuple[int, int]] = ()) -> str:
    """The digits of one definition.

    Args:
        text: its source.
        blocks: (start, end) of what is indented in it, as offsets into the text.
    """
    marks = sorted([(start, b"\1") for start, _ in blocks] + [(end, b"\2") for _, end in blocks])
    digest = hashlib.sha256()
    at = 0
    for place, mark in marks:
        digest.update(_bare(text[at:place]))
        digest.update(mark)
        at = place
    digest.update(_bare(text[at:]))
    return digest.hexdigest()[:_DIGITS]


def _bare(text: bytes) -> bytes:
    """Without white space of any script, such as a no-break space that somebody replaced."""
    if text.isascii():
        return b"".join(text.split())
    return "".join(text.decode("utf-8", "surrogateescape").split()).encode("utf-8", "surrogateescape")


def combined(parts: Iterable[str]) -> str:
    """The hash of a symbol with these definitions."""
    distinct = sorted(set(parts))
    if len(distinct) > _MOST:
        distinct = [hashlib.sha256("".join(distinct).encode()).hexdigest()[:_DIGITS]]
    return f"{SCHEME}:{'+'.join(distinct)}"


def same(anchored: str, now: str, *, more_allowed: bool) -> bool:
    """Whether what was anchored is still there.

    Args:
        more_allowed: further definitions of the name do not matter: they may be of something else.
    """
    if anchored == now or not more_allowed:
        return anchored == now
    return set(anchored.partition(":")[2].split("+")) <= set(now.partition(":")[2].split("+"))
