"""What a client says of itself, by dynamic registration (RFC 7591) or in a metadata document, and what of it holds.

Nothing here is believed for more than what it is: a name to show, and addresses that the browser may return to.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from dolmen.domain.oauth.device import DEVICE_GRANT
from dolmen.domain.oauth.errors import OAuthError
from dolmen.domain.oauth.redirects import check_redirect
from dolmen.domain.oauth.scopes import SCOPES

Method = Literal["none", "private_key_jwt"]
"""How a client proves who it is at the token endpoint. There are no shared secrets."""

NAME_LIMIT, REDIRECTS_LIMIT = 100, 10
_GRANTS = frozenset({"authorization_code", "refresh_token", DEVICE_GRANT})


@dataclass(frozen=True, slots=True)
class Client:
    """An application that asks for access."""

    id: str
    name: str
    redirects: tuple[str, ...]
    """None for one that runs only on machines without a browser (RFC 8628)."""
    method: Method = "none"
    jwks_uri: str = ""
    jwks: Mapping[str, Any] | None = None
    scope: str = ""
    created_at: int = 0
    vault: str = ""
    key: str = ""
    """The connection of the key that it was registered with, whose person and limits hold for it; else empty."""


def checked_client(id: str, metadata: Mapping[str, Any], *, keys: bool = False) -> Client:
    """The client that metadata describe.

    Args:
        id: the client's id, given by the server, or the address of its document.
        keys: whether `private_key_jwt` is offered: for documents, whose host answers for the keys.

    Raises:
        OAuthError: `invalid_redirect_uri` or `invalid_client_metadata`.
    """
    _check_list(metadata, "grant_types", _GRANTS)
    redirects = _redirects(metadata)
    if redirects:
        _check_list(metadata, "response_types", frozenset({"code"}))
    # What a client registers is a wish; words that are no scope here are left out, as RFC 7591 §3.2.1 allows.
    scope = " ".join(word for word in _text(metadata, "scope", 500).split(" ") if word in SCOPES)
    method = _method(metadata, keys=keys)
    jwks, jwks_uri = metadata.get("jwks"), _text(metadata, "jwks_uri", 2_000)
    proves = method == "private_key_jwt"
    if proves and not (jwks_uri or isinstance(jwks, Mapping)):
        raise OAuthError("invalid_client_metadata", "private_key_jwt needs jwks or jwks_uri.")
    return Client(
        id=id,
        name=_name(metadata),
        redirects=tuple(dict.fromkeys(check_redirect(uri) for uri in redirects)),
        method=method,
        jwks_uri=jwks_uri if proves else "",
        jwks=jwks if proves and isinstance(jwks, Mapping) else None,
        scope=scope,
    )


def _redirects(metadata: Mapping[str, Any]) -> list[str]:
    """Where the browser may return to; nowhere, for a client that asks for the device flow and not for codes (RFC 7591
    §2: only flows with redirects need them)."""
    grants = metadata.get("grant_types") or ()
    redirects = metadata.get("redirect_uris", [] if DEVICE_GRANT in grants else None)
    if redirects == [] and DEVICE_GRANT in grants and "authorization_code" not in grants:
        return []
    if not isinstance(redirects, list) or not redirects or not all(isinstance(uri, str) for uri in redirects):
        raise OAuthError("invalid_redirect_uri", "redirect_uris must be a list of one or more addresses.")
    if len(redirects) > REDIRECTS_LIMIT:
        raise OAuthError("invalid_redirect_uri", f"redirect_uris holds more than {REDIRECTS_LIMIT} addresses.")
    return redirects


def _name(metadata: Mapping[str, Any]) -> str:
    """The name, in one line and without characters that change how the rest of a page reads."""
    name = "".join(char for char in _text(metadata, "client_name", NAME_LIMIT) if char.isprintable())
    return " ".join(name.split())


def _text(metadata: Mapping[str, Any], field: str, limit: int) -> str:
    value = metadata.get(field, "")
    if not isinstance(value, str):
        raise OAuthError("invalid_client_metadata", f"{field} must be text.")
    if len(value) > limit:
        raise OAuthError("invalid_client_metadata", f"{field} is longer than {limit} characters.")
    return value


def _method(metadata: Mapping[str, Any], *, keys: bool) -> Method:
    method = metadata.get("token_endpoint_auth_method", "none")
    if method == "private_key_jwt" and keys:
        return "private_key_jwt"
    # RFC 7591 §3.2.1 lets a server answer with other values than were asked: a client that would hold a secret gets
    # none and is a public one, which PKCE protects.
    if method in ("none", "client_secret_basic", "client_secret_post"):
        return "none"
    raise OAuthError("invalid_client_metadata", "token_endpoint_auth_method must be none.")


def _check_list(metadata: Mapping[str, Any], field: str, known: frozenset[str]) -> None:
    """An absent list is the default; a list must name something that is offered, and may name more."""
    value = metadata.get(field)
    if value is None:
        return
    if not isinstance(value, list) or not any(isinstance(each, str) and each in known for each in value):
        raise OAuthError("invalid_client_metadata", f"{field} must name one of {', '.join(sorted(known))}.")
