"""Codes become tokens, tokens become new tokens, and one that turns up twice ends them all."""

from __future__ import annotations

import re
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import (
    ACCESS_LIFE,
    REFRESH_LIFE,
    Client,
    OAuthError,
    Refresh,
    Token,
    TokenKind,
    covers,
    decide_refresh,
    grant_mode,
    matches,
    mode_of,
    proves,
)
from dolmen.domain.values import MINUTE, SECOND, Actor
from dolmen.services.accounts import actor_of, hashed
from dolmen.services.refusing import because

if TYPE_CHECKING:
    from dolmen.domain.access import Connection
    from dolmen.services.runtime import Runtime
    from dolmen.store.contract import Tx

ACCESS_PREFIX, REFRESH_PREFIX = "dla_", "dlr_"
_ACCESS = re.compile(re.escape(ACCESS_PREFIX) + r"[A-Za-z0-9_-]{43}")
_TOUCH_EVERY = MINUTE
GONE = "The grant has ended, or never was."
"""One answer to whatever is wrong with a code or a token: which part it was is nobody's business."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """What the token endpoint gives; the secrets are nowhere else."""

    access: str
    refresh: str
    expires_in: int
    """Seconds."""
    scope: str


def redeem(rt: Runtime, client: Client, code: str, verifier: str, redirect: str, resource: str | None) -> Tokens:
    """Tokens for an authorization code.

    A code that comes twice has been stolen by one of the two: what the first got ends too (OAuth 2.1 §4.1.3).

    Args:
        redirect: the address that the code went to, if the request says it: OAuth 2.1 leaves it out, since the verifier
            proves more (§10.2), and OAuth 2.0 where there was a single one (RFC 6749 §4.1.3).
        resource: in its one spelling; None when the request names none.

    Raises:
        OAuthError: `invalid_grant`, or `invalid_target` for another resource than was agreed to.
    """
    with rt.store.write() as tx:
        known = tx.oauth.use_code(hashed(code), tx.now)
        if known is not None and known.used_at is not None:
            end(rt, tx, known.vault, known.connection)
            known = None
        tokens = None
        if (
            known is not None
            and known.client == client.id
            and known.expires_at > tx.now
            and (not redirect or matches(known.redirect, redirect))
            and proves(verifier, known.challenge)
        ):
            if resource is not None and resource != known.resource:
                raise OAuthError("invalid_target", "The code was given for another resource.")
            given = Token("access", client.id, known.vault, known.connection, known.resource, known.scope, 0, 0)
            tokens = issue(tx, given)
    if tokens is None:
        raise OAuthError("invalid_grant", GONE)
    return tokens


def refresh(rt: Runtime, client: Client, token: str, scope: str, resource: str | None) -> Tokens:
    """New tokens for a refresh token, which is replaced (`domain.oauth.rotation`).

    Raises:
        OAuthError: `invalid_grant`, `invalid_scope` for more than was agreed to, `invalid_target`.
    """
    tokens = None
    with rt.store.write() as tx:
        found = tx.oauth.token("refresh", hashed(token))
        if found is not None and found[0].client == client.id:
            known, connection = found
            decision = decide_refresh(_state(known, connection, tx.now), tx.now)
            if decision == "reuse":
                end(rt, tx, known.vault, known.connection)
            elif decision in ("rotate", "again"):
                _check_narrower(known, scope, resource)
                tx.oauth.use_refresh(hashed(token), tx.now)
                tokens = issue(tx, known)
    if tokens is None:
        raise OAuthError("invalid_grant", GONE)
    return tokens


def revoke(rt: Runtime, client: Client, token: str) -> None:
    """Ends the grant of a token, of either kind (RFC 7009). One that is unknown, or another client's, changes nothing
    and is answered alike."""
    kinds: tuple[TokenKind, TokenKind] = ("refresh", "access")
    with rt.store.write() as tx:
        for kind in kinds:
            found = tx.oauth.token(kind, hashed(token))
            if found is not None and found[0].client == client.id:
                end(rt, tx, found[0].vault, found[0].connection)


def authenticate(rt: Runtime, secret: str, resource: str) -> Actor:
    """The actor that an access token for this resource stands for; as `accounts.authenticate` for keys.

    Args:
        resource: what the token must have been given for; tokens for other servers open nothing (RFC 8707).

    Raises:
        DolmenError: `unauthorized`, the same whatever is wrong.
    """
    if not _ACCESS.fullmatch(secret):
        raise because(_unauthorized(), "malformed-token")
    kept_under = f"{resource} {hashed(secret)}"
    moment = time.monotonic_ns() // 1000
    if (known := rt.keys.get(kept_under, moment)) is not None:
        return known
    turn = rt.keys.turn
    with rt.store.read() as tx:
        found = tx.oauth.token("access", hashed(secret))
        now = tx.now
        if found is None:
            raise because(_unauthorized(), "unknown-token")
        token, connection = found[0], tx.accounts.with_mates(found[1])
    ends = min(token.expires_at, connection.expires_at or token.expires_at)
    if connection.revoked_at is not None or ends <= now or not covers(token.resource, resource):
        why = "revoked" if connection.revoked_at is not None else "expired" if ends <= now else "other-resource"
        raise because(_unauthorized(), f"{why}-token connection={connection.id}")
    if connection.last_used_at is None or now - connection.last_used_at >= _TOUCH_EVERY:
        rt.journal.used(connection.vault, connection.id, now)
    actor = actor_of(connection)
    if ends - now > MINUTE:
        rt.keys.put(kept_under, actor, moment, turn)
    return actor


def _state(token: Token, connection: Connection, now: int) -> Refresh:
    ended = connection.revoked_at
    if connection.expires_at is not None and connection.expires_at <= now:
        ended = connection.expires_at
    return Refresh(connection.id, token.expires_at, token.used_at, ended)


def _check_narrower(token: Token, scope: str, resource: str | None) -> None:
    asked, granted = mode_of(scope), mode_of(token.scope)
    if asked is not None and granted is not None and grant_mode(asked, granted) != asked:
        raise OAuthError("invalid_scope", "The scope is wider than what was agreed to.")
    if resource is not None and resource != token.resource:
        raise OAuthError("invalid_target", "The token was given for another resource.")


def issue(tx: Tx, like: Token) -> Tokens:
    """New tokens for the same client, connection, resource and scope, whatever the kind and times of `like`."""
    access = ACCESS_PREFIX + secrets.token_urlsafe(32)
    renewal = REFRESH_PREFIX + secrets.token_urlsafe(32)
    lives: tuple[tuple[TokenKind, str, int], ...] = (
        ("access", access, ACCESS_LIFE),
        ("refresh", renewal, REFRESH_LIFE),
    )
    for kind, secret, life in lives:
        token = Token(kind, like.client, like.vault, like.connection, like.resource, like.scope, tx.now, tx.now + life)
        tx.oauth.add_token(token, hashed(secret))
    return Tokens(access, renewal, ACCESS_LIFE // SECOND, like.scope)


def end(rt: Runtime, tx: Tx, vault: str, connection: str) -> None:
    """Ends a grant: its connection, and every token of it."""
    tx.accounts.revoke(vault, connection, tx.now)
    tx.oauth.drop_tokens(vault, connection)
    rt.keys.forget(connection)


def _unauthorized() -> DolmenError:
    return DolmenError("unauthorized", "This needs a valid access token.", "Sign in again from the client.")
