"""Which applications may ask a person for access: those that registered themselves, and those with a document."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dolmen.domain.identity import agent_name
from dolmen.domain.oauth import Client, OAuthError, checked_client
from dolmen.domain.values import HOUR

if TYPE_CHECKING:
    from dolmen.domain.values import Actor
    from dolmen.services.runtime import Runtime

CLIENT_PREFIX = "dlc_"
UNAPPROVED_FOR = 4 * HOUR
"""How long a registration is kept that no person has let in: a sign-in that was begun before lunch goes on after it."""
MOST_UNAPPROVED = 500
"""Registration needs no credential, so strangers cannot fill the store with it (B084); and neither can they close it:
the oldest that nobody has let in make room."""


def register(rt: Runtime, metadata: Mapping[str, Any]) -> Client:
    """A new public client by what it says of itself (RFC 7591).

    Raises:
        OAuthError: `invalid_redirect_uri`, `invalid_client_metadata`.
    """
    client = checked_client(CLIENT_PREFIX + secrets.token_urlsafe(16), metadata)
    with rt.store.write() as tx:
        tx.oauth.trim(tx.now, tx.now - UNAPPROVED_FOR)
        client = replace(client, created_at=tx.now)
        tx.oauth.put_client(client, "registered")
        tx.oauth.evict_unapproved(MOST_UNAPPROVED)
    return client


def register_with_key(rt: Runtime, key: Actor, metadata: Mapping[str, Any]) -> Client:
    """A client that stays within the key that it is registered with (C-306): whom it is let in by, what it may do at
    most, and when it ends (`binding`). The same name with the same key is the same client.

    Args:
        key: the actor of the key.

    Raises:
        OAuthError: `invalid_redirect_uri`, `invalid_client_metadata`.
    """
    said = checked_client("", metadata)
    name = f"{agent_name(said.name) if said.name else 'client'}_{key.connection.replace('-', '')[-8:]}"
    with rt.store.write() as tx:
        known = tx.oauth.client(name)
        if known is not None and (known.vault, known.key) != (key.vault, key.connection):
            name += f"_{secrets.token_hex(4)}"
        client = replace(said, id=name, created_at=tx.now, vault=key.vault, key=key.connection)
        tx.oauth.put_client(client, "registered")
        tx.oauth.approve_client(client.id, tx.now)
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
