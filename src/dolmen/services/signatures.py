"""The public keys of passkeys: made from their parts, kept as DER, asked whether a signature is theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dolmen.domain.passkeys import PublicKey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    Key = ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey | rsa.RSAPublicKey

RSA_BITS = 2048, 4096


def as_der(key: PublicKey) -> bytes:
    """What the store keeps. Raises ValueError for parts that are no key: a point off the curve, a short modulus."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return _made(key).public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)


def signed(der: bytes, signature: bytes, message: bytes) -> bool:
    """Whether the holder of a kept key signed a message."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import load_der_public_key

    key = load_der_public_key(der)
    try:
        if isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(signature, message, ec.ECDSA(SHA256()))
        elif isinstance(key, ed25519.Ed25519PublicKey):
            key.verify(signature, message)
        elif isinstance(key, rsa.RSAPublicKey):
            key.verify(signature, message, padding.PKCS1v15(), SHA256())
        else:
            return False
    except InvalidSignature:
        return False
    return True


def _made(key: PublicKey) -> Key:
    from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

    match key.algorithm:
        case -7:
            x, y = (int.from_bytes(part, "big") for part in key.parts)
            return ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
        case -8:
            return ed25519.Ed25519PublicKey.from_public_bytes(key.parts[0])
        case -257:
            n, e = (int.from_bytes(part, "big") for part in key.parts)
            if not RSA_BITS[0] <= n.bit_length() <= RSA_BITS[1] or e.bit_length() > 32:
                raise ValueError("an RSA key of an unusual size")
            return rsa.RSAPublicNumbers(e, n).public_key()
