"""An authenticator in software: what a security key or a phone sends, to be bent where a test wants it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from dolmen.domain.passkeys import base64url

ORIGIN, RP = "https://memory.example.com", "memory.example.com"
PRESENT, VERIFIED, ATTESTED, EXTENDED = 1, 4, 0x40, 0x80
Key = ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | rsa.RSAPrivateKey


def cbor(value: Any) -> bytes:
    """As CTAP2 writes it (RFC 8949)."""
    if isinstance(value, bool):
        return bytes([0xF5 if value else 0xF4])
    if isinstance(value, int):
        return _head(0, value) if value >= 0 else _head(1, -1 - value)
    if isinstance(value, bytes):
        return _head(2, len(value)) + value
    if isinstance(value, str):
        return _head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return _head(4, len(value)) + b"".join(map(cbor, value))
    return _head(5, len(value)) + b"".join(cbor(each) for pair in value.items() for each in pair)


def _head(kind: int, number: int) -> bytes:
    if number < 24:
        return bytes([kind << 5 | number])
    size = next(size for size in (1, 2, 4, 8) if number < 1 << 8 * size)
    return bytes([kind << 5 | 23 + size.bit_length()]) + number.to_bytes(size, "big")


@dataclass
class Authenticator:
    """One passkey, and everything that is said of it."""

    key: Key = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    id: bytes = b"credential-0001"
    counter: int = 1
    origin: str = ORIGIN
    rp: str = RP
    flags: int = PRESENT | VERIFIED
    type: str = ""
    """Instead of the right one."""
    more: dict[str, Any] = field(default_factory=dict)
    """More of the client data."""

    def but(self, **changes: Any) -> Authenticator:
        return replace(self, **changes)

    def client_data(self, type: str, challenge: str) -> bytes:
        said = {"type": self.type or type, "challenge": challenge, "origin": self.origin, "crossOrigin": False}
        return json.dumps({**said, **self.more}).encode()

    def data(self, flags: int = 0, more: bytes = b"") -> bytes:
        head = hashlib.sha256(self.rp.encode()).digest() + bytes([self.flags | flags])
        return head + self.counter.to_bytes(4, "big") + more

    def make(self, challenge: str, *, cose: dict[int, Any] | None = None, **attestation: Any) -> tuple[bytes, bytes]:
        """The answer to `navigator.credentials.create`: client data and attestation object."""
        credential = bytes(16) + len(self.id).to_bytes(2, "big") + self.id + cbor(cose or self.cose())
        made = {"fmt": "none", "attStmt": {}, "authData": self.data(ATTESTED, credential), **attestation}
        return self.client_data("webauthn.create", challenge), cbor(made)

    def sign(self, challenge: str) -> tuple[bytes, bytes, bytes]:
        """The answer to `navigator.credentials.get`: client data, authenticator data, signature."""
        client, data = self.client_data("webauthn.get", challenge), self.data()
        message = data + hashlib.sha256(client).digest()
        if isinstance(self.key, ec.EllipticCurvePrivateKey):
            return client, data, self.key.sign(message, ec.ECDSA(SHA256()))
        if isinstance(self.key, rsa.RSAPrivateKey):
            return client, data, self.key.sign(message, padding.PKCS1v15(), SHA256())
        return client, data, self.key.sign(message)

    def cose(self) -> dict[int, Any]:
        """The public key (RFC 9052, RFC 9053, RFC 8230)."""
        if isinstance(self.key, ec.EllipticCurvePrivateKey):
            point = self.key.public_key().public_numbers()
            return {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}
        if isinstance(self.key, rsa.RSAPrivateKey):
            numbers = self.key.public_key().public_numbers()
            size = (numbers.n.bit_length() + 7) // 8
            return {1: 3, 3: -257, -1: numbers.n.to_bytes(size, "big"), -2: numbers.e.to_bytes(3, "big")}
        return {1: 1, 3: -8, -1: 6, -2: self.key.public_key().public_bytes_raw()}

    @property
    def name(self) -> str:
        """The credential's id as pages send it."""
        return base64url(self.id)
