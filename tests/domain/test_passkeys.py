"""Web Authentication Level 2: the steps of §7.1 and §7.2 that a relying party MUST take, each by its number."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dolmen.domain.passkeys import (
    Expected,
    PasskeyRefusedError,
    asserted,
    base64url,
    cbor,
    counts_on,
    from_base64url,
    registered,
)
from tests.authenticator import ATTESTED, EXTENDED, ORIGIN, PRESENT, RP, VERIFIED, Authenticator
from tests.authenticator import cbor as written

CHALLENGE = b"c" * 32
EXPECTED = Expected(CHALLENGE, ORIGIN, RP)
ASKED = base64url(CHALLENGE)
GOOD = Authenticator()


def refusal_of(made: tuple[bytes, bytes]) -> str:
    with pytest.raises(PasskeyRefusedError) as error:
        registered(EXPECTED, *made)
    return error.value.reason


CLIENT = [
    ("5: UTF-8", lambda a: a, b"\xff\xfe", "malformed"),
    ("6: JSON", lambda a: a, b"{", "malformed"),
    ("6: an object", lambda a: a, b"[]", "malformed"),
    ("6: its members", lambda a: a, json.dumps({"type": "webauthn.create", "challenge": 1}).encode(), "malformed"),
    ("7: type", lambda a: a.but(type="payment.get"), None, "type"),
    ("9: origin, another host", lambda a: a.but(origin="https://memory.example.com.evil.example"), None, "origin"),
    ("9: origin, another port", lambda a: a.but(origin=f"{ORIGIN}:8443"), None, "origin"),
    ("9: origin, no TLS", lambda a: a.but(origin="http://memory.example.com"), None, "origin"),
    ("9: origin, a part of it", lambda a: a.but(origin=""), None, "origin"),
    ("inside a page of another origin", lambda a: a.but(more={"crossOrigin": True}), None, "cross-origin"),
    ("10: token binding", lambda a: a.but(more={"tokenBinding": {"status": "present"}}), None, "token-binding"),
    ("13: relying party", lambda a: a.but(rp="example.com"), None, "rp"),
    ("14: user present", lambda a: a.but(flags=VERIFIED), None, "presence"),
    ("15: user verified", lambda a: a.but(flags=PRESENT), None, "verification"),
]  # fmt: skip
"""Steps of §7.1; those of §7.2 are the same, numbered from 9 on."""


@pytest.mark.parametrize(("step", "bend", "client", "reason"), CLIENT, ids=[each[0] for each in CLIENT])
def test_a_new_passkey_is_refused_at_the_step_that_fails(step: str, bend: Any, client: bytes, reason: str) -> None:
    told, attested = bend(GOOD).make(ASKED)
    assert refusal_of((client or told, attested)) == reason


@pytest.mark.parametrize(("step", "bend", "client", "reason"), CLIENT, ids=[each[0] for each in CLIENT])
def test_signing_in_is_refused_at_the_step_that_fails(step: str, bend: Any, client: bytes, reason: str) -> None:
    told, data, _ = bend(GOOD).sign(ASKED)
    with pytest.raises(PasskeyRefusedError) as error:
        asserted(EXPECTED, client or told, data)
    assert error.value.reason == reason


@pytest.mark.parametrize(
    "challenge", [base64url(b"d" * 32), "", base64url(CHALLENGE[:31]), base64url(CHALLENGE + b"c")]
)
def test_8_the_challenge_is_the_one_that_was_asked(challenge: str) -> None:
    assert refusal_of(GOOD.make(challenge)) == "challenge"
    with pytest.raises(PasskeyRefusedError):
        asserted(EXPECTED, *GOOD.sign(challenge)[:2])


def test_an_answer_to_one_ceremony_is_none_to_the_other() -> None:
    """Steps 7 of §7.1 and 11 of §7.2."""
    assert refusal_of((GOOD.sign(ASKED)[0], GOOD.make(ASKED)[1])) == "type"
    with pytest.raises(PasskeyRefusedError):
        asserted(EXPECTED, GOOD.make(ASKED)[0], GOOD.sign(ASKED)[1])


def test_what_holds_is_taken() -> None:
    made = registered(EXPECTED, *GOOD.make(ASKED))
    assert (made.credential, made.counter, made.key.algorithm) == (GOOD.id, 1, -7)
    client, data, _ = GOOD.sign(ASKED)
    assert asserted(EXPECTED, client, data).message.startswith(data)
    with_mark = GOOD.make(ASKED)
    assert registered(EXPECTED, b"\xef\xbb\xbf" + with_mark[0], with_mark[1]).credential == GOOD.id  # step 5


@pytest.mark.parametrize(
    ("what", "changes"),
    [
        ("12: no CBOR", {"authData": "text"}),
        ("21: none, with a statement", {"attStmt": {"sig": b"x"}}),
        ("no credential", {"authData": GOOD.data()}),
        ("cut", {"authData": GOOD.data()[:36]}),
        ("more behind it", {"authData": GOOD.data() + b"\x00"}),
        ("an empty id", {"authData": GOOD.data(ATTESTED, bytes(16) + b"\0\0" + written(GOOD.cose()))}),
        ("a long id", {"authData": GOOD.data(ATTESTED, bytes(16) + b"\4\0" + bytes(1024) + written(GOOD.cose()))}),
        ("an id beyond the end", {"authData": GOOD.data(ATTESTED, bytes(16) + b"\0\x20" + b"x")}),
        ("extensions that are no map", {"authData": GOOD.data(EXTENDED, b"\x01")}),
    ],
)
def test_a_malformed_attestation_is_refused(what: str, changes: dict[str, Any]) -> None:
    assert refusal_of(GOOD.make(ASKED, **changes)) in ("malformed", "key")


@pytest.mark.parametrize(
    "cose",
    [
        {1: 2, 3: -35, -1: 2, -2: bytes(48), -3: bytes(48)},  # ES384
        {1: 2, 3: -7, -1: 2, -2: bytes(32), -3: bytes(32)},
        {1: 2, 3: -7, -1: 1, -2: bytes(31), -3: bytes(32)},
        {1: 3, 3: -65535, -1: bytes(256), -2: b"\1\0\1"},  # RS1
        {1: 3, 3: -257, -1: b"", -2: b"\1\0\1"},
        {1: 1, 3: -8, -1: 4, -2: bytes(32)},
        {3: -7},
    ],
)
def test_16_an_algorithm_that_was_not_asked_for_is_refused(cose: dict[int, Any]) -> None:
    assert refusal_of(GOOD.make(ASKED, cose=cose)) == "malformed"


@pytest.mark.parametrize(
    ("kept", "given", "holds"), [(0, 0, True), (0, 1, True), (5, 6, True), (5, 5, False), (5, 4, False), (5, 0, False)]
)
def test_21_a_counter_grows_unless_it_never_counts(kept: int, given: int, holds: bool) -> None:
    """§7.2"""
    assert counts_on(kept, given) is holds


def test_extensions_that_nobody_asked_for_are_passed_over() -> None:
    """Step 17 of §7.1: "Relying Parties MUST be prepared to handle" them."""
    client, _ = GOOD.make(ASKED)
    data = GOOD.data(ATTESTED | EXTENDED, bytes(16) + b"\0\x01x" + written(GOOD.cose()) + written({"credProtect": 2}))
    attested = written({"fmt": "none", "attStmt": {}, "authData": data})
    assert registered(EXPECTED, client, attested).credential == b"x"


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_no_bytes_break_the_reading(client: bytes, attested: bytes) -> None:
    for check in (registered, asserted):
        with pytest.raises(PasskeyRefusedError):
            check(EXPECTED, client, attested)


@given(
    st.recursive(
        st.one_of(st.integers(-(2**64), 2**64 - 1), st.binary(), st.text(), st.booleans()),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.integers(0, 9) | st.text(max_size=3), inner),
        max_leaves=4,
    )
)
def test_cbor_is_read_as_it_was_written(value: Any) -> None:
    assume(_depth(value) <= cbor.DEEPEST)
    assert cbor.read(written(value)) == value


def _depth(value: Any) -> int:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else None
    return 0 if inner is None else 1 + max(map(_depth, inner), default=0)


@pytest.mark.parametrize(
    "bytes_",
    [
        b"", b"\x18", b"\x5f\x40\xff", b"\xc0\x00", b"\xf9\x00\x00", b"\xf7", b"\x62\xff\xff", b"\x9b" + b"\xff" * 8,
        b"\xa2\x01\x01\x01\x01", b"\xa1\x40\x01", b"\x1c", b"\x00\x00", b"\x81" * 2000 + b"\x00", b"\xa1\xf5\x00",
    ],
)  # fmt: skip
def test_cbor_that_authenticators_do_not_write_is_refused(bytes_: bytes) -> None:
    """Cut; indefinite; tags; floats; bad UTF-8; endless; a key twice or of another kind; reserved; deep."""
    with pytest.raises(ValueError):
        cbor.read(bytes_)


@pytest.mark.parametrize("text", ["YQ==", "Y", "YR", "Y Q", "Y+/", "é", "YQ\n"])
def test_base64url_has_one_form(text: str) -> None:
    assert from_base64url("YQ") == b"a"
    with pytest.raises(ValueError):
        from_base64url(text)
