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
from dolmen.services.checking import tidied
from dolmen.services.oauth.clients import UNAPPROVED_FOR
from dolmen.services.recording import audit
from dolmen.services.refusing import refused
from dolmen.store.contract import Browser, EntryLink, Person, Step, Tx

if TYPE_CHECKING:
    from dolmen.services.runtime import Runtime

WEB = "web"
"""The connection of somebody who is signed in with a browser."""
LINK_LIFE = DAY
IDLE, LONGEST = 12 * HOUR, 7 * DAY
"""A browser is signed out after so long without a request, and in any case after so long."""
GUESSES, LOCKED_FOR = 5, 15 * MINUTE
"""Wrong guesses in a row, for one name or from one address, after which nobody is let in for a while: fewer than 500 a
day. The same for a browser that is known."""
_FROM_ADDRESS = 20
"""Several people may share an address."""
STEP_LIFE = 5 * MINUTE
"""How long a browser may take for its next step: a code, the answer of a passkey."""
_LOGIN = re.compile(r"[\w.@+-]{2,64}")
_SEE_EVERY = MINUTE


@dataclass(frozen=True, slots=True)
class SignedIn:
    """A person at a browser."""

    person: Person
    actor: Actor
    browser: Browser
    session: str
    """The hash of the browser's secret."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A step of signing in that was taken."""

    secret: str
    complete: bool = True
    """Signed in. Otherwise a one-time code is missing, and the secret opens nothing but the page that asks for it."""
    mark: str = ""
    """What the browser is known by when it signs in again (`passwords.mark`)."""


@dataclass(frozen=True, slots=True)
class Visitor:
    """Where somebody comes from."""

    address: str = ""
    device: str = ""
    """What they recognise this browser by."""
    instead: str = ""
    """The secret with which the browser was signed in so far; it ends."""
    mark: str = ""
    """What the browser shows of an earlier sign-in."""


def entry_link(rt: Runtime, actor: Actor, person: str) -> str:
    """The secret of a link with which a person chooses a password: a first one, or another one when it was forgotten.
    Earlier links of theirs end.

    Raises:
        DolmenError: `forbidden`, `not-found`.
    """
    require(actor, "admin")
    secret = secrets.token_urlsafe(24)
    with rt.store.write() as tx:
        tx.people.hold(actor.vault, person)  # of two links at once one is left
        found = tx.people.get(actor.vault, person)
        if found is None or found.removed_at is not None:
            raise not_found("Person", person)
        tx.people.add_link(EntryLink(actor.vault, person, tx.now, tx.now + LINK_LIFE), hashed(secret))
        audit(tx, actor, "person:link", person)
    return secret


def needs_setup(rt: Runtime) -> Person | None:
    """The owner of this machine's vault, as long as they have no way in: neither password nor passkey."""
    vault = ensure_vault(rt)
    with rt.store.read() as tx:
        owner = tx.people.get(vault, tx.accounts.owner(vault))
        if owner is None or tx.people.secret(vault, owner.id, "password") or tx.proofs.passkeys(vault, owner.id):
            return None
    return owner


def invite(rt: Runtime, actor: Actor, name: str) -> tuple[Person, str]:
    """A new member of the vault, and the secret of their link.

    Raises:
        DolmenError: `forbidden`, `invalid-argument` for a name that is empty or over 100 characters.
    """
    require(actor, "admin")
    name = tidied(name)
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
        tx.people.hold(actor.vault, person)
        found = tx.people.get(actor.vault, person)
        if found is None:
            raise not_found("Person", person)
        if found.role == "owner":
            raise DolmenError("conflict", "A vault keeps its owner.", "Remove members only.")
        tx.people.leave(actor.vault, person)
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


