"""Signatures of all vectors of one model, kept in a process's memory: 48 bytes a passage for 384 dimensions.

The number of sign bits in which two centred vectors differ follows the angle between them (Charikar 2002, "Similarity
estimation techniques from rounding algorithms"), and comparing bits costs a few nanoseconds a passage. The nearest by
signature are then compared exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dolmen.store.session import Session
from dolmen.store.sql import queries

if TYPE_CHECKING:
    from numpy.typing import NDArray


def bits_of(vectors: NDArray[np.float32], centre: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Sign bits of (n, dim) vectors around a centre, packed, each row padded to whole 64-bit words."""
    packed = np.packbits(vectors > centre, axis=1)
    return np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))


class Signatures:
    """Rows (passage, place, bits) in the order of their coming. `place` is the scope's number, negative when not live,
    0 for a row that is no longer used."""

    def __init__(self, model: int, dim: int, centre: NDArray[np.float32], seq: int, epoch: int) -> None:
        self.model, self.dim, self.centre = model, dim, centre
        self.seq, self.epoch = seq, epoch
        words = -(-dim // 64)
        self._ids = np.empty(0, np.int64)
        self._places = np.empty(0, np.int32)
        self._bits = np.empty((0, words), np.uint64)
        self._size = 0

    def load(self, session: Session) -> None:
        """Reads them all."""
        rows = session.all(queries("search", "sqlite")["signatures"], {"model": self.model})
        self._reserve(len(rows))
        self._ids[: len(rows)] = [row[0] for row in rows]
        self._places[: len(rows)] = [row[1] if row[2] else -row[1] for row in rows]
        if rows:
            packed = np.frombuffer(b"".join([row[3] for row in rows]), np.uint64)
            self._bits[: len(rows)] = packed.reshape(len(rows), -1)
        self._size = len(rows)

    def follow(self, session: Session, seq: int) -> None:
        """Takes over what changed since `self.seq`."""
        rows = session.all(queries("search", "sqlite")["changed_signatures"], {"seq": self.seq})
        if rows:
            self._replace([row[0] for row in rows])
            own = [row for row in rows if row[3] == self.model and row[4] is not None]
            start, end = self._size, self._size + len(own)
            self._reserve(end)
            self._ids[start:end] = [row[0] for row in own]
            self._places[start:end] = [row[1] if row[2] else -row[1] for row in own]
            if own:
                packed = np.frombuffer(b"".join([row[4] for row in own]), np.uint64)
                self._bits[start:end] = packed.reshape(len(own), -1)
            self._size = end
        self.seq = seq

    def _replace(self, ids: list[int]) -> None:
        """Rows that are about to come again are marked unused; when those are half of all, they are taken out."""
        known = self._ids[: self._size]
        self._places[: self._size][np.isin(known, ids)] = 0
        used = self._places[: self._size] != 0
        if self._size > 1024 and used.sum() * 2 < self._size:
            kept = int(used.sum())
            self._ids, self._places = self._ids[: self._size][used], self._places[: self._size][used]
            self._bits, self._size = self._bits[: self._size][used], kept

    def _reserve(self, size: int) -> None:
        """Makes room. Readers in other threads keep the arrays that they have."""
        if size > len(self._ids):
            room = max(size, len(self._ids) * 5 // 4, 256)
            ids, places = np.zeros(room, np.int64), np.zeros(room, np.int32)
            bits = np.zeros((room, self._bits.shape[1]), np.uint64)
            ids[: self._size], places[: self._size] = self._ids[: self._size], self._places[: self._size]
            bits[: self._size] = self._bits[: self._size]
            self._ids, self._places, self._bits = ids, places, bits

    def near(self, query: NDArray[np.float32], places: list[int], limit: int) -> tuple[NDArray[np.int64], int]:
        """The `limit` passages in the places whose signatures are nearest, in no order, and how many are there."""
        size = self._size
        rows = np.flatnonzero(_among(self._places[:size], places))
        if len(rows) > limit:
            wanted = bits_of(query[None, :], self.centre).view(np.uint64)[0]
            everything = len(rows) * 2 > size
            bits = self._bits[:size] if everything else self._bits[rows]
            distance = np.bitwise_count(bits ^ wanted).sum(axis=1, dtype=np.uint16)
            if everything:
                distance = distance[rows]
            best = np.argpartition(distance, limit - 1)[:limit]
            return self._ids[rows[best]], len(rows)
        return self._ids[rows], len(rows)


def _among(places: NDArray[np.int32], wanted: list[int]) -> NDArray[np.bool_]:
    if len(wanted) > 8:
        return np.isin(places, np.array(wanted, np.int32))
    found = np.zeros(len(places), np.bool_)
    for place in wanted:
        found |= places == place
    return found
