"""Who may connect: the vault and its owner, API keys, and the actor that a key or this machine's user stands for."""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dolmen.domain.access import KEY_PREFIX, Connection, require
from dolmen.domain.errors import DolmenError, not_found
from dolmen.domain.identity import agent_name, normalize_project
from dolmen.domain.timeframe import format_utc
from dolmen.domain.values import (
    MINUTE,
    MODES,
    SECOND,
    SERVED,
    USER_SCOPE,
    Actor,
    Bounds,
    Mode,
    Preset,
    Toolset,
    WritePolicy,
)
from dolmen.services.refusing import because

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime
    from dolmen.store.contract import Tx

MAIN_VAULT = "01900000-0000-7000-8000-000000000001"
"""The first vault of every store. A fixed id, so that two processes that set one store up at once make one vault."""
MAIN_OWNER = "01900000-0000-7000-8000-000000000002"

LOCAL = "local"
"""The connection of the command line, of stdio and of keyless loopback."""

_KEY = re.compile(re.escape(KEY_PREFIX) + r"[A-Za-z0-9_-]{43}")
_TOUCH_EVERY = MINUTE
_MOMENT = SECOND // 5


def ensure_vault(rt: Runtime) -> str:
    """The id of the vault that this machine's user acts in; the first run makes it and its owner (B211)."""
    with rt.store.read() as tx:
        vaults = tx.accounts.vaults()
    if not vaults:
        with rt.store.write() as tx:
            tx.accounts.add_vault(MAIN_VAULT, "main", MAIN_OWNER, "owner")
        vaults = [(MAIN_VAULT, "main")]
    if wanted := rt.options.vault.strip():
        return vault_named(vaults, wanted)
    return next((id for id, _ in vaults if id == MAIN_VAULT), vaults[0][0])


def vault_named(vaults: Sequence[tuple[str, str]], wanted: str) -> str:
    """The id of the vault with that name, without regard to case, or that id.

    Raises:
        DolmenError: `not-found`.
    """
    found = [id for id, name in vaults if wanted == id or wanted.casefold() == name.casefold()]
    if not found:
        raise DolmenError("not-found", f"There is no vault {wanted!r} here.", "`dolmen vault list` shows them.")
    return found[0]


def local_actor(
    rt: Runtime,
    *,
    agent: str,
    mode: Mode = "admin",
    project: str | None = None,
    toolset: Toolset = "core",
    human: bool = False,
) -> Actor:
    """The owner, acting on their own machine without a key."""
    vault, owner = rt.home(lambda: _home(rt))
    return Actor(
        vault=vault,
        person=owner,
        agent=agent_name(agent),
        mode=mode,
        connection=LOCAL,
        project=project_named(project),
        toolset=toolset,
        human=human,
    )


def _home(rt: Runtime) -> tuple[str, str]:
    vault = ensure_vault(rt)
    with rt.store.read() as tx:
        return vault, tx.accounts.owner(vault)


def create_key(
    rt: Runtime,
    actor: Actor,
    *,
    agent: str,
    mode: Mode = "write",
    project: str | None = None,
    toolset: Toolset = "core",
    expires_at: int | None = None,
    label: str = "",
    bounds: Bounds | None = None,
    write_policy: WritePolicy | None = None,
    apart: bool = False,
    private: bool = False,
    preset: Preset | None = None,
    groups: Sequence[str] = (),
) -> tuple[Connection, str]:
    """A new API key: the connection, and the secret, which nobody can see again.

    Args:
        groups: names of groups of keys that it comes into; it is kept apart then.

    Raises:
        DolmenError: `invalid-argument` for an agent without a name, an expiry in the past, an unknown mode or toolset,
            a label over 200 characters, or a limit out of range; `invalid-project`; `forbidden` for mode `write` while
            agent writes are off.
    """
    from dolmen.services.bounds import checked_bounds
    from dolmen.services.groups import group_named
    from dolmen.services.policy import policy_in
    from dolmen.services.recording import audit

    require(actor, "admin")
    if mode not in MODES:
        raise DolmenError("invalid-argument", f"There is no mode {mode!r}.", f"Use one of {', '.join(MODES)}.")
    if toolset not in SERVED:
        served = ", ".join(SERVED)
        raise DolmenError("invalid-argument", f"There is no toolset {toolset!r} here.", f"Use one of {served}.")
    if not any(each.isalnum() for each in agent):
        raise DolmenError("invalid-argument", "The agent has no name.", "Name it: `claude-code`, `codex`, …")
    if len(label) > 200:
        raise DolmenError("invalid-argument", "The label is longer than 200 characters.", "Shorten it.")
    if actor.keys:
        raise DolmenError(
            "forbidden", "A key that is kept apart makes no keys.", "Leave it to the owner: `dolmen key create`."
        )
    if private and (apart or groups):
        raise DolmenError(
            "invalid-argument",
            "A key that is kept apart has no person's memories.",
            "Pass one of --private and --apart.",
        )
    bounds = checked_bounds(bounds or Bounds())
    secret = KEY_PREFIX + secrets.token_urlsafe(32)
    with rt.store.write() as tx:
        if mode == "write" and not policy_in(tx, actor.vault).agent_writes:
            raise DolmenError(
                "forbidden",
                "Agent writes are off in this vault, so no key in mode write is made.",
                "Make it with `--mode suggest`, or turn them on: `dolmen settings agent_writes on`.",
            )
        if expires_at is not None and expires_at <= tx.now:
            raise DolmenError("invalid-argument", "The key would expire in the past.", "Choose a later date.")
        connection = Connection(
            id=tx.new_id(),
            vault=actor.vault,
            person=actor.person,
            agent=agent_name(agent),
            mode=mode,
            toolset=toolset,
            project=project_named(project),
            label=label,
            created_at=tx.now,
            expires_at=expires_at,
            hint=secret[-4:],
            bounds=bounds,
            write_policy=write_policy,
            apart=apart or bool(groups),
            private=private,
            preset=preset,
        )
        tx.accounts.add_connection(connection, hashed(secret))
        for name in groups:
            tx.accounts.join_group(actor.vault, group_named(tx, actor, name).id, connection.id)
        audit(tx, actor, "key:create", connection.id)
    return connection, secret


