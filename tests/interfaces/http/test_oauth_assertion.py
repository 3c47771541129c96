"""A client that proves itself with a signature by a key that its document names."""

from __future__ import annotations

import json
import time
import warnings
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import ECKey, Key, OctKey, OKPKey, RSAKey

from dolmen.domain.oauth import Client, OAuthError
from dolmen.interfaces.http.oauth.assertion import TYPE, Assertions
from dolmen.interfaces.http.oauth.fetching import Fetcher

pytestmark = pytest.mark.anyio
BASE, ID = "https://memory.example.com", "https://client.example/c.json"
KEY = ECKey.generate_key("P-256", {"kid": "1"})
CLIENT = Client(ID, "C", ("https://client.example/cb",), "private_key_jwt", jwks={"keys": [KEY.as_dict(private=False)]})


def _short_key() -> RSAKey:
    with warnings.catch_warnings(action="ignore"):
        return RSAKey.generate_key(1024)


def proof(key: Any = KEY, algorithm: str = "ES256", **changes: Any) -> dict[str, str]:
    claims = {"iss": ID, "sub": ID, "aud": BASE, "exp": int(time.time()) + 60, "jti": "1"} | changes
    with warnings.catch_warnings(action="ignore"):  # RFC 9864 has another name for EdDSA; clients have both
        assertion = jwt.encode({"alg": algorithm, "kid": "1"}, claims, key, algorithms=[algorithm])
    return {"client_assertion_type": TYPE, "client_assertion": assertion}


async def test_a_signed_assertion_is_taken_once() -> None:
    assertions = Assertions(BASE, Fetcher())
    form = proof()
    await assertions.check(CLIENT, form)
    with pytest.raises(OAuthError):
        await assertions.check(CLIENT, form)
    await assertions.check(CLIENT, proof(jti="2", aud=[f"{BASE}/oauth/token"]))


async def test_a_public_client_needs_none() -> None:
    await Assertions(BASE, Fetcher()).check(Client(ID, "C", ("https://client.example/cb",)), {})


@pytest.mark.parametrize(
    "form",
    [
        {},
        {"client_assertion_type": TYPE},
        {"client_assertion_type": TYPE, "client_assertion": "x.y.z"},
        {"client_assertion_type": TYPE, "client_assertion": "x" * 20_000},
        proof(ECKey.generate_key("P-256", {"kid": "1"})),
        proof(iss="https://other.example/c"),
        proof(sub="https://other.example/c"),
        proof(aud="https://other.example"),
        proof(exp=int(time.time()) - 60),
        proof(exp=int(time.time()) + 3600),
        proof(exp=None),
        proof(exp="soon"),
    ],
)
async def test_anything_else_is_refused(form: dict[str, str]) -> None:
    with pytest.raises(OAuthError) as refused:
        await Assertions(BASE, Fetcher()).check(CLIENT, form)
    assert refused.value.code == "invalid_client"


@pytest.mark.parametrize(
    ("key", "algorithm"),
    [
        (ECKey.generate_key("P-384"), "ES384"),
        (OKPKey.generate_key("Ed25519"), "EdDSA"),
        (RSAKey.generate_key(2048), "RS256"),
        (RSAKey.generate_key(2048), "PS256"),
    ],
)
async def test_every_algorithm_that_the_metadata_names_is_understood(key: Key, algorithm: str) -> None:
    """RFC 8414, section 2: `token_endpoint_auth_signing_alg_values_supported`. The document may hold other keys too."""
    others = [{"kty": "EC", "crv": "unknown"}, {"kty": "oct", "k": "AA"}, ECKey.generate_key("P-256").as_dict(), 7]
    keys = {"keys": [*others, key.as_dict(private=False)]}
    client = Client(ID, "C", CLIENT.redirects, "private_key_jwt", jwks=keys)
    await Assertions(BASE, Fetcher()).check(client, proof(key, algorithm))


@pytest.mark.parametrize(
    ("key", "algorithm", "changes"),
    [
        (_short_key(), "RS256", {}),
        (RSAKey.generate_key(2048), "RS512", {}),
        (ECKey.generate_key("P-256"), "ES256", {"use": "enc"}),
        (ECKey.generate_key("P-256"), "ES256", {"kid": "another"}),
    ],
)
async def test_a_key_that_is_not_for_this_proves_nothing(key: Key, algorithm: str, changes: dict[str, str]) -> None:
    client = Client(ID, "C", CLIENT.redirects, "private_key_jwt", jwks={"keys": [key.as_dict(private=False) | changes]})
    with pytest.raises(OAuthError):
        await Assertions(BASE, Fetcher()).check(client, proof(key, algorithm))


@pytest.mark.parametrize("keys", [{}, {"keys": None}, {"keys": "none"}, {"keys": [None]}, {"keys": []}])
async def test_a_document_without_keys_proves_nothing(keys: dict[str, Any]) -> None:
    with pytest.raises(OAuthError):
        await Assertions(BASE, Fetcher()).check(Client(ID, "C", (), "private_key_jwt", jwks=keys), proof())


async def test_a_public_key_is_no_shared_secret() -> None:
    """A token signed with the text of the public key as if it were a secret is refused, and so is such a key."""
    shared = OctKey.import_key(json.dumps(KEY.as_dict(private=False)))
    with pytest.raises(OAuthError):
        await Assertions(BASE, Fetcher()).check(CLIENT, proof(shared, "HS256"))
    published = Client(ID, "C", CLIENT.redirects, "private_key_jwt", jwks={"keys": [shared.as_dict()]})
    with pytest.raises(OAuthError):
        await Assertions(BASE, Fetcher()).check(published, proof(shared, "HS256"))


async def test_an_unsigned_assertion_is_refused() -> None:
    import base64

    def part(value: dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    claims = {"iss": ID, "sub": ID, "aud": BASE, "exp": int(time.time()) + 60, "jti": "1"}
    form = {"client_assertion_type": TYPE, "client_assertion": f"{part({'alg': 'none'})}.{part(claims)}."}
    with pytest.raises(OAuthError):
        await Assertions(BASE, Fetcher()).check(CLIENT, form)