def choose_password(rt: Runtime, secret: str, login: str, password: str, visitor: Visitor = Visitor()) -> Entry:
    """Uses a link: the person has this login and password from now on; every other browser of theirs is signed out.
    Whoever has one-time codes is asked for one all the same.

    Raises:
        DolmenError: `gone`; `invalid-argument` for a login or password that does not do; `conflict` for a login that
            somebody else has.
    """
    login = _login(login)
    if not _LOGIN.fullmatch(login):
        raise DolmenError(
            "invalid-argument", "That is no login.", "Use 2 to 64 letters, digits, dots, hyphens; an address will do."
        )
    passwords.check(password, login, link_of(rt, secret).name)
    kept = passwords.hash_of(password)
    with rt.store.write() as tx:
        link = tx.people.link(hashed(secret))
        if link is not None:
            tx.people.hold(link.vault, link.person)  # nobody who is removed meanwhile gets a way in
        person = _owner_of(tx, tx.people.use_link(hashed(secret), tx.now))
        holder = tx.people.by_login(login)
        if holder is not None and (holder.vault, holder.id) != (person.vault, person.id):
            raise DolmenError("conflict", "Somebody else signs in with that name.", "Choose another login.")
        tx.people.hold(person.vault, person.id)
        tx.people.change(person.vault, person.id, login=login)
        tx.people.set_secret(person.vault, person.id, "password", kept, tx.now)
        tx.people.succeeded(_by_name(login))
        tx.people.close_all(person.vault, person.id)
        audit(tx, actor_of(person), "person:password", person.id)
        return let_in(tx, person, visitor)


def sign_in(rt: Runtime, login: str, password: str, visitor: Visitor) -> Entry:
    """The first step of signing in, and the only one where there are no one-time codes.

    Raises:
        DolmenError: `unauthorized`, the same for a name that nobody has and a password that is not theirs;
            `rate-limited` after many of these.
    """
    login = _login(login)
    with rt.store.write() as tx:
        count_guess(tx, login, visitor)
        person = tx.people.by_login(login)
        kept = None if person is None else tx.people.secret(person.vault, person.id, "password")
    right = passwords.fits(password, kept)  # outside the transaction: it takes a while on purpose
    if right and person is not None:
        with rt.store.write() as tx:
            tx.people.hold(person.vault, person.id)  # a password that is changed meanwhile signs nobody in any more
            if tx.people.by_login(login) == person and tx.people.secret(person.vault, person.id, "password") == kept:
                return let_in(tx, person, visitor)
    raise refused(
        "unauthorized",
        "The name or the password is wrong.",
        "Try again, or ask the owner for a link.",
        reason="unknown-name" if person is None else "no-password" if kept is None else "wrong-password",
        person=person,
        address=visitor.address,
    )


def prove(rt: Runtime, here: SignedIn, password: str, visitor: Visitor) -> None:
    """Somebody who is signed in shows that it is them. Wrong guesses count like those at the door.

    Raises:
        DolmenError: `forbidden`; `rate-limited`.
    """
    login = here.person.login or ""
    with rt.store.write() as tx:
        count_guess(tx, login, visitor)
        kept = tx.people.secret(here.person.vault, here.person.id, "password")
    if not passwords.fits(password, kept):
        raise refused(
            "forbidden",
            "That is not your password.",
            "Try again.",
            reason="wrong-password",
            person=here.person,
            address=visitor.address,
        )
    with rt.store.write() as tx:
        if tx.people.secret(here.person.vault, here.person.id, "totp") is None:
            guessed_right(tx, login, visitor)
        else:  # a code may be guessed at next: the row of the name goes on
            _right_so_far(tx, login, visitor)


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
    return SignedIn(person, actor_of(person), browser, hashed(secret))


def sign_out(rt: Runtime, secret: str) -> None:
    """Nothing happens for one who was not signed in."""
    with rt.store.write() as tx:
        tx.people.close(hashed(secret))


def forget_old(rt: Runtime) -> int:
    """Forgets browsers, links, codes and tokens that hold no more, and clients that nobody let in; returns how many."""
    with rt.store.write() as tx:
        return _trim(tx) + tx.oauth.trim(tx.now, tx.now - UNAPPROVED_FOR)


def _trim(tx: Tx) -> int:
    return tx.people.trim(tx.now - IDLE, tx.now - LONGEST, tx.now - DAY, tx.now) + tx.proofs.trim(tx.now)


