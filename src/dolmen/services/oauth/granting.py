"""A person says yes: that makes a connection, and a code that its client redeems once."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dolmen.domain.access import Connection
from dolmen.domain.errors import DolmenError
from dolmen.domain.identity import agent_name
from dolmen.domain.oauth import CODE_LIFE, Client, Code, OAuthError, grant_mode, matches, mode_of, scopes_of
from dolmen.domain.values import SERVED, Actor, Mode, Toolset
from dolmen.services.accounts import hashed, project_named
from dolmen.services.recording import audit

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime

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


@dataclass(frozen=True, slots=True)
class Consent:
    """What the person chose on the consent page."""

    agent: str
    mode: Mode
    project: str | None = None
    toolset: Toolset = "core"
    expires_at: int | None = None


def consent(rt: Runtime, person: Actor, request: Request, chosen: Consent) -> str:
    """Makes the connection that the person agreed to; returns the code for the client, which holds for a minute.

    Raises:
        DolmenError: `forbidden` for anybody but a person, `invalid-argument`, `invalid-project`.
    """
    if not person.human:
        raise DolmenError("forbidden", "Only a person lets a client in.", "Sign in on the web page.")
    _check(chosen)
    mode = grant_mode(mode_of(request.scope), chosen.mode)
    code = CODE_PREFIX + secrets.token_urlsafe(32)
    with rt.store.write() as tx:
        if chosen.expires_at is not None and chosen.expires_at <= tx.now:
            raise DolmenError("invalid-argument", "The access would end in the past.", "Choose a later date.")
        connection = Connection(
            id=tx.new_id(),
            vault=person.vault,
            person=person.person,
            agent=agent_name(chosen.agent),
            mode=mode,
            toolset=chosen.toolset,
            project=project_named(chosen.project),
            label=f"{request.client.name or request.client.id} (sign-in)"[:200],
            created_at=tx.now,
            expires_at=chosen.expires_at,
        )
        # A grant has no key of its own: its hash is that of something nobody ever saw.
        tx.accounts.add_connection(connection, hashed(secrets.token_urlsafe(32)))
        tx.oauth.approve_client(request.client.id, tx.now)
        tx.oauth.add_code(
            Code(
                client=request.client.id,
                redirect=request.redirect,
                challenge=request.challenge,
                vault=person.vault,
                connection=connection.id,
                resource=request.resource,
                scope=scopes_of(mode, request.scope.split()),
                created_at=tx.now,
                expires_at=tx.now + CODE_LIFE,
            ),
            hashed(code),
        )
        audit(tx, person, "oauth:consent", connection.id)
    return code


def _check(chosen: Consent) -> None:
    if chosen.mode not in ("read", "suggest", "write"):
        raise DolmenError("invalid-argument", "A client reads, suggests or writes.", "Choose one of the three.")
    if chosen.toolset not in SERVED:
        raise DolmenError("invalid-argument", "There is no such toolset here.", f"Use one of {', '.join(SERVED)}.")
    if not any(each.isalnum() for each in chosen.agent):
        raise DolmenError("invalid-argument", "The agent has no name.", "Name it: `claude`, `chatgpt`, …")
