"""How Python values travel to PostgreSQL: by few types, so that statements stay prepared and functions are found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import psycopg
from psycopg.adapt import Dumper, PyFormat
from psycopg.pq import Format
from psycopg.types.array import ListBinaryDumper
from psycopg.types.numeric import Int4, Int4BinaryDumper, Int4Dumper, IntBinaryDumper, IntDumper
from psycopg.types.string import StrBinaryDumper, StrDumper

if TYPE_CHECKING:
    from dolmen.store.contract import Vector


class HalfVector:
    """A vector on its way to pgvector as `halfvec`: its binary form, 16-bit floats in network order.

    Source: `halfvec_recv` in pgvector's src/halfvec.c (dimension, a reserved zero, the elements).
    """

    __slots__ = ("data",)

    def __init__(self, vector: Vector) -> None:
        """`vector`: one dimension, finite; each element is rounded to 11 significant bits."""
        self.data = np.array([vector.shape[0], 0], ">u2").tobytes() + vector.astype(">f2").tobytes()


def matrix(rows: Sequence[bytes], dim: int) -> Vector:
    """Vectors in that binary form, one a row, as float32."""
    data = b"".join([row[4:] for row in rows])
    return np.frombuffer(data, ">f2").reshape(-1, dim).astype(np.float32)


class HalfVectorDumper(Dumper):
    """Leaves the type to the statement, which casts the parameter to `halfvec`: its number differs per database."""

    format = Format.BINARY

    def dump(self, obj: HalfVector) -> bytes:
        return obj.data


_SMALL, _SMALL_BINARY = Int4Dumper(Int4), Int4BinaryDumper(Int4)


class WholeBinaryDumper(IntBinaryDumper):
    """`integer`, and `bigint` where that is too small. psycopg's own would also make `smallint` of what fits it."""

    def upgrade(self, obj: int, format: PyFormat) -> Dumper:
        return _SMALL_BINARY if -(2**31) <= obj < 2**31 else super().upgrade(obj, format)


class WholeDumper(IntDumper):
    """The same as text; a list asks for its elements' dumper in its own format."""

    def upgrade(self, obj: int, format: PyFormat) -> Dumper:
        return _SMALL if -(2**31) <= obj < 2**31 else super().upgrade(obj, format)


def adapt(connection: psycopg.Connection[tuple[object, ...]]) -> None:
    """Sets the types up: `str` as `text` and not as a literal of no type, lists as arrays in binary."""
    adapters = connection.adapters
    adapters.register_dumper(int, WholeDumper)
    adapters.register_dumper(int, WholeBinaryDumper)
    adapters.register_dumper(str, StrDumper)
    adapters.register_dumper(str, StrBinaryDumper)
    adapters.register_dumper(list, ListBinaryDumper)
    adapters.register_dumper(HalfVector, HalfVectorDumper)
