"""What browsers and authenticators send: client data, authenticator data, attestation objects, public keys.

Numbers of sections are those of Web Authentication Level 2 (W3C Recommendation of 8 April 2021).
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Literal

from dolmen.domain.passkeys import cbor

Algorithm = Literal[-7, -8, -257]
"""ES256, EdDSA with Ed25519, RS256: what authenticators sign with (COSE, RFC 9053 and RFC 8812)."""
ALGORITHMS: tuple[Algorithm, ...] = (-7, -8, -257)
LONGEST_ID = 1023
_EC2, _OKP, _RSA = 2, 1, 3
_P256, _ED25519 = 1, 6


@dataclass(frozen=True, slots=True)
class ClientData:
    """What the browser vouches for (§5.8.1)."""

    type: str
    challenge: bytes
    origin: str
    cross_origin: bool
    token_binding: str


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A COSE key (§6.5.1.1): (x, y) of P-256, (x,) of Ed25519, (n, e) of RSA."""

    algorithm: Algorithm
    parts: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class AuthenticatorData:
    """What the authenticator vouches for (§6.1)."""

    rp_hash: bytes
    present: bool
    verified: bool
    counter: int
    credential: bytes = b""
    key: PublicKey | None = None


def client_data(sent: bytes) -> ClientData:
    """Raises ValueError."""
    found = json.loads(sent.decode("utf-8-sig"))
    if not isinstance(found, dict):
        raise ValueError("client data are no object")
    type, challenge, origin = (_text(found, name) for name in ("type", "challenge", "origin"))
    binding = found.get("tokenBinding")
    return ClientData(
        type,
        from_base64url(challenge),
        origin,
        found.get("crossOrigin", False) is not False,
        _text(binding, "status") if isinstance(binding, dict) else "",
    )


def attestation(sent: bytes) -> AuthenticatorData:
    """The authenticator data in an attestation object (§6.5.4). The statement is not looked at, since none was asked
    for; one without a statement must be empty (§8.7). Raises ValueError."""
    found = cbor.read(sent)
    if not isinstance(found, dict):
        raise ValueError("the attestation is no map")
    data, form, statement = (found.get(name) for name in ("authData", "fmt", "attStmt"))
    if not isinstance(data, bytes) or not isinstance(form, str) or not isinstance(statement, dict):
        raise ValueError("the attestation lacks a part")
    if form == "none" and statement:
        raise ValueError("there is a statement, and it says that there is none")
    return authenticator_data(data)


def authenticator_data(sent: bytes) -> AuthenticatorData:
    """Raises ValueError for data that are cut, or that something unknown follows."""
    if len(sent) < 37:
        raise ValueError("authenticator data are too short")
    flags, counter, rest = sent[32], int.from_bytes(sent[33:37], "big"), sent[37:]
    credential, key = b"", None
    if flags & 0x40:
        length = int.from_bytes(rest[16:18], "big")
        credential, rest = rest[18 : 18 + length], rest[18 + length :]
        if not 1 <= len(credential) == length <= LONGEST_ID:
            raise ValueError("the credential's id is empty, too long or cut")
        found, rest = cbor.read_first(rest)
        key = _public_key(found)
    if flags & 0x80:
        extensions, rest = cbor.read_first(rest)
        if not isinstance(extensions, dict):
            raise ValueError("extensions are no map")
    if rest:
        raise ValueError("there is more behind the authenticator data")
    return AuthenticatorData(sent[:32], bool(flags & 1), bool(flags & 4), counter, credential, key)


def _public_key(found: cbor.Value) -> PublicKey:
    if isinstance(found, dict):
        kind, algorithm = found.get(1), found.get(3)
        if (kind, algorithm, found.get(-1)) == (_EC2, -7, _P256):
            return PublicKey(-7, (_bytes(found, -2, 32), _bytes(found, -3, 32)))
        if (kind, algorithm, found.get(-1)) == (_OKP, -8, _ED25519):
            return PublicKey(-8, (_bytes(found, -2, 32),))
        if (kind, algorithm) == (_RSA, -257):
            return PublicKey(-257, (_bytes(found, -1), _bytes(found, -2)))
    raise ValueError("the key is of a kind that was not asked for")


def _bytes(found: dict[int | str, cbor.Value], name: int, length: int = 0) -> bytes:
    value = found.get(name)
    if not isinstance(value, bytes) or not value or len(value) > 1024 or (length and len(value) != length):
        raise ValueError("a part of the key is missing or of another length")
    return value


def _text(found: dict[str, object], name: str) -> str:
    value = found.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")
    return value


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def from_base64url(text: str) -> bytes:
    """Raises ValueError for what is not exactly the form that `base64url` gives."""
    data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    if base64url(data) != text:
        raise ValueError("that is no base64url")
    return data
