"""Which pieces of the vocabulary occur in a word? A compact index for 250,000 pieces.

A Python dict of the pieces takes 65 MB and half a second to build. Here each piece is one 64-bit polynomial hash in a
sorted array (8 MB in all, built by a few array operations), and all substrings of a word are looked up at once.
A hash that is found is compared byte for byte, so a collision can never give a wrong piece.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dolmen.models.e5.weights import Vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

LONGEST_PIECE = 16  # characters
_LONGEST_BYTES = 4 * LONGEST_PIECE
_SPECIAL = 4  # <s> <pad> </s> <unk> are never part of a text
_CHUNK = 16_384
_BASE = 0x9E3779B97F4A7C15  # any odd number has an inverse modulo 2**64
_INVERSE = pow(_BASE, -1, 2**64)


class PieceIndex:
    """Finds pieces by their bytes."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._blob = vocabulary.blob
        self._starts = vocabulary.starts
        self._scores = vocabulary.scores
        hashes = _hash_pieces(vocabulary)
        order = np.argsort(hashes, kind="stable").astype(np.int32)
        self._ids = order + _SPECIAL
        self._hashes = hashes[order]

    def in_word(self, word: str) -> Iterator[tuple[int, int, int, float]]:
        """Every piece in `word` as (start, end, id, log probability), positions in characters, starts ascending."""
        raw = word.encode()
        bounds = _character_bounds(raw)
        first, last = _spans(len(bounds) - 1)
        begin, end = bounds[first], bounds[last]
        terms = (np.frombuffer(raw, np.uint8).astype(np.uint64) + np.uint64(1)) * _powers(_BASE, len(raw))
        prefix = np.concatenate([[np.uint64(0)], np.cumsum(terms)])
        wanted = (prefix[end] - prefix[begin]) * _powers(_INVERSE, len(raw) + 1)[begin]
        at = np.searchsorted(self._hashes, wanted)
        at[at == len(self._hashes)] = 0
        for k in np.flatnonzero(self._hashes[at] == wanted).tolist():
            piece = int(self._ids[at[k]])
            if self._blob[self._starts[piece] : self._starts[piece + 1]] == raw[begin[k] : end[k]]:
                yield int(first[k]), int(last[k]), piece, float(self._scores[piece])


def _hash_pieces(vocabulary: Vocabulary) -> NDArray[np.uint64]:
    """Sum of (byte + 1) * base**position for every piece but the special ones."""
    powers = _powers(_BASE, _LONGEST_BYTES)
    starts = vocabulary.starts.astype(np.int64)
    hashes = np.empty(len(starts) - 1 - _SPECIAL, np.uint64)
    for low in range(_SPECIAL, len(starts) - 1, _CHUNK):
        high = min(low + _CHUNK, len(starts) - 1)
        raw = np.frombuffer(vocabulary.blob, np.uint8, starts[high] - starts[low], starts[low])
        within = np.arange(len(raw)) - np.repeat(starts[low:high] - starts[low], np.diff(starts[low : high + 1]))
        terms = (raw.astype(np.uint64) + np.uint64(1)) * powers[within]
        hashes[low - _SPECIAL : high - _SPECIAL] = np.add.reduceat(terms, starts[low:high] - starts[low])
    return hashes


def _powers(base: int, count: int) -> NDArray[np.uint64]:
    table = _POWERS.get(base)
    if table is None or len(table) < count:
        table = np.ones(max(count, 256), np.uint64)
        table[1:] = np.uint64(base)
        np.multiply.accumulate(table, out=table)
        _POWERS[base] = table
    return table[:count]


_POWERS: dict[int, NDArray[np.uint64]] = {}


def _character_bounds(raw: bytes) -> NDArray[np.intp]:
    """Byte offsets at which a character starts, and the end."""
    leading = (np.frombuffer(raw, np.uint8) & 0xC0) != 0x80
    return np.append(np.flatnonzero(leading), len(raw))


def _spans(length: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All (start, end) with end - start of 1 to `LONGEST_PIECE` within `length` characters, starts ascending."""
    first = np.repeat(np.arange(length), LONGEST_PIECE)
    last = first + np.tile(np.arange(1, LONGEST_PIECE + 1), length)
    inside = last <= length
    return first[inside], last[inside]
