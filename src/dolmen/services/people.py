"""Who signs in: the owner's first link, passwords, browsers, and what happens after wrong guesses."""

from __future__ import annotations

import re
import secrets
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dolmen.domain.access import require
from dolmen.domain.errors import DolmenError, not_found
from dolmen.domain.values import DAY, HOUR, MINUTE, Actor, Mode
from dolmen.services import passwords
from dolmen.services.accounts import ensure_vault, hashed
from dolmen.services.oauth.clients import UNAPPROVED_FOR
from dolmen.services.recording import audit
from dolmen.store.contract import Browser, EntryLink, Person, Tx

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime

WEB = "web"
"""The connection of somebody who is signed in with a browser."""
LINK_LIFE = DAY
IDLE, LONGEST = 12 * HOUR, 7 * DAY
"""A browser is signed out after so long without a request, and in any case after so long."""
GUESSES, LOCKED_FOR = 5, 15 * MINUTE
"""Wrong guesses in a row, for one name or from one address, after which nobody is let in for a while: fewer than 500
a day."""
_FROM_ADDRESS = 20
"""Several people may share an address."""
_LOGIN = re.compile(r"[\w.@+-]{2,64}")
_SEE_EVERY = MINUTE


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person at a browser."""

    person: Person
    actor: Actor


def entry_link(rt: Runtime, actor: Actor, person: str) -> str:
    """The secret of a link with which a person chooses a password: a first one, or another one when it was forgotten.
    Earlier links of theirs end.

    Raises:
        DolmenError: `forbidden`, `not-found`.
    """
    require(actor, "admin")
    secret = secrets.token_urlsafe(24)
    with rt.store.write() as tx:
        found = tx.people.get(actor.vault, person)
        if found is None or found.removed_at is not None:
            raise not_found("Person", person)
        tx.people.add_link(EntryLink(actor.vault, person, tx.now, tx.now + LINK_LIFE), hashed(secret))
        audit(tx, actor, "person:link", person)
    return secret


def needs_setup(rt: Runtime) -> Person | None:
    """The owner of this machine's vault, as long as they have no password."""
    vault = ensure_vault(rt)
    with rt.store.read() as tx:
        owner = tx.people.get(vault, tx.accounts.owner(vault))
        if owner is None or tx.people.secret(vault, owner.id, "password") is not None:
            return None
    return owner


def invite(rt: Runtime, actor: Actor, name: str) -> tuple[Person, str]:
    """A new member of the vault, and the secret of their link.

    Raises:
        DolmenError: `forbidden`, `invalid-argument` for a name that is empty or over 100 characters.
    """
    require(actor, "admin")
    name = " ".join("".join(char for char in name if char.isprintable()).split())
    if not 1 <= len(name) <= 100:
        raise DolmenError("invalid-argument", "The name is empty or too long.", "Give 1 to 100 characters.")
    with rt.store.write() as tx:
        person = Person(actor.vault, tx.new_id(), name, "member", tx.now)
        tx.people.add(person)
        audit(tx, actor, "person:invite", person.id)
    return person, entry_link(rt, actor, person.id)


def people(rt: Runtime, actor: Actor) -> list[Person]:
    """Everybody of the vault, those who were removed too."""
    require(actor, "admin")
    with rt.store.read() as tx:
        return tx.people.all(actor.vault)


def remove(rt: Runtime, actor: Actor, person: str) -> None:
    """Ends a person's access: their browsers and their connections stop at once. What they wrote stays.

    Raises:
        DolmenError: `forbidden`; `not-found`; `conflict` for the vault's owner.
    """
    require(actor, "admin")
    with rt.store.write() as tx:
        found = tx.people.get(actor.vault, person)
        if found is None:
            raise not_found("Person", person)
        if found.role == "owner":
            raise DolmenError("conflict", "A vault keeps its owner.", "Remove members only.")
        tx.people.remove(actor.vault, person, tx.now)
        ended = [each.id for each in tx.accounts.connections(actor.vault) if each.person == person]
        for connection in ended:
            tx.accounts.revoke(actor.vault, connection, tx.now)
            tx.oauth.drop_tokens(actor.vault, connection)
        audit(tx, actor, "person:remove", person)
    for connection in ended:
        rt.keys.forget(connection)


# ------------------------------------------------------------------------------------------------------------- entering
def link_of(rt: Runtime, secret: str) -> Person:
    """Whose link it is.

    Raises:
        DolmenError: `gone`, the same for one that is unknown, used or too old.
    """
    with rt.store.read() as tx:
        return _owner_of(tx, tx.people.link(hashed(secret)))


