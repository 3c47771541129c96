"""QR codes: module for module what another encoder draws."""

from __future__ import annotations

import random

import pytest
import segno

from dolmen.domain import totp
from dolmen.interfaces.http.web import qr


@pytest.mark.parametrize("version", range(1, 21))
def test_every_module_is_where_another_encoder_puts_it(version: int) -> None:
    """With texts that fill the version: the other one pads what is left in a way of its own."""
    data = bytes(random.Random(version).choices(b"abcdefghijklmnopqrstuvwxyz234567/?=:%", k=qr._room(version)))
    for mask in range(8):
        other = segno.make(data, error="m", version=version, boost_error=False, mode="byte", mask=mask)
        assert qr.matrix(data, mask) == [[bool(module) for module in row] for row in other.matrix]


@pytest.mark.parametrize("length", range(1, 200, 17))
def test_what_is_left_is_padded_as_the_standard_says(length: int) -> None:
    """ISO/IEC 18004, 7.4.9 and 7.4.10: a terminator, zeros to the byte, then EC and 11 in turn."""
    data = bytes(range(length))
    version = next(each for each in range(1, 21) if length <= qr._room(each))
    bits = "".join(f"{byte:08b}" for byte in _data(qr._codewords(data, version), version))
    size = 8 if version < 10 else 16
    assert bits[: 4 + size] == f"0100{length:0{size}b}"
    rest = bits[4 + size + 8 * length :]
    assert bits[4 + size :].startswith("".join(f"{byte:08b}" for byte in data))
    padding = rest[4:]
    assert rest[:4] == "0" * len(rest[:4])
    assert padding == "".join(f"{(0xEC, 0x11)[number % 2]:08b}" for number in range(len(padding) // 8))


def _data(codewords: bytes, version: int) -> bytes:
    """The data of the blocks, one after another again."""
    count = qr._BLOCKS[version - 1]
    total = qr._data_codewords(version)
    short, longer = divmod(total, count)
    blocks: list[list[int]] = [[] for _ in range(count)]
    at = 0
    for place in range(short + 1):
        for number in range(count):
            if place < short or number >= count - longer:
                blocks[number].append(codewords[at])
                at += 1
    return bytes(each for block in blocks for each in block)


def test_the_picture_is_dark_on_white_with_a_quiet_zone() -> None:
    drawn = qr.svg("otpauth://totp/memory.example.com:ada?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ")
    size = len(qr.matrix(b"x" * 78)) + 8
    assert f'viewBox="0 0 {size} {size}"' in drawn
    assert 'fill="#fff" d="M0 0h' in drawn
    assert "M4 4h1v1h-1z" in drawn  # the corner of the first finder pattern
    assert "style" not in drawn
    assert "script" not in drawn


def test_a_text_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="too long"):
        qr.svg("x" * 700)


def test_the_longest_address_of_one_time_codes_fits() -> None:
    """A login of letters that take twelve characters each in the address, at a host name as long as they get."""
    assert qr.svg(totp.address(bytes(20), "𝄞" * 64, "m" * 253)).startswith("<svg")
