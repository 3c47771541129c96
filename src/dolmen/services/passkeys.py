"""Passkeys: added by somebody who just signed in, asked for instead of a name and a password, removed."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dolmen.domain.errors import DolmenError
from dolmen.domain.passkeys import (
    Expected,
    PasskeyRefusedError,
    asserted,
    base64url,
    counts_on,
    from_base64url,
    registered,
)
from dolmen.services import signatures
from dolmen.services.accounts import hashed
from dolmen.services.checking import tidied
from dolmen.services.people import STEP_LIFE, Entry, SignedIn, Visitor, open_browser
from dolmen.services.recording import audit
from dolmen.services.refusing import refused
from dolmen.services.second_factor import require_fresh
from dolmen.store.contract import Passkey, Person, Step

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime

MOST = 20
"""Passkeys of one person."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where passkeys hold."""

    origin: str
    """As browsers name it: `https://memory.example.com`."""
    rp: str
    """The host name alone."""


@dataclass(frozen=True, slots=True)
class Creation:
    """What a browser is asked for a new passkey. All base64url."""

    challenge: str
    handle: str
    """The same for every passkey of a person, and tells nothing about them."""
    exclude: tuple[str, ...]
    """The passkeys that they have: one authenticator makes no second one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What an authenticator answered to a challenge."""

    id: str
    handle: str
    client_data: bytes
    authenticator_data: bytes
    signature: bytes


def begin(rt: Runtime, here: SignedIn) -> Creation:
    """Asks a browser that is signed in for a new passkey.

    Raises:
        DolmenError: `forbidden`; `conflict` for somebody who has many already.
    """
    challenge = base64url(secrets.token_bytes(32))
    person = here.person
    with rt.store.write() as tx:
        require_fresh(tx, here)
        known = tx.proofs.passkeys(person.vault, person.id)
        if len(known) >= MOST:
            raise DolmenError("conflict", f"There are {MOST} passkeys already.", "Remove one first.")
        tx.proofs.add_step(Step("new-passkey", person.vault, person.id, challenge, tx.now + STEP_LIFE), here.session)
    return Creation(challenge, _handle(person), tuple(each.id for each in known))


def add(rt: Runtime, here: SignedIn, site: Site, client_data: bytes, attestation: bytes, label: str) -> Passkey:
    """Keeps what the browser made for the last `begin`.

    Raises:
        DolmenError: `forbidden`; `invalid-argument` for what does not hold, or a name that is empty or over 100
            characters; `conflict` for a passkey that is known already.
    """
    label = tidied(label)
    person = here.person
    with rt.store.write() as tx:  # taken before it is looked at: a challenge is for one answer
        require_fresh(tx, here)
        step = tx.proofs.take_step(here.session, "new-passkey")
        now = tx.now
    try:
        made = registered(_expected(step, site, now), client_data, attestation)
        der = signatures.as_der(made.key)
    except (PasskeyRefusedError, ValueError) as error:
        reason = error.reason if isinstance(error, PasskeyRefusedError) else "key"
        raise refused(
            "invalid-argument", "That passkey does not hold.", "Try again.", reason=f"passkey-{reason}", person=person
        ) from None
    with rt.store.write() as tx:
        require_fresh(tx, here)
        if len(tx.proofs.passkeys(person.vault, person.id)) >= MOST:
            raise DolmenError("conflict", f"There are {MOST} passkeys already.", "Remove one first.")
        passkey = Passkey(
            person.vault, person.id, base64url(made.credential), base64url(der), made.counter, label, tx.now
        )
        tx.proofs.add_passkey(passkey)
        audit(tx, here.actor, "person:passkey", person.id)
    return passkey


def challenge(rt: Runtime) -> tuple[str, str]:
    """Asks a browser of which nothing is known for a passkey.

    Returns:
        The secret by which the browser is known again, and the challenge, base64url.
    """
    secret, asked = secrets.token_urlsafe(32), base64url(secrets.token_bytes(32))
    with rt.store.write() as tx:
        tx.proofs.trim(tx.now)
        tx.proofs.add_step(Step("passkey", "", "", asked, tx.now + STEP_LIFE), hashed(secret))
    return secret, asked


