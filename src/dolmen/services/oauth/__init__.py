"""How does a hosted client sign in, and what holds its access? Clients, consents and tokens."""

from dolmen.services.oauth.binding import Consent, widest
from dolmen.services.oauth.clients import document_client, register, register_with_key, registered_client
from dolmen.services.oauth.devices import (
    Wishes,
    allow_device,
    deny_device,
    redeem_device,
    start_device,
    waiting_device,
)
from dolmen.services.oauth.granting import Request, consent
from dolmen.services.oauth.tokens import ACCESS_PREFIX, Tokens, authenticate, redeem, refresh, revoke

__all__ = [
    "ACCESS_PREFIX",
    "Consent",
    "Request",
    "Tokens",
    "Wishes",
    "allow_device",
    "authenticate",
    "consent",
    "deny_device",
    "document_client",
    "redeem",
    "redeem_device",
    "refresh",
    "register",
    "register_with_key",
    "registered_client",
    "revoke",
    "start_device",
    "waiting_device",
    "widest",
]
