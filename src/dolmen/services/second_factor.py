"""One-time codes after the password: turned on, asked for, recovered from, turned off."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dolmen.domain import totp
from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError, not_found
from dolmen.domain.values import MINUTE, Actor
from dolmen.services.accounts import hashed
from dolmen.services.people import (
    Entry,
    SignedIn,
    Visitor,
    at_home,
    count_guess,
    guessed_right,
    open_browser,
    prove,
)
from dolmen.services.presence import require_browser
from dolmen.services.recording import audit
from dolmen.services.refusing import refused
from dolmen.store.contract import Person, Step, Tx

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime

FRESH = 15 * MINUTE
"""So long after signing in, ways in can be added and taken away; a browser that somebody left open cannot."""
RECOVERY_CODES = 10
_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
"""Without what is easily mixed up on paper."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A secret that waits for its first code."""

    text: str
    """As people type it into the app."""
    address: str
    """As the QR code says it."""


def require_fresh(tx: Tx, here: SignedIn) -> None:
    """Refuses a browser that has been signed in for long, or is not any more.

    Raises:
        DolmenError: `forbidden`.
    """
    require_browser(tx, here.person.vault, here.person.id, here.session)
    if not is_fresh(here, tx.now):
        raise DolmenError("forbidden", "You signed in some time ago.", "Sign in again, then change this.")


def is_fresh(here: SignedIn, now: int) -> bool:
    """Whether somebody signed in with this browser just now."""
    return now - here.browser.created_at < FRESH


def offer(rt: Runtime, here: SignedIn, issuer: str) -> Offer:
    """A new secret for this person's app, which counts once its first code is confirmed from the same browser.

    Raises:
        DolmenError: `forbidden`; `conflict` while one is on.
    """
    secret = secrets.token_bytes(totp.SECRET_BYTES)
    with rt.store.write() as tx:
        require_fresh(tx, here)
        _require_off(tx, here.person)
        step = Step("new-code", here.person.vault, here.person.id, totp.as_text(secret), tx.now + FRESH)
        tx.proofs.add_step(step, here.session)
    return _offer(secret, here, issuer)


def offered(rt: Runtime, here: SignedIn, issuer: str) -> Offer:
    """The secret that waits, to be shown again.

    Raises:
        DolmenError: `gone`.
    """
    with rt.store.read() as tx:
        return _offer(_waiting(tx, here), here, issuer)


def confirm(rt: Runtime, here: SignedIn, code: str) -> list[str]:
    """Turns codes on, and every other browser of this person out.

    Returns:
        The recovery codes, which nobody can see again.

    Raises:
        DolmenError: `gone` when no secret waits; `forbidden`; `conflict`; `invalid-argument` for a wrong code.
    """
    person = here.person
    with rt.store.write() as tx:
        require_fresh(tx, here)
        _require_off(tx, person)
        secret = _waiting(tx, here)
        at = totp.time_of(secret, totp.digits_of(code), tx.now)
        if at is None:
            raise DolmenError(
                "invalid-argument", "That is not the code.", "Enter the six digits that the app shows now."
            )
        tx.proofs.take_step(here.session, "new-code")
        tx.people.set_secret(person.vault, person.id, "totp", totp.as_text(secret), tx.now)
        tx.proofs.use_code(person.vault, person.id, at)
        tx.people.close_all(person.vault, person.id, but=here.session)
        audit(tx, here.actor, "person:second-factor", person.id)
        return _recovery(tx, person)


def answer(rt: Runtime, step: str, code: str, visitor: Visitor) -> Entry:
    """The second step of signing in: a code of the app, or a recovery code.

    Raises:
        DolmenError: `gone` when the first step is too long ago; `unauthorized`; `rate-limited`.
    """
    with rt.store.write() as tx:
        person = _half(tx, step)
        if person is None:
            raise refused(
                "gone", "Signing in took too long.", "Start again.", reason="no-step", address=visitor.address
            )
        count_guess(tx, person.login or "", visitor)
        wrong = _take(tx, person, code)
        if not wrong and tx.proofs.take_step(hashed(step), "code") is not None:
            guessed_right(tx, person.login or "", visitor)
            return open_browser(tx, person, visitor)
    raise refused(
        "unauthorized",
        "That is not the code.",
        "Enter the six digits that the app shows now, or a recovery code; each is taken once.",
        reason=wrong or "no-step",
        person=person,
        address=visitor.address,
    )


def waits(rt: Runtime, step: str) -> bool:
    """Whether a browser is between the password and the code."""
    with rt.store.read() as tx:
        return bool(step) and _half(tx, step) is not None


