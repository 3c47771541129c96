"""One-time codes: the rules of RFC 4226 and RFC 6238 that a verifier keeps, each by its section."""

from __future__ import annotations

import pytest

from dolmen.domain import totp
from dolmen.domain.values import SECOND

SECRET = b"12345678901234567890"
"""Of the appendices of both RFCs."""


@pytest.mark.parametrize(
    ("counter", "code"),
    [
        (0, "755224"), (1, "287082"), (2, "359152"), (3, "969429"), (4, "338314"),
        (5, "254676"), (6, "287922"), (7, "162583"), (8, "399871"), (9, "520489"),
    ],
)  # fmt: skip
def test_codes_of_counters_are_those_of_rfc_4226_appendix_d(counter: int, code: str) -> None:
    assert totp.hotp(SECRET, counter) == code


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (59, "94287082"), (1111111109, "07081804"), (1111111111, "14050471"), (1234567890, "89005924"),
        (2000000000, "69279037"), (20000000000, "65353130"),
    ],
)  # fmt: skip
def test_codes_of_times_are_those_of_rfc_6238_appendix_b(second: int, code: str) -> None:
    """There with eight digits; the last six are the same number."""
    assert totp.code_at(SECRET, second * SECOND) == code[-6:]


@pytest.mark.parametrize("steps", [-2, -1, 0, 1, 2])
def test_one_step_of_drift_is_taken_each_way(steps: int) -> None:
    """RFC 6238 §5.2: at most one step for the way; §6: a step for clocks that differ."""
    now = 2_000_000_000 * SECOND
    code = totp.code_at(SECRET, now + steps * totp.PERIOD)
    expected = (now // totp.PERIOD + steps) * totp.PERIOD if abs(steps) <= 1 else None
    assert totp.time_of(SECRET, code, now) == expected


def test_a_code_has_six_digits_at_least() -> None:
    """RFC 4226 §5.3, R4: "at least a 6-digit value"."""
    assert all(len(totp.hotp(SECRET, counter)) == 6 for counter in range(1000))


def test_a_secret_is_as_long_as_recommended() -> None:
    """RFC 4226 §4, R6: at least 128 bits, 160 recommended; RFC 6238 §5.1: as long as the hash."""
    assert totp.SECRET_BYTES * 8 == 160


def test_the_first_step_has_no_earlier_one() -> None:
    assert totp.time_of(SECRET, "755224", 0) == 0
    assert totp.time_of(SECRET, "000000", 0) is None


@pytest.mark.parametrize(
    ("typed", "digits"),
    [("123456", "123456"), (" 123 456\n", "123456"), ("12345", ""), ("1234567", ""), ("12345x", ""), ("", ""),
     ("１２３４５６", ""), ("१२३४५६", "")],
)  # fmt: skip
def test_a_code_is_read_as_people_type_it(typed: str, digits: str) -> None:
    assert totp.digits_of(typed) == digits


def test_a_secret_goes_through_text_and_the_address_of_the_qr_code() -> None:
    text = totp.as_text(SECRET)
    assert text == "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    assert totp.from_text(text) == SECRET
    assert totp.address(SECRET, "민아 a:b", "memory.example.com") == (
        "otpauth://totp/memory.example.com:%EB%AF%BC%EC%95%84%20a%3Ab"
        f"?secret={text}&issuer=memory.example.com&algorithm=SHA1&digits=6&period=30"
    )
