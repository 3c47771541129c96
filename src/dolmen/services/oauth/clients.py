"""Which applications may ask a person for access: those that registered themselves, and those with a document."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dolmen.domain.oauth import Client, OAuthError, checked_client
from dolmen.domain.values import DAY

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime

CLIENT_PREFIX = "dlc_"
UNAPPROVED_FOR = DAY
"""How long a registration is kept that no person has let in."""
MOST_UNAPPROVED = 500
"""Registration needs no credential, so strangers cannot fill the store with it (B084)."""


def register(rt: Runtime, metadata: Mapping[str, Any]) -> Client:
    """A new public client by what it says of itself (RFC 7591).

    Raises:
        OAuthError: `invalid_redirect_uri`, `invalid_client_metadata`, or `temporarily_unavailable` while too many
            registrations wait for a person.
    """
    client = checked_client(CLIENT_PREFIX + secrets.token_urlsafe(16), metadata)
    with rt.store.write() as tx:
        tx.oauth.trim(tx.now, tx.now - UNAPPROVED_FOR)
        if tx.oauth.unapproved() >= MOST_UNAPPROVED:
            raise OAuthError("temporarily_unavailable", "Too many clients wait to be let in; try again later.")
        client = replace(client, created_at=tx.now)
        tx.oauth.put_client(client, "registered")
    return client


def document_client(rt: Runtime, url: str, document: Mapping[str, Any]) -> Client:
    """The client whose id is the address of a document, by what the document says now.

    Raises:
        OAuthError: `invalid_client` for a document of another client, or the codes of a registration.
    """
    if document.get("client_id") != url:
        raise OAuthError("invalid_client", "The document at client_id names another client_id.")
    client = checked_client(url, document, keys=True)
    with rt.store.write() as tx:
        client = replace(client, created_at=tx.now)
        # It speaks for itself without being kept here, so that strangers cannot fill the store with documents either.
        if tx.oauth.client(url) is not None or tx.oauth.unapproved() < MOST_UNAPPROVED:
            tx.oauth.put_client(client, "document")
    return client


def registered_client(rt: Runtime, id: str) -> Client:
    """A client as it is known here.

    Raises:
        OAuthError: `invalid_client`.
    """
    with rt.store.read() as tx:
        client = tx.oauth.client(id)
    if client is None:
        raise OAuthError("invalid_client", "This client is not registered here, or not any more; register it again.")
    return client
