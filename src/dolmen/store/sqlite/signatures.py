"""Signatures of all vectors of one model, kept in a process's memory: 68 bytes a passage for 384 dimensions.

A signature is the sign of each component of `x`, the vector less the model's centre, with two numbers that make the
estimate of a cosine unbiased (Gao and Long 2024, "RaBitQ", without its rotation, which measured no better here):

    q·v = q·c + k + (q - c)·x,   k = c·x,   (q - c)·x ~ g * sum((q - c)_i * sign(x_i)),   g = |x|² / sum |x_i|

The question's components are rounded to 4 bits, so that the sum is a few ANDs and counts of bits per 64 dimensions.
Measured with multilingual-e5-small: of the true 50 nearest of 2,735, all were among the first 384 by estimate; of
100,000 made from those by adding differences, 96 to 98 in 100 (comparing plain numbers of different bits: 50).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dolmen.store.session import Row, Session
from dolmen.store.sql import queries

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLANES = 4
"""Bits of a rounded component of the question."""
ROUGHLY = 8192
"""Of many more passages than twice this, so many are chosen by signs alone before the finer look."""


def signatures_of(vectors: NDArray[np.float32], centre: NDArray[np.float32]) -> list[bytes]:
    """Of each of (n, dim) vectors: sign bits padded to whole 64-bit words, then g and k as float32."""
    x = vectors - centre
    sums = np.abs(x).sum(axis=1)
    g = np.divide((x * x).sum(axis=1), sums, out=np.zeros_like(sums), where=sums > 0)
    packed = _packed(x > 0)
    factors = np.stack([g, x @ centre], axis=1).astype("<f4")
    return [bits.tobytes() + pair.tobytes() for bits, pair in zip(packed, factors)]


def _packed(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """(n, dim) as (n, words)."""
    packed = np.packbits(bits, axis=1)
    return np.ascontiguousarray(np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))).view(np.uint64)


class Signatures:
    """What a process keeps of the passages that have a vector of one model, in the order of their coming.

    `place` is the scope's number, negative when the passage is not live, 0 when the row is no longer used. Arrays are
    column by column, which is how they are read.
    """

    def __init__(self, model: int, dim: int, centre: NDArray[np.float32], seq: int, epoch: int) -> None:
        self.model, self.dim, self.centre = model, dim, centre
        self.seq, self.epoch = seq, epoch
        self._size = 0
        self._ids = np.empty(0, np.int64)
        self._places = np.empty(0, np.int32)
        self._bits = np.empty((-(-dim // 64), 0), np.uint64)
        self._ones = np.empty(0, np.uint16)
        self._factors = np.empty((2, 0), np.float32)

    # ----------------------------------------------------------------------------------------------- keeping up
    def load(self, session: Session) -> None:
        """Reads them all."""
        self._append(session.all(queries("search", "sqlite")["signatures"], {"model": self.model}))

    def follow(self, session: Session, seq: int) -> None:
        """Takes over what changed since `self.seq`."""
        rows = session.all(queries("search", "sqlite")["changed_signatures"], {"seq": self.seq, "model": self.model})
        if rows:
            self._retire([row[0] for row in rows])
            self._append([row for row in rows if row[3] is not None])
        self.seq = seq

    def _append(self, rows: list[Row]) -> None:
        """Adds rows (passage, scope, live, signature)."""
        if not rows:
            return
        start, end = self._size, self._size + len(rows)
        self._reserve(end)
        words = len(self._bits)
        kinds = np.dtype([("bits", "<u8", (words,)), ("factors", "<f4", (2,))])
        packed = np.frombuffer(b"".join([row[3] for row in rows]), kinds)
        self._ids[start:end] = [row[0] for row in rows]
        self._places[start:end] = [row[1] if row[2] else -row[1] for row in rows]
        self._bits[:, start:end] = packed["bits"].T
        self._ones[start:end] = np.bitwise_count(packed["bits"]).sum(axis=1)
        self._factors[:, start:end] = packed["factors"].T
        self._size = end

    def _retire(self, ids: list[int]) -> None:
        """Marks rows unused; when those are half of all, they are taken out."""
        places = self._places[: self._size]
        places[np.isin(self._ids[: self._size], ids)] = 0
        used = np.flatnonzero(places)
        if self._size > 1024 and len(used) * 2 < self._size:
            self._ids, self._places = self._ids[used], self._places[used]
            self._bits, self._ones = self._bits[:, used], self._ones[used]
            self._factors, self._size = self._factors[:, used], len(used)

    def _reserve(self, size: int) -> None:
        """Makes room. Searches that run in other threads keep the arrays that they have."""
        if size > len(self._ids):
            room = max(size, len(self._ids) * 5 // 4, 256)

            def wider(old: NDArray[Any]) -> NDArray[Any]:
                new = np.zeros((*old.shape[:-1], room), old.dtype)
                new[..., : self._size] = old[..., : self._size]
                return new

            self._ids, self._places, self._bits = wider(self._ids), wider(self._places), wider(self._bits)
            self._ones, self._factors = wider(self._ones), wider(self._factors)

    # -------------------------------------------------------------------------------------------------- searching
    def near(self, query: NDArray[np.float32], places: list[int], limit: int) -> tuple[list[int], int]:
        """The `limit` passages in the places with the highest estimates, in no order, and how many are there."""
        size = self._size
        rows = np.flatnonzero(_among(self._places[:size], places))
        there = len(rows)
        if there > 2 * max(ROUGHLY, limit):  # first by signs alone, in a quarter of the time
            rows = _highest(rows, self._of(query, rows, size, planes=1), max(ROUGHLY, limit))
        if len(rows) > limit:
            rows = _highest(rows, self._of(query, rows, size, planes=PLANES), limit)
        return self._ids[rows].tolist(), there

    def _of(self, query: NDArray[np.float32], rows: NDArray[np.intp], size: int, planes: int) -> NDArray[np.float32]:
        if len(rows) * 2 > size:  # it is quicker to look at all than to pick so many
            return self._estimates(query, slice(0, size), planes)[rows]
        return self._estimates(query, rows, planes)

    def _estimates(
        self, query: NDArray[np.float32], picked: slice | NDArray[np.intp], planes: int
    ) -> NDArray[np.float32]:
        """Cosines less a number that is the same for all, with the question's components rounded to `planes` bits."""
        q = query - self.centre
        rounded, low, step = _rounded(q, planes)
        bits = self._bits[:, picked]
        both = np.empty(bits.shape[1], np.uint64)
        ones = np.empty(bits.shape[1], np.uint8)
        kind = np.uint32 if self.dim > 4096 else np.uint16
        counted: NDArray[Any] = np.zeros(bits.shape[1], kind)
        for plane in range(planes):
            in_plane: NDArray[Any] = np.zeros(bits.shape[1], kind)
            for word, column in zip(_packed((rounded[None, :] >> plane & 1).astype(np.bool_))[0], bits):
                np.bitwise_and(column, word, out=both)
                np.bitwise_count(both, out=ones)
                in_plane += ones
            counted += in_plane << plane
        among_ones = counted * np.float32(step) + self._ones[picked] * np.float32(low)
        estimates: NDArray[np.float32] = (2 * among_ones - np.float32(q.sum())) * self._factors[0, picked]
        return estimates + self._factors[1, picked]


def _rounded(q: NDArray[np.float32], planes: int) -> tuple[NDArray[np.uint8], float, float]:
    """Whole numbers n with q ~ low + step * n."""
    if planes == 1:
        size = float(np.abs(q).mean())
        return (q > 0).astype(np.uint8), -size, 2 * size
    low = float(q.min())
    step = (float(q.max()) - low) / (2**planes - 1) or 1.0
    return np.rint((q - low) / step).astype(np.uint8), low, step


def _highest(rows: NDArray[np.intp], scores: NDArray[np.float32], number: int) -> NDArray[np.intp]:
    return rows[np.argpartition(scores, len(scores) - number)[-number:]]


def _among(places: NDArray[np.int32], wanted: list[int]) -> NDArray[np.bool_]:
    if len(wanted) > 8:
        return np.isin(places, np.array(wanted, np.int32))
    found = np.zeros(len(places), np.bool_)
    for place in wanted:
        found |= places == place
    return found
