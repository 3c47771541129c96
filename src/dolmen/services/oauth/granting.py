"""A person says yes: that makes a connection, and a code that its client redeems once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dolmen.domain.access import Connection
from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import agent_name
from dolmen.domain.oauth import CODE_LIFE, Client, Code, OAuthError, grant_mode, matches, mode_of, scopes_of
from dolmen.domain.values import SERVED, Actor
from dolmen.services.accounts import hashed, project_named
from dolmen.services.groups import put_together
from dolmen.services.oauth.binding import Consent, in_vault, key_of, within_key
from dolmen.services.policy import policy_in
from dolmen.services.presence import require_browser
from dolmen.services.recording import audit

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime
    from dolmen.store.contract import Tx

CODE_PREFIX = "dlo_"


@dataclass(frozen=True, slots=True)
class Request:
    """What a client asks a person for, checked."""

    client: Client
    redirect: str
    challenge: str
    resource: str
    """In its one spelling (`Resources.resolve`)."""
    scope: str = ""

    def __post_init__(self) -> None:
        if not any(matches(registered, self.redirect) for registered in self.client.redirects):
            raise OAuthError("invalid_request", "redirect_uri is not one that the client registered.")
        mode_of(self.scope)


def consent(rt: Runtime, person: Actor, request: Request, chosen: Consent, session: str = "") -> str:
    """Makes the connection that the person agreed to; returns the code for the client, which holds for a minute.

    Args:
        session: the hash of the secret of the browser that they agreed with; it must be signed in still.

    Raises:
        DolmenError: as `connect`.
    """
    code = CODE_PREFIX + secrets.token_urlsafe(32)
    with rt.store.write() as tx:
        if session:
            require_browser(tx, person.vault, person.person, session)
        person = in_vault(tx, person, chosen)
        connection, scope = connect(tx, person, request.client, request.scope, chosen)
        tx.oauth.add_code(
            Code(
                client=request.client.id,
                redirect=request.redirect,
                challenge=request.challenge,
                vault=person.vault,
                connection=connection,
                resource=request.resource,
                scope=scope,
                created_at=tx.now,
                expires_at=tx.now + CODE_LIFE,
            ),
            hashed(code),
        )
    rt.keys.clear()  # the key that the client was registered with may see more now
    return code


def connect(tx: Tx, person: Actor, client: Client, scope: str, chosen: Consent) -> tuple[str, str]:
    """The connection of a client that a person lets in: its id, and the scope that it has.

    Args:
        scope: what the client asked for.

    Raises:
        DolmenError: `forbidden` for anybody but a person, for a client of somebody else's key, and for writing while
            agent writes are off; `invalid-argument`, `invalid-project`.
    """
    if not person.human:
        raise DolmenError("forbidden", "Only a person lets a client in.", "Sign in on the web page.")
    _check(chosen)
    chosen = within_key(tx, person, client, replace(chosen, project=project_named(chosen.project)))
    if chosen.expires_at is not None and chosen.expires_at <= tx.now:
        raise DolmenError("invalid-argument", "The access would end in the past.", "Choose a later date.")
    mode = grant_mode(mode_of(scope), chosen.mode)
    if mode == "write" and not policy_in(tx, person.vault).agent_writes:
        raise DolmenError(
            "forbidden",
            "Agent writes are off in this memory, so no client is let in to write.",
            "Let it propose, or turn them on first: `dolmen settings agent_writes on`.",
        )
    connection = Connection(
        id=tx.new_id(),
        vault=person.vault,
        person=person.person,
        agent=agent_name(chosen.agent),
        mode=mode,
        toolset=chosen.toolset,
        project=chosen.project,
        label=f"{client.name or client.id} (sign-in)"[:200],
        created_at=tx.now,
        expires_at=chosen.expires_at,
    )
    key = key_of(tx, client)
    if key is not None:  # what it sees is what its key sees, and what its key may do it may do, no more (C-306)
        connection = replace(
            connection,
            apart=key.apart,
            private=key.private,
            preset=key.preset,
            bounds=key.bounds,
            write_policy=key.write_policy,
        )
    # A grant has no key of its own: its hash is that of something nobody ever saw.
    tx.accounts.add_connection(connection, hashed(secrets.token_urlsafe(32)))
    if key is not None and key.apart:
        put_together(tx, person.vault, key, connection.id)
    tx.oauth.approve_client(client.id, tx.now)
    audit(tx, person, "oauth:consent", connection.id)
    return connection.id, scopes_of(mode, scope.split())


def _check(chosen: Consent) -> None:
    if chosen.mode not in ("read", "suggest", "write"):
        raise DolmenError("invalid-argument", "A client reads, suggests or writes.", "Choose one of the three.")
    if chosen.toolset not in SERVED:
        raise DolmenError("invalid-argument", "There is no such toolset here.", f"Use one of {', '.join(SERVED)}.")
    if not any(each.isalnum() for each in chosen.agent):
        raise DolmenError(
            "invalid-argument", "The agent has no name.", "Name it: `claude`, `chatgpt`, …", field="agent"
        )
