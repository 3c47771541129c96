"""How a sign-in is refused: the codes of the RFCs, closed."""

from __future__ import annotations

from typing import Literal

OAuthCode = Literal[
    "invalid_request",
    "invalid_client",
    "invalid_token",
    "invalid_grant",
    "invalid_scope",
    "invalid_target",
    "invalid_redirect_uri",
    "invalid_client_metadata",
    "unauthorized_client",
    "unsupported_grant_type",
    "unsupported_response_type",
    "access_denied",
    "authorization_pending",
    "slow_down",
    "expired_token",
    "temporarily_unavailable",
]
"""RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3.1, RFC 7591 §3.2.2, RFC 8707 §2, RFC 8628 §3.5."""


class OAuthError(Exception):
    """A refusal that the protocol carries. The description is for developers and holds nothing private."""

    def __init__(self, code: OAuthCode, description: str) -> None:
        super().__init__(f"{code}: {description}")
        self.code = code
        self.description = description
