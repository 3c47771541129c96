"""Passwords: Argon2id, as slow for a guesser as it is cheap for one person who signs in."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from functools import cache
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.domain.guessing import is_expected

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST, LONGEST = 10, 200
KIB, PASSES = 65_536, 3
"""What a guess costs: the second choice of RFC 9106 §4."""
_ABSENT = "somebody who is not here"


def check(password: str, *own: str) -> None:
    """Refuses a password that is too easy to guess, or none at all. Length is what counts, and that it is not what
    everybody would try first (NIST SP 800-63B §3.1.1).

    Args:
        own: the person's login and name.

    Raises:
        DolmenError: `invalid-argument`.
    """
    if len(password) < SHORTEST or len(set(password)) < 5:
        raise DolmenError(
            "invalid-argument",
            f"The password is too short: it needs {SHORTEST} characters, not all of them alike.",
            "Take a few words that do not belong together.",
        )
    if len(password) > LONGEST:
        raise DolmenError("invalid-argument", f"The password is longer than {LONGEST} characters.", "Shorten it.")
    if is_expected(_stable(password), [_stable(each) for each in own]):
        raise DolmenError(
            "invalid-argument",
            "The password is one of those that are tried first.",
            "Take a few words that do not belong together.",
        )


def hash_of(password: str) -> str:
    """What the store keeps of a password."""
    return _hasher().hash(_stable(password))


def fits(password: str, kept: str | None) -> bool:
    """Whether a password is the one that is kept. For nobody (`None`) it takes as long and says no, so that the time
    tells nobody which names exist."""
    from argon2.exceptions import Argon2Error, InvalidHashError

    absent = _absent()  # also where it is not needed: whoever comes first pays for it
    try:
        _hasher().verify(absent if kept is None else kept, _stable(password[: LONGEST + 1]))
    except (Argon2Error, InvalidHashError):
        return False
    return kept is not None


def mark(kept: str, name: str = "") -> str:
    """What a browser keeps that signed in while this is what the store keeps of the password: another password ends it.
    It opens nothing. The salt in `kept` is what nobody can make one without, nor guess at the password by it.

    Args:
        name: the browser's own, of an earlier mark; a new one otherwise.
    """
    name = name or secrets.token_hex(16)
    return f"{name}.{hmac.new(kept.encode(), f'browser {name}'.encode(), hashlib.sha256).hexdigest()}"


def marked(kept: str | None, shown: str) -> str:
    """The name of the browser that shows this mark; empty when it is no mark for this password."""
    name = shown.partition(".")[0]
    made = mark(kept or _ABSENT, name or "-").encode()
    return name if hmac.compare_digest(made, shown.encode()) and kept is not None else ""


def _stable(password: str) -> str:
    """The same for every keyboard: one sends 가 as one character, another one as two (NIST SP 800-63B §3.1.1.2)."""
    return unicodedata.normalize("NFKC", password)


@cache
def _hasher() -> PasswordHasher:
    from argon2 import PasswordHasher

    return PasswordHasher(time_cost=PASSES, memory_cost=KIB)


@cache
def _absent() -> str:
    return hash_of(_ABSENT)
