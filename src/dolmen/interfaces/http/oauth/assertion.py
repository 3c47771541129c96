"""A client with a document proves itself with a signature (RFC 7523) by a key that its document names."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dolmen.domain.oauth import Client, OAuthError
from dolmen.interfaces.http.oauth.fetching import Fetcher

TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
ALGORITHMS = ["ES256", "ES384", "EdDSA", "RS256", "PS256"]
LONGEST, SKEW = 600, 30
"""Seconds that an assertion may hold, and that clocks may differ."""
MOST = 10_000
LIMIT = 10_000
MOST_KEYS = 10
"""Keys of one document that a signature is tried with."""
_REFUSED = "The client did not prove itself."
_PUBLIC_PARTS = ("kty", "crv", "x", "y", "n", "e", "kid")
_SIGNATURE_ALONE: Any = {
    "verify_aud": False, "verify_exp": False, "verify_nbf": False, "verify_iat": False, "verify_iss": False,
    "verify_sub": False, "verify_jti": False, "enforce_minimum_key_length": True,
}  # fmt: skip


@dataclass(slots=True)
class Assertions:
    """Checks each once: the same assertion is not taken twice by this process, and none holds for longer than ten
    minutes."""

    base: str
    fetcher: Fetcher
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _used: dict[str, float] = field(default_factory=dict)

    async def check(self, client: Client, form: Mapping[str, str]) -> None:
        """Nothing to do for a public client.

        Raises:
            OAuthError: `invalid_client`, the same whatever is wrong with the proof.
        """
        if client.method == "none":
            return
        assertion = form.get("client_assertion", "")
        if form.get("client_assertion_type") != TYPE or not 0 < len(assertion) <= LIMIT:
            raise OAuthError("invalid_client", "This client proves itself with private_key_jwt.")
        keys = client.jwks if client.jwks is not None else await self.fetcher.json(client.jwks_uri)
        claims = _verified(assertion, keys)
        audience = claims.get("aud")
        meant = audience if isinstance(audience, list) else [audience]
        now, ends, begins = time.time(), claims.get("exp"), claims.get("nbf", 0)
        right = (
            claims.get("iss") == claims.get("sub") == client.id
            and any(each in (self.base, f"{self.base}/oauth/token") for each in meant)
            and isinstance(ends, int | float)
            and now - SKEW < ends <= now + LONGEST + SKEW
            and isinstance(begins, int | float)
            and begins <= now + SKEW
        )
        if not right or not self._first(f"{client.id} {claims.get('jti')}", now, float(ends or 0)):
            raise OAuthError("invalid_client", _REFUSED)

    def _first(self, name: str, now: float, ends: float) -> bool:
        with self._lock:
            if len(self._used) >= MOST:
                self._used = {each: until for each, until in self._used.items() if until > now - SKEW}
            if name in self._used or len(self._used) >= MOST:
                return False
            self._used[name] = ends
            return True


def claimed(form: Mapping[str, str]) -> str:
    """Whom an assertion is said to be of, where the request does not name its client besides (RFC 7521 §4.2). Nothing
    is proved by that: `check` still asks for a signature with a key of that client."""
    import jwt

    if form.get("client_assertion_type") != TYPE or len(form.get("client_assertion", "")) > LIMIT:
        return ""
    try:
        said = jwt.decode(form.get("client_assertion", ""), options={"verify_signature": False}).get("sub")
    except (jwt.PyJWTError, ValueError, RecursionError):
        return ""
    return said if isinstance(said, str) else ""


def _verified(assertion: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    """What the assertion claims, signed with one of the keys. Its times and its audience are judged by the caller."""
    import jwt

    try:
        header = jwt.get_unverified_header(assertion)
        algorithm = ALGORITHMS[ALGORITHMS.index(header["alg"])]
        for key in _fitting(keys, header.get("kid")):
            try:
                return dict(jwt.decode(assertion, jwt.PyJWK(key, algorithm), [algorithm], _SIGNATURE_ALONE))
            except jwt.PyJWTError:
                continue  # perhaps signed with the next one
    except (jwt.PyJWTError, ValueError, KeyError, TypeError, AttributeError):
        pass
    raise OAuthError("invalid_client", _REFUSED)


def _fitting(keys: Mapping[str, Any], kid: object) -> list[dict[str, Any]]:
    """The keys that can only verify, and that the header may mean: a document that publishes a shared secret proves
    nothing with it."""
    public = [
        {part: key[part] for part in _PUBLIC_PARTS if part in key}
        for key in keys["keys"]
        if isinstance(key, Mapping) and key.get("kty") in ("EC", "RSA", "OKP") and key.get("use", "sig") == "sig"
    ]
    named = [key for key in public if kid is None or key.get("kid") in (None, kid)]
    return named[:MOST_KEYS]
