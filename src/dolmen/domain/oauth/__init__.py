"""The rules of signing in: where a browser may return to, what a client may say of itself, which tokens still hold.

OAuth 2.1 with PKCE. Everything here is a pure decision over texts and times; services keep the rows, interfaces speak
HTTP. A refusal is an `OAuthError` with the code that its RFC names.
"""

from dolmen.domain.oauth.addresses import is_public
from dolmen.domain.oauth.device import (
    ALPHABET,
    CODE_LETTERS,
    DEVICE_GRANT,
    DEVICE_LIFE,
    INTERVAL,
    DeviceCode,
    DevicePoll,
    decide_poll,
    spelled,
    user_code,
)
from dolmen.domain.oauth.errors import OAuthCode, OAuthError
from dolmen.domain.oauth.grants import (
    ACCESS_LIFE,
    CODE_LIFE,
    REFRESH_LIFE,
    Code,
    Token,
    TokenKind,
)
from dolmen.domain.oauth.pkce import check_challenge, proves
from dolmen.domain.oauth.redirects import check_redirect, host_of, is_loopback, matches
from dolmen.domain.oauth.registration import Client, checked_client
from dolmen.domain.oauth.resources import Resources, covers
from dolmen.domain.oauth.rotation import GRACE, Refresh, RefreshDecision, decide_refresh
from dolmen.domain.oauth.scopes import SCOPES, grant_mode, mode_of, scopes_of

__all__ = [
    "ACCESS_LIFE",
    "ALPHABET",
    "CODE_LETTERS",
    "CODE_LIFE",
    "DEVICE_GRANT",
    "DEVICE_LIFE",
    "GRACE",
    "INTERVAL",
    "REFRESH_LIFE",
    "SCOPES",
    "Client",
    "Code",
    "DeviceCode",
    "DevicePoll",
    "OAuthCode",
    "OAuthError",
    "Refresh",
    "RefreshDecision",
    "Resources",
    "Token",
    "TokenKind",
    "check_challenge",
    "check_redirect",
    "checked_client",
    "covers",
    "decide_poll",
    "decide_refresh",
    "grant_mode",
    "host_of",
    "is_loopback",
    "is_public",
    "matches",
    "mode_of",
    "proves",
    "scopes_of",
    "spelled",
    "user_code",
]
