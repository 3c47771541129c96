"""Passkeys: Web Authentication Level 2, as far as it is about bytes."""

from __future__ import annotations

from dolmen.domain.passkeys.checking import (
    Assertion,
    Expected,
    NewKey,
    PasskeyRefusedError,
    Reason,
    asserted,
    counts_on,
    registered,
)
from dolmen.domain.passkeys.reading import ALGORITHMS, PublicKey, base64url, from_base64url

__all__ = [
    "ALGORITHMS",
    "Assertion",
    "Expected",
    "NewKey",
    "PasskeyRefusedError",
    "PublicKey",
    "Reason",
    "asserted",
    "base64url",
    "counts_on",
    "from_base64url",
    "registered",
]
