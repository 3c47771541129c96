"""QR codes (ISO/IEC 18004) for short texts: bytes, error correction M, up to version 20, as a still picture."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

Matrix = list[list[bool]]
"""Rows of modules, True for dark."""

_PER_BLOCK = (10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26)
_BLOCKS = (1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16)
"""Error correction M: codewords of correction in a block, and blocks, by version (table 9)."""
_QUIET = 4
_RUN, _SQUARE, _FINDER, _SHARE = 3, 3, 40, 10
"""Penalties N1 to N4 (table 11)."""


def svg(text: str) -> str:
    """A QR code as the inside of a page: dark on white whatever the page's colours are, as scanners want it.

    Raises ValueError for more than about 660 bytes.
    """
    modules = matrix(text.encode())
    size = len(modules) + 2 * _QUIET
    dark = "".join(
        f"M{x + _QUIET} {y + _QUIET}h1v1h-1z" for y, row in enumerate(modules) for x, on in enumerate(row) if on
    )
    return (
        f'<svg viewBox="0 0 {size} {size}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h{size}v{size}H0z"/>'
        f'<path fill="#000" d="{dark}"/></svg>'
    )


def matrix(data: bytes, mask: int | None = None) -> Matrix:
    """The modules of a code without the quiet zone; with the mask of the lowest penalty unless one is given."""
    version = next((v for v in range(1, len(_BLOCKS) + 1) if len(data) <= _room(v)), 0)
    if not version:
        raise ValueError("the text is too long for a QR code")
    drawing = _Drawing(version)
    drawing.fill(_codewords(data, version))
    masks = range(8) if mask is None else (mask,)
    return min((drawing.masked(each) for each in masks), key=_penalty)


def _length_bits(version: int) -> int:
    return 8 if version < 10 else 16


def _room(version: int) -> int:
    return _data_codewords(version) - (4 + _length_bits(version) + 7) // 8


def _data_codewords(version: int) -> int:
    return _all_codewords(version) - _PER_BLOCK[version - 1] * _BLOCKS[version - 1]


def _all_codewords(version: int) -> int:
    """Modules that no pattern takes, in bytes."""
    modules = (16 * version + 128) * version + 64
    if version >= 2:
        aligned = version // 7 + 2
        modules -= (25 * aligned - 10) * aligned - 55
        if version >= 7:
            modules -= 36
    return modules // 8


# ---------------------------------------------------------------------------------------------------------- codewords
def _codewords(data: bytes, version: int) -> bytes:
    """The data with its corrections, blocks interleaved (8.6)."""
    length = _length_bits(version)
    bits = f"0100{len(data):0{length}b}" + "".join(f"{byte:08b}" for byte in data)
    capacity = _data_codewords(version) * 8
    bits += "0" * min(4, capacity - len(bits))
    bits += "0" * (-len(bits) % 8)
    filled = [int(bits[start : start + 8], 2) for start in range(0, len(bits), 8)]
    filled += [0xEC if number % 2 == 0 else 0x11 for number in range(capacity // 8 - len(filled))]
    count, correcting = _BLOCKS[version - 1], _PER_BLOCK[version - 1]
    short, longer = divmod(len(filled), count)
    blocks, at = [], 0
    for number in range(count):
        size = short + (number >= count - longer)
        blocks.append(filled[at : at + size])
        at += size
    checks = [_correction(block, correcting) for block in blocks]
    mixed = [block[place] for place in range(short + 1) for block in blocks if place < len(block)]
    return bytes(mixed + [check[place] for place in range(correcting) for check in checks])


def _correction(block: list[int], degree: int) -> list[int]:
    """The remainder of a block by the generator of Reed and Solomon."""
    generator = _generator(degree)
    rest = [0] * degree
    for codeword in block:
        factor = codeword ^ rest.pop(0)
        rest.append(0)
        rest = [old ^ _product(each, factor) for old, each in zip(rest, generator)]
    return rest


@cache
def _generator(degree: int) -> tuple[int, ...]:
    found, root = [0] * (degree - 1) + [1], 1
    for _ in range(degree):
        found = [_product(each, root) ^ (found[i + 1] if i + 1 < degree else 0) for i, each in enumerate(found)]
        root = _product(root, 2)
    return tuple(found)


def _product(a: int, b: int) -> int:
    """In the field of 256 elements modulo 0x11D."""
    found = 0
    for place in range(7, -1, -1):
        found = (found << 1) ^ (0x11D if found & 0x80 else 0)
        found ^= a if b >> place & 1 else 0
    return found


# ------------------------------------------------------------------------------------------------------------ drawing
class _Drawing:
    """The modules of one version, with the patterns in place."""

    def __init__(self, version: int) -> None:
        self.version, self.size = version, 17 + 4 * version
        self.on: Matrix = [[False] * self.size for _ in range(self.size)]
        self.fixed: Matrix = [[False] * self.size for _ in range(self.size)]
        for place in range(self.size):
            self._set(6, place, place % 2 == 0)
            self._set(place, 6, place % 2 == 0)
        far = self.size - 4
        for x, y in ((3, 3), (far, 3), (3, far)):
            self._rings(x, y, 4, (0, 1, 3))
        centres = self._centres()
        last = len(centres) - 1
        for i, x in enumerate(centres):
            for j, y in enumerate(centres):
                if (i, j) not in ((0, 0), (0, last), (last, 0)):
                    self._rings(x, y, 2, (0, 2))
        self._format(0)
        self._version()

    def fill(self, codewords: bytes) -> None:
        bits = (byte >> place & 1 for byte in codewords for place in range(7, -1, -1))
        for x, y in self._path():
            self.on[y][x] = bool(next(bits, 0))

    def masked(self, mask: int) -> Matrix:
        self._format(mask)
        return [
            [on ^ (not self.fixed[y][x] and _hides(mask, x, y)) for x, on in enumerate(row)]
            for y, row in enumerate(self.on)
        ]

    def _path(self) -> Iterator[tuple[int, int]]:
        """Places for data: pairs of columns from the right, up and down in turn, past the timing pattern."""
        upwards = True
        for right in (*range(self.size - 1, 6, -2), *range(5, 0, -2)):
            rows = range(self.size - 1, -1, -1) if upwards else range(self.size)
            for y in rows:
                for x in (right, right - 1):
                    if not self.fixed[y][x]:
                        yield x, y
            upwards = not upwards

    def _centres(self) -> list[int]:
        if self.version == 1:
            return []
        number = self.version // 7 + 2
        step = (self.version * 8 + number * 3 + 5) // (number * 4 - 4) * 2
        return [6, *sorted(self.size - 7 - each * step for each in range(number - 1))]

    def _rings(self, x: int, y: int, reach: int, dark: tuple[int, ...]) -> None:
        for dy in range(-reach, reach + 1):
            for dx in range(-reach, reach + 1):
                if 0 <= x + dx < self.size and 0 <= y + dy < self.size:
                    self._set(x + dx, y + dy, max(abs(dx), abs(dy)) in dark)

    def _format(self, mask: int) -> None:
        """Error correction M is 00."""
        bits = (mask << 10 | _remainder(mask << 10, 0x537)) ^ 0x5412
        for place in range(15):
            on = bool(bits >> place & 1)
            self._set(8, place if place < 6 else place + 1 if place < 8 else self.size - 15 + place, on)
            self._set(self.size - 1 - place if place < 8 else 15 - place if place < 9 else 14 - place, 8, on)
        self._set(8, self.size - 8, True)

    def _version(self) -> None:
        if self.version < 7:
            return
        bits = self.version << 12 | _remainder(self.version << 12, 0x1F25)
        for place in range(18):
            on, a, b = bool(bits >> place & 1), self.size - 11 + place % 3, place // 3
            self._set(a, b, on)
            self._set(b, a, on)

    def _set(self, x: int, y: int, on: bool) -> None:
        self.on[y][x], self.fixed[y][x] = on, True


def _remainder(value: int, divisor: int) -> int:
    while value.bit_length() >= divisor.bit_length():
        value ^= divisor << (value.bit_length() - divisor.bit_length())
    return value


def _hides(mask: int, x: int, y: int) -> bool:
    """Whether a mask turns a module (table 10)."""
    return (
        (x + y) % 2 == 0,
        y % 2 == 0,
        x % 3 == 0,
        (x + y) % 3 == 0,
        (x // 3 + y // 2) % 2 == 0,
        x * y % 2 + x * y % 3 == 0,
        (x * y % 2 + x * y % 3) % 2 == 0,
        ((x + y) % 2 + x * y % 3) % 2 == 0,
    )[mask]


def _penalty(modules: Matrix) -> int:
    """How hard the pattern would be to read (8.8.2)."""
    size = len(modules)
    lines = ["".join("1" if on else "0" for on in row) for row in modules]
    lines += ["".join("1" if row[x] else "0" for row in modules) for x in range(size)]
    total = 0
    for line in lines:
        total += sum(len(run) - 5 + _RUN for run in _runs(line) if len(run) >= 5)
        total += _FINDER * sum(
            line.startswith(pattern, at) for pattern in ("10111010000", "00001011101") for at in range(size - 10)
        )
    total += _SQUARE * sum(
        modules[y][x] == modules[y][x + 1] == modules[y + 1][x] == modules[y + 1][x + 1]
        for y in range(size - 1)
        for x in range(size - 1)
    )
    dark = sum(map(sum, modules))
    return total + _SHARE * (abs(20 * dark - 10 * size * size) // (size * size))


def _runs(line: str) -> Iterator[str]:
    start = 0
    for end in range(1, len(line) + 1):
        if end == len(line) or line[end] != line[start]:
            yield line[start:end]
            start = end
