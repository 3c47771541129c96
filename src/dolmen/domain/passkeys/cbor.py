"""Reads the CBOR of authenticators: the canonical subset of CTAP2 (RFC 8949 §4.2), small and of definite length."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

Value = int | bytes | str | bool | None | list["Value"] | dict[int | str, "Value"]

DEEPEST = 4
"""CTAP2 §8 (message encoding): maps and arrays inside each other."""


def read(data: bytes) -> Value:
    """The one value that the bytes are. Raises ValueError for anything else."""
    value, rest = read_first(data)
    if rest:
        raise ValueError("there is more behind the value")
    return value


def read_first(data: bytes) -> tuple[Value, bytes]:
    """The first value, and the bytes behind it. Raises ValueError."""
    reader = _Reader(data)
    value = reader.value(DEEPEST)
    return value, data[reader.at :]


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def value(self, deep: int) -> Value:
        first = self._take(1)[0]
        kind, short = first >> 5, first & 0x1F
        if kind == 7:
            return self._simple(short)
        number = self._number(short)
        readers: dict[int, Callable[[], Value]] = {
            0: lambda: number,
            1: lambda: -1 - number,
            2: lambda: self._take(number),
            3: lambda: self._take(number).decode("utf-8"),
            4: lambda: self._list(number, deep),
            5: lambda: self._map(number, deep),
        }
        return readers[kind]() if kind in readers else _refuse("tags are not used here")

    def _list(self, length: int, deep: int) -> list[Value]:
        self._room(length, deep)
        return [self.value(deep - 1) for _ in range(length)]

    def _map(self, length: int, deep: int) -> dict[int | str, Value]:
        self._room(2 * length, deep)
        found: dict[int | str, Value] = {}
        for _ in range(length):
            key = self.value(deep - 1)
            if not isinstance(key, int | str) or isinstance(key, bool) or key in found:
                _refuse("a key is of an unknown kind or comes twice")
            found[key] = self.value(deep - 1)
        return found

    def _room(self, values: int, deep: int) -> None:
        # Each value takes a byte at least: a length beyond the end is refused before anything is made of it.
        if deep <= 0 or values > len(self.data) - self.at:
            _refuse("too deep, or longer than there are bytes")

    def _simple(self, short: int) -> Value:
        known: dict[int, bool | None] = {20: False, 21: True, 22: None}
        return known[short] if short in known else _refuse("floats and other simple values are not used here")

    def _number(self, short: int) -> int:
        if short < 24:
            return short
        if short > 27:
            _refuse("lengths are definite here")
        return int.from_bytes(self._take(1 << (short - 24)), "big")

    def _take(self, length: int) -> bytes:
        if length > len(self.data) - self.at:
            _refuse("the bytes end too early")
        taken = self.data[self.at : self.at + length]
        self.at += length
        return taken


def _refuse(why: str) -> NoReturn:
    raise ValueError(why)
