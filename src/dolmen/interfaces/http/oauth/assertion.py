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
_REFUSED = "The client did not prove itself."


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


def _verified(assertion: str, keys: Mapping[str, Any]) -> dict[str, Any]:
    from joserfc import jwt
    from joserfc.errors import JoseError
    from joserfc.jwk import KeySet

    try:
        known = KeySet.import_key_set({"keys": [_public(key) for key in keys.get("keys", [])]})
        return dict(jwt.decode(assertion, known, algorithms=ALGORITHMS).claims)
    except (JoseError, ValueError, KeyError, TypeError, AttributeError):
        raise OAuthError("invalid_client", _REFUSED) from None


def _public(key: Any) -> dict[str, Any]:
    """A key that can only verify: a document that publishes a shared secret proves nothing with it."""
    if not isinstance(key, Mapping) or key.get("kty") not in ("EC", "RSA", "OKP"):
        raise ValueError("not a public key")
    return dict(key)
