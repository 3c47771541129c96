"""A machine without a browser is let in by a person who enters its code elsewhere (RFC 8628)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.domain.oauth import (
    ALPHABET,
    CODE_LETTERS,
    DEVICE_LIFE,
    Client,
    DeviceCode,
    DevicePoll,
    OAuthCode,
    OAuthError,
    Token,
    decide_poll,
    mode_of,
    spelled,
    user_code,
)
from dolmen.services.accounts import hashed
from dolmen.services.oauth.binding import in_vault
from dolmen.services.oauth.clients import UNAPPROVED_FOR
from dolmen.services.oauth.granting import connect
from dolmen.services.oauth.tokens import GONE, Tokens, end, issue
from dolmen.services.presence import require_browser
from dolmen.services.recording import audit

if TYPE_CHECKING:
    from dolmen.domain.values import Actor
    from dolmen.services.oauth.binding import Consent
    from dolmen.services.runtime import Runtime

DEVICE_PREFIX = "dld_"
WISH_LIMIT = 300
"""Characters of what a machine proposes for the consent page."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a machine proposes; the person decides."""

    project: str = ""
    toolset: str = ""


def start_device(rt: Runtime, client: Client, resource: str, scope: str, wishes: Wishes) -> tuple[str, str]:
    """Lets a machine wait for its person; returns its own code and the one that the person enters.

    Args:
        resource: in its one spelling.

    Raises:
        OAuthError: `invalid_scope`; `invalid_request` for wishes that are too long.
    """
    mode_of(scope)
    if len(wishes.project) > WISH_LIMIT or len(wishes.toolset) > WISH_LIMIT:
        raise OAuthError("invalid_request", f"project and toolset hold at most {WISH_LIMIT} characters.")
    secret = DEVICE_PREFIX + secrets.token_urlsafe(32)
    with rt.store.write() as tx:
        tx.oauth.trim(tx.now, tx.now - UNAPPROVED_FOR)
        while True:
            shown = spelled("".join(secrets.choice(ALPHABET) for _ in range(CODE_LETTERS)))
            device = DeviceCode(
                user_code=shown,
                client=client.id,
                resource=resource,
                scope=scope,
                created_at=tx.now,
                expires_at=tx.now + DEVICE_LIFE,
                project=wishes.project,
                toolset=wishes.toolset,
            )
            if tx.oauth.add_device(device, hashed(secret)):
                return secret, shown


def waiting_device(rt: Runtime, entered: str) -> DeviceCode:
    """The machine that waits with a code, as a person entered it.

    Raises:
        DolmenError: `not-found`, the same for a code that is unknown, expired or decided about.
    """
    code = user_code(entered)
    with rt.store.read() as tx:
        device = None if code is None else tx.oauth.device_of(code)
        if device is None or device.decision != "waiting" or device.expires_at <= tx.now:
            raise _nobody()
    return device


def allow_device(
    rt: Runtime, person: Actor, device: DeviceCode, client: Client, chosen: Consent, session: str = ""
) -> None:
    """Makes the connection that the person agreed to; the machine gets its tokens when it asks next.

    Args:
        session: as for `granting.consent`.

    Raises:
        DolmenError: as `granting.connect`; `not-found` when somebody decided meanwhile, or it waited for too long.
    """
    with rt.store.write() as tx:
        if session:
            require_browser(tx, person.vault, person.person, session)
        if device.expires_at <= tx.now:
            raise _nobody()
        person = in_vault(tx, person, chosen)
        connection, scope = connect(tx, person, client, device.scope, chosen)
        if not tx.oauth.decide_device(device.user_code, "allowed", person.vault, connection, scope):
            raise _nobody()
    rt.keys.clear()  # the key that the client was registered with may see more now


def deny_device(rt: Runtime, person: Actor, device: DeviceCode) -> None:
    """The machine is told no when it asks next.

    Raises:
        DolmenError: `not-found` when somebody decided meanwhile.
    """
    with rt.store.write() as tx:
        if not tx.oauth.decide_device(device.user_code, "denied", "", "", device.scope):
            raise _nobody()
        audit(tx, person, "oauth:deny", device.client)


def redeem_device(rt: Runtime, client: Client, secret: str) -> Tokens:
    """Tokens for a machine that its person let in.

    Like an authorization code, one that comes again after it was redeemed ends what the first got.

    Raises:
        OAuthError: `authorization_pending`, `slow_down`, `access_denied`, `expired_token`; `invalid_grant` for a code
            that is unknown, redeemed, or another client's.
    """
    tokens: Tokens | None = None
    refused: tuple[OAuthCode, str] = ("invalid_grant", GONE)
    with rt.store.write() as tx:
        device = tx.oauth.device(hashed(secret))
        if device is not None and device.client == client.id:
            poll = decide_poll(device, tx.now)
            tx.oauth.poll_device(hashed(secret), tx.now)
            first = poll == "allowed" and tx.oauth.redeem_device(hashed(secret))
            if first:
                tokens = issue(tx, _token(device))
            elif poll in ("allowed", "redeemed"):  # another one has just been first, or was before
                end(rt, tx, device.vault, device.connection)
            else:
                refused = _REFUSED.get(poll, refused)
    if tokens is None:
        raise OAuthError(*refused)
    return tokens


_REFUSED: Mapping[DevicePoll, tuple[OAuthCode, str]] = {
    "pending": ("authorization_pending", "The person has not decided yet."),
    "slow_down": ("slow_down", "Ask again later, and 5 seconds less often from now on."),
    "denied": ("access_denied", "The person said no."),
    "expired": ("expired_token", "The code has expired; ask for a new one."),
}


def _token(device: DeviceCode) -> Token:
    return Token("access", device.client, device.vault, device.connection, device.resource, device.scope, 0, 0)


def _nobody() -> DolmenError:
    return DolmenError(
        "not-found", "No device waits with this code.", "Compare it with the device; it may show a new one by now."
    )
