"""Proof that the one who redeems a code is the one who asked for it (RFC 7636), S256 only."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re

from dolmen.domain.oauth.errors import OAuthError

_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
_VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


def check_challenge(challenge: str, method: str) -> str:
    """The challenge of an authorization request, when it is one.

    Raises:
        OAuthError: `invalid_request` without a challenge, with the method `plain` (also by default), or malformed.
    """
    if not challenge:
        raise OAuthError("invalid_request", "code_challenge is missing: this server requires PKCE.")
    if method != "S256":
        raise OAuthError("invalid_request", "code_challenge_method must be S256.")
    if not _CHALLENGE.fullmatch(challenge):
        raise OAuthError("invalid_request", "code_challenge is not a base64url SHA-256 of 43 characters.")
    return challenge


def proves(verifier: str, challenge: str) -> bool:
    """Whether a verifier belongs to a challenge. Compared in constant time."""
    if not _VERIFIER.fullmatch(verifier):
        return False
    digest = hashlib.sha256(verifier.encode("ascii")).digest()
    made = base64.urlsafe_b64encode(digest).decode("ascii").rstrip("=")
    return hmac.compare_digest(made, challenge)