def choose_password(rt: Runtime, secret: str, login: str, password: str) -> str:
    """Uses a link: the person has this login and password from now on; every other browser of theirs is signed out.

    Returns:
        The secret of the browser, signed in.

    Raises:
        DolmenError: `gone`; `invalid-argument` for a login or password that does not do; `conflict` for a login that
            somebody else has.
    """
    login = _login(login)
    if not _LOGIN.fullmatch(login):
        raise DolmenError(
            "invalid-argument", "That is no login.", "Use 2 to 64 letters, digits, dots, hyphens; an address will do."
        )
    passwords.check(password)
    kept = passwords.hash_of(password)
    with rt.store.write() as tx:
        person = _owner_of(tx, tx.people.use_link(hashed(secret), tx.now))
        holder = tx.people.by_login(login)
        if holder is not None and (holder.vault, holder.id) != (person.vault, person.id):
            raise DolmenError("conflict", "Somebody else signs in with that name.", "Choose another login.")
        tx.people.change(person.vault, person.id, login=login)
        tx.people.set_secret(person.vault, person.id, "password", kept, tx.now)
        tx.people.close_all(person.vault, person.id)
        tx.people.succeeded(_by_name(login))
        audit(tx, _actor(person), "person:password", person.id)
        return _open(tx, person)


def sign_in(rt: Runtime, login: str, password: str, *, address: str) -> str:
    """The secret of a browser, signed in.

    Raises:
        DolmenError: `unauthorized`, the same for a name that nobody has and a password that is not theirs;
            `rate-limited` after many of these.
    """
    login = _login(login)
    subjects = {_by_name(login): GUESSES, f"address {address}": _FROM_ADDRESS}
    with rt.store.write() as tx:
        for subject, most in subjects.items():
            _count_guess(tx, subject, most)
        person = tx.people.by_login(login)
        kept = None if person is None else tx.people.secret(person.vault, person.id, "password")
    right = passwords.fits(password, kept)  # outside the transaction: it takes a while on purpose
    if right and person is not None:
        with rt.store.write() as tx:
            if tx.people.by_login(login) == person and tx.people.secret(person.vault, person.id, "password") == kept:
                for subject in subjects:
                    tx.people.succeeded(subject)
                audit(tx, _actor(person), "person:sign-in", person.id)
                return _open(tx, person)
    raise DolmenError("unauthorized", "The name or the password is wrong.", "Try again, or ask the owner for a link.")


def at_browser(rt: Runtime, secret: str) -> SignedIn | None:
    """Who is signed in with a browser; None when nobody is, or not any more."""
    if not secret:
        return None
    with rt.store.read() as tx:
        found = tx.people.browser(hashed(secret))
        now = tx.now
    if found is None:
        return None
    browser, person = found
    if now - browser.seen_at >= IDLE or now - browser.created_at >= LONGEST:
        return None
    if now - browser.seen_at >= _SEE_EVERY:
        with rt.store.write() as tx:
            tx.people.see(hashed(secret), tx.now)
    return SignedIn(person, _actor(person))


def sign_out(rt: Runtime, secret: str) -> None:
    """Nothing happens for one who was not signed in."""
    with rt.store.write() as tx:
        tx.people.close(hashed(secret))


def forget_old(rt: Runtime) -> int:
    """Forgets browsers, links, codes and tokens that hold no more, and clients that nobody let in; returns how many."""
    with rt.store.write() as tx:
        return _trim(tx) + tx.oauth.trim(tx.now, tx.now - UNAPPROVED_FOR)


def _trim(tx: Tx) -> int:
    return tx.people.trim(tx.now - IDLE, tx.now - LONGEST, tx.now - DAY, tx.now)


def _count_guess(tx: Tx, subject: str, most: int) -> None:
    """Counts a guess before it is known whether it is right, so that many at once are not more than one after the
    other."""
    number, last = tx.people.guess(subject, tx.now, tx.now - LOCKED_FOR, most)
    if number > most:
        minutes = -(-(last + LOCKED_FOR - tx.now) // MINUTE)
        raise DolmenError(
            "rate-limited", "Too many wrong passwords.", f"Wait {minutes} minutes, or ask the owner for a link."
        )


def _owner_of(tx: Tx, link: EntryLink | None) -> Person:
    person = None
    if link is not None and link.used_at is None and link.expires_at > tx.now:
        person = tx.people.get(link.vault, link.person)
    if person is None or person.removed_at is not None:
        raise DolmenError(
            "gone",
            "This link does not hold any more.",
            "Ask the owner for another one; `dolmen person link` prints it.",
        )
    return person


def _open(tx: Tx, person: Person) -> str:
    secret = secrets.token_urlsafe(32)
    _trim(tx)
    tx.people.open(Browser(person.vault, person.id, tx.now, tx.now), hashed(secret))
    return secret


def _actor(person: Person) -> Actor:
    mode: Mode = "admin" if person.role == "owner" else "write"
    return Actor(vault=person.vault, person=person.id, agent=WEB, mode=mode, connection=WEB, human=True)


def _login(given: str) -> str:
    return unicodedata.normalize("NFKC", given.strip()).casefold()


def _by_name(login: str) -> str:
    # A hash: what people type for a name is sometimes their password.
    return f"name {hashed(login)}"
