"""Persons: how they prove who they are, and the browsers that they are signed in with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Role = Literal["owner", "member"]
SecretKind = Literal["password", "totp", "passkey"]


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who signs in."""

    vault: str
    id: str
    name: str
    role: Role
    created_at: int
    removed_at: int | None = None
    login: str | None = None
    """The name that they sign in with, of the whole store; None as long as they have not chosen one."""


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser that somebody is signed in with."""

    vault: str
    person: str
    created_at: int
    seen_at: int
    device: str = ""
    """What the person recognises it by: the browser and the system that it named."""


@dataclass(frozen=True, slots=True)
class EntryLink:
    """A link that lets somebody choose a password, once."""

    vault: str
    person: str
    created_at: int
    expires_at: int
    used_at: int | None = None


class People(Protocol):
    """Secrets come and are looked up as hashes."""

    def add(self, person: Person) -> None: ...

    def get(self, vault: str, id: str) -> Person | None: ...

    def by_login(self, login: str) -> Person | None:
        """Who signs in with this name; persons who were removed do not."""

    def all(self, vault: str) -> list[Person]:
        """In the order in which they came, those who were removed too."""

    def change(self, vault: str, id: str, *, name: str | None = None, login: str | None = None) -> None:
        """Raises `conflict` when somebody else has the login."""

    def vaults(self, id: str) -> list[tuple[str, str]]:
        """(id, name) of each vault that a person is in, their oldest membership first."""

    def leave(self, vault: str, id: str) -> None:
        """How they sign in goes along to another vault of theirs, if there is one: to be called before they are removed
        from this one."""

    def remove(self, vault: str, id: str, at: int) -> bool:
        """They sign in no more, and their connections open nothing; what they wrote stays theirs. Their secrets,
        browsers and links are gone. False when they were removed before."""

    def hold(self, vault: str, id: str) -> None:
        """Until the transaction ends, no other one passes here for the same person; what is read of them from now on is
        their newest state."""

    def secret(self, vault: str, id: str, kind: SecretKind) -> str | None: ...

    def set_secret(self, vault: str, id: str, kind: SecretKind, data: str, at: int) -> None: ...

    def open(self, browser: Browser, secret_hash: str) -> None:
        """Signs a browser in."""

    def browser(self, secret_hash: str) -> tuple[Browser, Person] | None:
        """Not for a person who was removed."""

    def see(self, secret_hash: str, at: int) -> None: ...

    def browsers(self, vault: str, id: str) -> list[tuple[str, Browser]]:
        """All of a person, each after the hash of its secret, the one that was here last first."""

    def close(self, secret_hash: str) -> None:
        """Signs a browser out."""

    def close_all(self, vault: str, id: str, *, but: str = "") -> int:
        """Signs a person out everywhere, but for one browser if its hash is given; returns of how many browsers. Those
        that still have to bring a code are out too."""

    def add_link(self, link: EntryLink, secret_hash: str) -> None:
        """A person has one link at a time: earlier ones are gone."""

    def use_link(self, secret_hash: str, at: int) -> EntryLink | None:
        """The link as it was before this use; of several at once exactly one sees it unused."""

    def link(self, secret_hash: str) -> EntryLink | None: ...

    def guess(self, subject: str, at: int, past: int, most: int) -> tuple[int, int]:
        """Counts a guess about something; (how many in a row, when the last was that still counted). A row whose last
        one was at `past` or before begins anew; from `most` on, further ones do not make it last longer. Of several at
        once each has another number."""

    def succeeded(self, subject: str) -> None:
        """The row ends."""

    def take_back(self, subject: str) -> None:
        """One guess of the row was right and counts no more; the row goes on."""

    def trim(self, seen_before: int, created_before: int, failed_before: int, now: int) -> int:
        """Forgets browsers that were not seen since, or were signed in before; old failures; links that expired."""
