"""Whether what a browser sent holds: Web Authentication Level 2, §7.1 for a new passkey, §7.2 for signing in.

What needs a signature or the store is done by the caller: step 22 of §7.1; 5 to 7 and 20 of §7.2.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from typing import Literal, NoReturn

from dolmen.domain.passkeys.reading import (
    AuthenticatorData,
    PublicKey,
    attestation,
    authenticator_data,
    client_data,
)

Reason = Literal[
    "malformed", "type", "challenge", "origin", "cross-origin", "token-binding", "rp", "presence", "verification",
    "key", "signature", "counter", "unknown", "owner", "expired",
]  # fmt: skip
"""Why not. For the log alone: whoever asks learns only that it did not work."""


class PasskeyRefusedError(Exception):
    """What was sent does not hold."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason: Reason = reason


@dataclass(frozen=True, slots=True)
class Expected:
    """What this server asked for."""

    challenge: bytes
    origin: str
    rp: str
    """The id of the relying party: the host name."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A passkey that holds."""

    credential: bytes
    key: PublicKey
    counter: int


@dataclass(frozen=True, slots=True)
class Assertion:
    """What was signed, if the signature fits."""

    message: bytes
    counter: int


def registered(expected: Expected, client: bytes, attested: bytes) -> NewKey:
    """§7.1, steps 5 to 21.

    Raises:
        PasskeyRefusedError: says the first step that failed.
    """
    try:
        data = attestation(attested)  # step 12
    except (ValueError, RecursionError):
        _refuse("malformed")
    _client(expected, client, "webauthn.create")  # steps 5 to 10
    _authenticator(expected, data)  # steps 13 to 15
    if data.key is None:  # step 16: reading refuses every algorithm that was not asked for
        _refuse("key")
    return NewKey(data.credential, data.key, data.counter)


def asserted(expected: Expected, client: bytes, authenticator: bytes) -> Assertion:
    """§7.2, steps 8 to 19.

    Raises:
        PasskeyRefusedError: says the first step that failed.
    """
    try:
        data = authenticator_data(authenticator)
    except (ValueError, RecursionError):
        _refuse("malformed")
    _client(expected, client, "webauthn.get")  # steps 9 to 14
    _authenticator(expected, data)  # steps 15 to 17
    return Assertion(authenticator + hashlib.sha256(client).digest(), data.counter)  # step 19


def counts_on(kept: int, given: int) -> bool:
    """§7.2, step 21: a counter that does not grow shows a copy; an authenticator that stays at 0 does not count."""
    return given > kept or given == kept == 0


def _client(expected: Expected, sent: bytes, type: str) -> None:
    try:
        found = client_data(sent)
    except (ValueError, RecursionError):
        _refuse("malformed")
    if found.type != type:
        _refuse("type")
    if not hmac.compare_digest(found.challenge, expected.challenge):
        _refuse("challenge")
    if found.origin != expected.origin:
        _refuse("origin")
    if found.cross_origin:
        _refuse("cross-origin")
    if found.token_binding == "present":
        _refuse("token-binding")


def _authenticator(expected: Expected, data: AuthenticatorData) -> None:
    if not hmac.compare_digest(data.rp_hash, hashlib.sha256(expected.rp.encode()).digest()):
        _refuse("rp")
    if not data.present:
        _refuse("presence")
    if not data.verified:
        _refuse("verification")


def _refuse(reason: Reason) -> NoReturn:
    raise PasskeyRefusedError(reason)
