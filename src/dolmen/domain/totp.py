"""One-time codes of an authenticator app: RFC 6238 over RFC 4226, as every app knows them."""

from __future__ import annotations

import base64
import hashlib
import hmac
from urllib.parse import quote, urlencode

from dolmen.domain.values import SECOND

DIGITS, PERIOD = 6, 30 * SECOND
DRIFT = 1
"""Codes before and after the present one that are taken too: clocks differ, and people type slowly (RFC 6238 §5.2)."""
SECRET_BYTES = 20
"""As long as the hash (RFC 4226 §4, R6)."""


def hotp(secret: bytes, counter: int) -> str:
    """The code of a counter (RFC 4226 §5.3)."""
    digest = hmac.digest(secret, counter.to_bytes(8, "big"), hashlib.sha1)
    offset = digest[-1] & 0xF
    number = int.from_bytes(digest[offset : offset + 4], "big") & 0x7FFF_FFFF
    return str(number % 10**DIGITS).zfill(DIGITS)


def code_at(secret: bytes, at: int) -> str:
    """The code of a time in microseconds."""
    return hotp(secret, at // PERIOD)


def time_of(secret: bytes, code: str, now: int) -> int | None:
    """When the period of a code begins, if it is the present one or a neighbour; takes as long for every code."""
    found = None
    for step in range(now // PERIOD - DRIFT, now // PERIOD + DRIFT + 1):
        if step >= 0 and hmac.compare_digest(hotp(secret, step).encode(), code.encode()):
            found = step * PERIOD
    return found


def digits_of(typed: str) -> str:
    """A code as people type it, with a space in the middle perhaps; empty for what is none."""
    code = "".join(typed.split())
    return code if len(code) == DIGITS and code.isascii() and code.isdigit() else ""


def as_text(secret: bytes) -> str:
    """A secret as apps take it by hand: base32 without padding."""
    return base64.b32encode(secret).decode().rstrip("=")


def from_text(text: str) -> bytes:
    """The secret again. Raises ValueError for what is none."""
    return base64.b32decode(text + "=" * (-len(text) % 8))


def address(secret: bytes, account: str, issuer: str) -> str:
    """What the QR code says to the app; names are cut, so that it fits into one that a camera reads well."""
    account, issuer = account[:30], issuer[:60]
    query = {"secret": as_text(secret), "issuer": issuer, "algorithm": "SHA1", "digits": DIGITS, "period": 30}
    return f"otpauth://totp/{quote(issuer, safe='')}:{quote(account, safe='')}?{urlencode(query, quote_via=quote)}"
