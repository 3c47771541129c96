"""How does a hosted client sign in, and what holds its access? Clients, consents and tokens."""

from dolmen.services.oauth.clients import document_client, register, registered_client
from dolmen.services.oauth.granting import Consent, Request, consent
from dolmen.services.oauth.tokens import ACCESS_PREFIX, Tokens, authenticate, redeem, refresh, revoke

__all__ = [
    "ACCESS_PREFIX",
    "Consent",
    "Request",
    "Tokens",
    "authenticate",
    "consent",
    "document_client",
    "redeem",
    "refresh",
    "register",
    "registered_client",
    "revoke",
]