def count_guess(tx: Tx, login: str, visitor: Visitor) -> None:
    """Counts a guess before it is known whether it is right, so that many at once are not more than one after the
    other.

    A browser that this person signed in with before has a row of its own, and no other one: strangers who guess at the
    name, or from the same address, close nothing for it (OWASP, device cookies)."""
    for subject, most in _subjects(tx, login, visitor).items():
        number, last = tx.people.guess(subject, tx.now, tx.now - LOCKED_FOR, most)
        if number > most:
            minutes = -(-(last + LOCKED_FOR - tx.now) // MINUTE)
            raise refused(
                "rate-limited",
                "Too many wrong passwords.",
                f"Wait {minutes} minutes, or ask the owner for a link.",
                reason="too-many-guesses",
                address=visitor.address,
            )


def guessed_right(tx: Tx, login: str, visitor: Visitor) -> None:
    """The row of guesses for the name ends. That of the address only forgets this one: whoever has a password of their
    own would break it with that, and go on guessing at others."""
    browser = _known_browser(tx, login, visitor)
    tx.people.succeeded(browser or _by_name(login))  # a known one says nothing of those that are not
    if not browser:
        tx.people.take_back(_by_address(visitor))


def _right_so_far(tx: Tx, login: str, visitor: Visitor) -> None:
    """After the first of two proofs."""
    if not _known_browser(tx, login, visitor):
        tx.people.take_back(_by_address(visitor))


def _subjects(tx: Tx, login: str, visitor: Visitor) -> dict[str, int]:
    if browser := _known_browser(tx, login, visitor):
        return {browser: GUESSES}
    return {_by_name(login): GUESSES, _by_address(visitor): _FROM_ADDRESS}


def _known_browser(tx: Tx, login: str, visitor: Visitor) -> str:
    """The row of a browser that signed in to this name before; empty for any other one."""
    if not visitor.mark:
        return ""
    person = tx.people.by_login(login)
    kept = None if person is None else tx.people.secret(person.vault, person.id, "password")
    browser = passwords.marked(kept, visitor.mark)
    return f"browser {hashed(f'{login} {browser}')}" if browser else ""


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
    return at_home(tx, person)


def at_home(tx: Tx, person: Person) -> Person:
    """Where a person of several vaults signs in, which is in one of them: a second name and password elsewhere would
    go around what the first one is protected with."""
    everywhere = (tx.people.get(vault, person.id) for vault, _ in tx.people.vaults(person.id))
    return next((each for each in everywhere if each is not None and each.login is not None), person)


def let_in(tx: Tx, person: Person, visitor: Visitor) -> Entry:
    """After the right password: signed in, or asked for a one-time code. Guesses go on being counted until then."""
    if tx.people.secret(person.vault, person.id, "totp") is None:
        guessed_right(tx, person.login or "", visitor)
        return open_browser(tx, person, visitor)
    _right_so_far(tx, person.login or "", visitor)
    secret = secrets.token_urlsafe(32)
    tx.proofs.add_step(Step("code", person.vault, person.id, "", tx.now + STEP_LIFE), hashed(secret))
    return Entry(secret, complete=False)


def open_browser(tx: Tx, person: Person, visitor: Visitor) -> Entry:
    """Signs a browser in, under a secret that nobody knew before."""
    secret = secrets.token_urlsafe(32)
    _trim(tx)
    if visitor.instead:
        tx.people.close(hashed(visitor.instead))
    tx.people.open(Browser(person.vault, person.id, tx.now, tx.now, visitor.device[:100]), hashed(secret))
    audit(tx, actor_of(person), "person:sign-in", person.id)
    kept = tx.people.secret(person.vault, person.id, "password")
    mark = "" if kept is None else passwords.mark(kept, passwords.marked(kept, visitor.mark))
    return Entry(secret, mark=mark)


def actor_of(person: Person) -> Actor:
    """Who acts, when this person does."""
    mode: Mode = "admin" if person.role == "owner" else "write"
    return Actor(vault=person.vault, person=person.id, agent=WEB, mode=mode, connection=WEB, human=True)


def _login(given: str) -> str:
    return unicodedata.normalize("NFKC", given.strip()).casefold()


def _by_name(login: str) -> str:
    # A hash: what people type for a name is sometimes their password.
    return f"name {hashed(login)}"


def _by_address(visitor: Visitor) -> str:
    return f"address {visitor.address}"