def keys(rt: Runtime, actor: Actor) -> list[Connection]:
    """Every key of the vault, revoked and expired ones too."""
    require(actor, "admin")
    with rt.store.read() as tx:
        return tx.accounts.connections(actor.vault)


def revoke(rt: Runtime, actor: Actor, id: str) -> Connection:
    """Ends a key at once; revoking it again changes nothing.

    Raises:
        DolmenError: `not-found`.
    """
    from dolmen.services.recording import audit

    require(actor, "admin")
    with rt.store.write() as tx:
        connection = next((each for each in tx.accounts.connections(actor.vault) if each.id == id), None)
        if connection is None:
            raise not_found("Key", id)
        ended = end(tx, actor.vault, id)
        if ended:
            audit(tx, actor, "key:revoke", id)
            connection = replace(connection, revoked_at=tx.now)
    for each in (id, *ended):
        rt.keys.forget(each)
    return connection


def end(tx: Tx, vault: str, id: str) -> list[str]:
    """Ends a connection, and what was let in through clients that were registered with it; what ended."""
    if not tx.accounts.revoke(vault, id, tx.now):
        return []
    ended = [id, *tx.oauth.bound_to(vault, id)]
    for each in ended:
        tx.accounts.revoke(vault, each, tx.now)
        tx.oauth.drop_tokens(vault, each)
    return ended


def authenticate(rt: Runtime, secret: str) -> Actor:
    """The actor that a key stands for.

    Only the hash of the secret meets the store, so a comparison that takes longer tells nothing about the secret. An
    answer is remembered for a second: a key revoked by another process may still open the door for so long.

    Raises:
        DolmenError: `unauthorized`; the same for a key that is unknown, malformed or revoked. An expired one is told
            its date, which only its holder can ask for.
    """
    if not _KEY.fullmatch(secret):
        raise because(_unauthorized(), "malformed-key")
    kept_under = hashed(secret)
    moment = time.monotonic_ns() // 1000
    if (known := rt.keys.get(kept_under, moment)) is not None:
        return known
    turn = rt.keys.turn
    with rt.store.read() as tx:
        connection = tx.accounts.by_secret(kept_under)
        now = tx.now
    if connection is None:
        raise because(_unauthorized(), "unknown-key")
    if connection.revoked_at is not None:
        raise because(_unauthorized(), f"revoked-key connection={connection.id}")
    if connection.expires_at is not None and connection.expires_at <= now:
        error = DolmenError(
            "unauthorized",
            f"This key expired on {format_utc(connection.expires_at)[:10]}.",
            "Ask the owner for a new one (`dolmen key create`).",
        )
        raise because(error, f"expired-key connection={connection.id}")
    if connection.last_used_at is None or now - connection.last_used_at >= _TOUCH_EVERY:
        rt.journal.used(connection.vault, connection.id, now)
    actor = actor_of(connection)
    if connection.expires_at is None or connection.expires_at - now > MINUTE:
        rt.keys.put(kept_under, actor, moment, turn)
    return actor


def remembered(rt: Runtime, secret: str) -> bool:
    """Whether `authenticate` will answer without a look into the store, now and in the next moment."""
    return rt.keys.get(hashed(secret), time.monotonic_ns() // 1000 + _MOMENT) is not None


def actor_of(connection: Connection) -> Actor:
    """The actor of a connection whose credential was checked."""
    return Actor(
        vault=connection.vault,
        person=connection.person,
        agent=connection.agent,
        mode=connection.mode,
        connection=connection.id,
        project=connection.project,
        toolset=connection.toolset,
        bounds=connection.bounds,
        policy=connection.write_policy,
        keys=connection.mates,
        private=connection.private,
        preset=connection.preset,
    )


def hashed(secret: str) -> str:
    """What the store keeps of a secret. Secrets are random and long, so a plain hash tells nobody anything."""
    return hashlib.sha256(secret.encode()).hexdigest()


def project_named(project: str | None) -> str | None:
    """The identity of a connection's default project; None for the user scope."""
    if project is None or not project.strip() or project.strip() == USER_SCOPE:
        return None
    return normalize_project(project)


def _unauthorized() -> DolmenError:
    return DolmenError(
        "unauthorized",
        "This needs a valid API key.",
        "Send `Authorization: Bearer dlm_…` with a key that holds. The owner makes one with `dolmen key create AGENT`, "
        "which prints what to enter in each client; `dolmen key list --all` shows revoked and expired ones.",
    )