def enter(rt: Runtime, secret: str, site: Site, answer: Answer, visitor: Visitor) -> Entry:
    """Signs a browser in by the answer to its challenge. The authenticator has seen to it that it was its owner (user
    verification), so no further code is asked for.

    Raises:
        DolmenError: `unauthorized`, the same for everything that does not hold.
    """
    with rt.store.write() as tx:
        step = tx.proofs.take_step(hashed(secret), "passkey")
        found = tx.proofs.passkey(answer.id)
        now = tx.now
    person = found[1] if found else None
    try:
        passkey, counter = _held(_expected(step, site, now), found, answer)
    except PasskeyRefusedError as error:
        raise _no_entry(f"passkey-{error.reason}", person, visitor) from None
    with rt.store.write() as tx:
        if (
            person is not None
            and tx.proofs.passkey(answer.id) == found
            and tx.proofs.use_passkey(passkey, counter, tx.now)
        ):
            return open_browser(tx, person, visitor)
    raise _no_entry("passkey-changed", person, visitor)


def remove(rt: Runtime, here: SignedIn, id: str) -> None:
    """Takes a passkey away; the authenticator may show it for a while, but it opens nothing.

    Raises:
        DolmenError: `forbidden`; `not-found`; `conflict` for the last way in.
    """
    person = here.person
    with rt.store.write() as tx:
        require_fresh(tx, here)
        known = tx.proofs.passkeys(person.vault, person.id)
        if not any(each.id == id for each in known):
            raise DolmenError("not-found", "That passkey is not here any more.", "Reload the page.")
        if len(known) == 1 and tx.people.secret(person.vault, person.id, "password") is None:
            raise DolmenError("conflict", "That is your last way in.", "Choose a password or add a passkey first.")
        tx.proofs.drop_passkey(person.vault, person.id, id)
        audit(tx, here.actor, "person:remove-passkey", person.id)


def drop_password(rt: Runtime, here: SignedIn) -> None:
    """Passkeys alone from now on.

    Raises:
        DolmenError: `forbidden`; `conflict` without a passkey.
    """
    person = here.person
    with rt.store.write() as tx:
        require_fresh(tx, here)
        if not tx.proofs.passkeys(person.vault, person.id):
            raise DolmenError("conflict", "The password is your last way in.", "Add a passkey first.")
        if tx.proofs.drop_password(person.vault, person.id):
            audit(tx, here.actor, "person:no-password", person.id)


def _held(expected: Expected, found: tuple[Passkey, Person] | None, answer: Answer) -> tuple[Passkey, int]:
    """Web Authentication Level 2, §7.2: the passkey, and its counter from now on."""
    said = asserted(expected, answer.client_data, answer.authenticator_data)
    if found is None:
        raise PasskeyRefusedError("unknown")
    passkey, person = found
    if not hmac.compare_digest(answer.handle.encode(), _handle(person).encode()):  # step 6
        raise PasskeyRefusedError("owner")
    if not signatures.signed(from_base64url(passkey.key), answer.signature, said.message):  # step 20
        raise PasskeyRefusedError("signature")
    if not counts_on(passkey.counter, said.counter):  # step 21
        raise PasskeyRefusedError("counter")
    return passkey, said.counter


def _expected(step: Step | None, site: Site, now: int) -> Expected:
    if step is None or step.expires_at <= now:
        raise PasskeyRefusedError("expired")
    return Expected(from_base64url(step.data), site.origin, site.rp)


def _handle(person: Person) -> str:
    # Without the vault: a person who leaves one of theirs takes the passkeys along to another.
    return base64url(hashlib.sha256(f"person {person.id}".encode()).digest())


def _no_entry(reason: str, person: Person | None, visitor: Visitor) -> DolmenError:
    return refused(
        "unauthorized",
        "That passkey does not open this server.",
        "Try again, or sign in with your name and password.",
        reason=reason,
        person=person,
        address=visitor.address,
    )