def renew_recovery(rt: Runtime, here: SignedIn, code: str, visitor: Visitor) -> list[str]:
    """Other recovery codes in place of those before.

    Raises:
        DolmenError: `forbidden` for a wrong code; `conflict` while codes are off; `rate-limited`.
    """
    _check(rt, here, code, visitor)
    with rt.store.write() as tx:
        require_browser(tx, here.person.vault, here.person.id, here.session)
        audit(tx, here.actor, "person:recovery-codes", here.person.id)
        return _recovery(tx, here.person)


def turn_off(rt: Runtime, here: SignedIn, password: str, code: str, visitor: Visitor) -> None:
    """No codes any more. Takes both proofs, so that neither a stolen password nor an open browser is enough; of people
    who have passkeys alone, a code just after signing in with one.

    Raises:
        DolmenError: `forbidden`; `conflict` while codes are off; `rate-limited`.
    """
    with rt.store.write() as tx:
        passwordless = tx.people.secret(here.person.vault, here.person.id, "password") is None
        if passwordless:
            require_fresh(tx, here)
    if not passwordless:
        prove(rt, here, password, visitor)
    _check(rt, here, code, visitor)
    with rt.store.write() as tx:
        require_browser(tx, here.person.vault, here.person.id, here.session)
        guessed_right(tx, here.person.login or "", visitor)
        tx.proofs.drop_codes(here.person.vault, here.person.id)
        audit(tx, here.actor, "person:no-second-factor", here.person.id)


def reset(rt: Runtime, actor: Actor, person: str) -> bool:
    """The owner turns somebody's codes off, who lost the app and the recovery codes; browsers of theirs end.

    Returns:
        Whether they were on.

    Raises:
        DolmenError: `forbidden`, `not-found`.
    """
    require(actor, "admin")
    with rt.store.write() as tx:
        found = tx.people.get(actor.vault, person)
        if found is None or found.removed_at is not None:
            raise not_found("Person", person)
        home = at_home(tx, found).vault
        was_on = tx.proofs.drop_codes(home, person)
        if was_on:
            tx.people.close_all(home, person)
            audit(tx, actor, "person:reset-second-factor", person)
    return was_on


# ------------------------------------------------------------------------------------------------------------ the steps
def _half(tx: Tx, step: str) -> Person | None:
    found = tx.proofs.step(hashed(step), "code")
    if found is None or found.expires_at <= tx.now:
        return None
    person = tx.people.get(found.vault, found.person)
    return person if person is not None and person.removed_at is None else None


def _waiting(tx: Tx, here: SignedIn) -> bytes:
    found = tx.proofs.step(here.session, "new-code")
    if found is None or found.expires_at <= tx.now:
        raise DolmenError("gone", "That took too long.", "Start again.")
    return totp.from_text(found.data)


def _check(rt: Runtime, here: SignedIn, code: str, visitor: Visitor) -> None:
    with rt.store.write() as tx:
        if tx.people.secret(here.person.vault, here.person.id, "totp") is None:
            raise DolmenError("conflict", "One-time codes are off.", "Turn them on first.")
        count_guess(tx, here.person.login or "", visitor)
        wrong = _take(tx, here.person, code)
    if wrong:
        raise refused(
            "forbidden", "That is not the code.", "Wait for the next one; each is taken once.",
            reason=wrong, person=here.person, address=visitor.address,
        )  # fmt: skip


def _take(tx: Tx, person: Person, code: str) -> str:
    """Takes a code of the app or a recovery code; empty, or why not."""
    kept = tx.people.secret(person.vault, person.id, "totp")
    digits = totp.digits_of(code)
    if kept is None:
        return "no-second-factor"
    if not digits:
        return "" if tx.proofs.use_recovery(person.vault, person.id, hashed(_plain(code))) else "wrong-recovery-code"
    at = totp.time_of(totp.from_text(kept), digits, tx.now)
    if at is None:
        return "wrong-code"
    return "" if tx.proofs.use_code(person.vault, person.id, at) else "replayed-code"


def _recovery(tx: Tx, person: Person) -> list[str]:
    codes = [
        "-".join("".join(secrets.choice(_ALPHABET) for _ in range(5)) for _ in range(3)) for _ in range(RECOVERY_CODES)
    ]
    tx.proofs.set_recovery(person.vault, person.id, [hashed(_plain(code)) for code in codes], tx.now)
    return codes


def _plain(code: str) -> str:
    return "".join(each for each in code.casefold() if each.isalnum())[:100]


def _require_off(tx: Tx, person: Person) -> None:
    if tx.people.secret(person.vault, person.id, "totp") is not None:
        raise DolmenError("conflict", "One-time codes are on already.", "Turn them off first.")


def _offer(secret: bytes, here: SignedIn, issuer: str) -> Offer:
    text = totp.as_text(secret)
    spaced = " ".join(text[start : start + 4] for start in range(0, len(text), 4))
    return Offer(spaced, totp.address(secret, here.person.login or here.person.name, issuer))
