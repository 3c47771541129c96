"""Our reading of what authenticators send, beside that of Yubico's `fido2`: what we take it takes, what it refuses we
refuse."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from fido2.server import Fido2Server
from fido2.webauthn import AttestedCredentialData, PublicKeyCredentialRpEntity
from hypothesis import given, settings
from hypothesis import strategies as st

from dolmen.domain.passkeys import Expected, PasskeyRefusedError, asserted, base64url, registered
from dolmen.services import signatures
from tests.authenticator import ORIGIN, PRESENT, RP, VERIFIED, Authenticator

CHALLENGE = b"c" * 32
ASKED = base64url(CHALLENGE)
EXPECTED = Expected(CHALLENGE, ORIGIN, RP)
STATE = {"challenge": ASKED, "user_verification": "required"}
THEIRS = Fido2Server(PublicKeyCredentialRpEntity(name="Dolmen", id=RP), verify_origin=lambda origin: origin == ORIGIN)
KEYS = [
    ec.generate_private_key(ec.SECP256R1()),
    ed25519.Ed25519PrivateKey.generate(),
    rsa.generate_private_key(65537, 2048),
]
OTHER = Authenticator()

bent = st.builds(
    Authenticator,
    key=st.sampled_from(KEYS),
    origin=st.sampled_from([ORIGIN, ORIGIN, "https://evil.example", ORIGIN + "/", ORIGIN.upper()]),
    rp=st.sampled_from([RP, RP, "example.com"]),
    flags=st.sampled_from([PRESENT | VERIFIED, PRESENT | VERIFIED, PRESENT, VERIFIED, 0, PRESENT | VERIFIED | 8 | 16]),
    type=st.sampled_from(["", "", "webauthn.get", "webauthn.create"]),
    id=st.binary(min_size=1, max_size=64),
    counter=st.integers(0, 2**32 - 1),
)
asked = st.sampled_from([ASKED, ASKED, base64url(b"x" * 32), base64url(CHALLENGE[:-1])])


def ours(client: bytes, attested: bytes) -> Any:
    try:
        made = registered(EXPECTED, client, attested)
        return made.credential, signatures.as_der(made.key)
    except (PasskeyRefusedError, ValueError):
        return None


def theirs(key: Authenticator, client: bytes, attested: bytes) -> AttestedCredentialData | None:
    said = {"clientDataJSON": base64url(client), "attestationObject": base64url(attested)}
    sent = {"id": key.name, "rawId": key.name, "type": "public-key", "response": said}
    try:
        found: AttestedCredentialData | None = THEIRS.register_complete(STATE, sent).credential_data
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return found


@settings(max_examples=150, deadline=None)
@given(bent, asked)
def test_a_new_passkey_holds_with_both_or_with_neither(key: Authenticator, challenge: str) -> None:
    client, attested = key.make(challenge)
    taken, known = ours(client, attested), theirs(key, client, attested)
    assert (taken is None) == (known is None)
    if taken and known:
        assert taken[0] == known.credential_id


@settings(max_examples=150, deadline=None)
@given(bent, asked, st.booleans())
def test_an_answer_holds_with_both_or_with_neither(key: Authenticator, challenge: str, foreign: bool) -> None:
    made = registered(EXPECTED, *Authenticator(key=key.key, id=key.id).make(ASKED))
    known = theirs(key, *Authenticator(key=key.key, id=key.id).make(ASKED))
    client, data, signature = key.sign(challenge)
    if foreign:
        signature = OTHER.sign(challenge)[2]
    try:
        message = asserted(EXPECTED, client, data).message
        taken = signatures.signed(signatures.as_der(made.key), signature, message)
    except PasskeyRefusedError:
        taken = False
    said = {"clientDataJSON": client, "authenticatorData": data, "signature": signature}
    sent = {name: base64url(value) for name, value in said.items()}
    try:
        THEIRS.authenticate_complete(
            STATE, [known], {"id": key.name, "rawId": key.name, "type": "public-key", "response": sent}
        )
        found = True
    except ValueError:
        found = False
    assert taken is found


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_what_is_bent_by_a_byte_is_never_taken_by_us_alone(data: st.DataObject) -> None:
    key = Authenticator(KEYS[0])
    client, attested = key.make(ASKED)
    place = data.draw(st.integers(0, len(attested) - 1))
    changed = attested[:place] + bytes([data.draw(st.integers(0, 255))]) + attested[place + 1 :]
    if ours(client, changed) is not None:
        assert theirs(key, client, changed) is not None


@pytest.mark.parametrize("key", KEYS, ids=["ES256", "EdDSA", "RS256"])
def test_the_right_answer_is_taken_by_both(key: Any) -> None:
    made = Authenticator(key).make(ASKED)
    assert ours(*made) is not None
    assert theirs(Authenticator(key), *made) is not None
