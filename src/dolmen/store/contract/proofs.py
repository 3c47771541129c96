"""What people prove themselves with besides a password: one-time codes, recovery codes, passkeys."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, Protocol

from dolmen.store.contract.people import Person

StepKind = Literal["code", "new-code", "passkey", "new-passkey"]
"""What a browser has to bring next: a one-time code after the password; the first code of a new secret; the answer of a
passkey to a challenge; a new passkey."""


@dataclass(frozen=True, slots=True)
class Passkey:
    """A public key whose private half an authenticator keeps."""

    vault: str
    person: str
    id: str
    """The credential's id, base64url. One in the whole store."""
    key: str
    """The public key: DER of a SubjectPublicKeyInfo, base64url."""
    counter: int
    """How often the authenticator said that it had signed; 0 from one that does not count."""
    label: str
    created_at: int
    used_at: int | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """Between two requests of one browser."""

    kind: StepKind
    vault: str
    person: str
    """Empty, like the vault, as long as nobody knows who it is."""
    data: str
    """The challenge, or the secret that waits for its first code."""
    expires_at: int


class Proofs(Protocol):
    """Secrets of browsers and recovery codes come and are looked up as hashes."""

    def drop_codes(self, vault: str, person: str) -> bool:
        """No one-time codes and no recovery codes any more; False when there were none."""

    def use_code(self, vault: str, person: str, at: int) -> bool:
        """Whether the code of that time is later than the one that was taken last; of several at once one is."""

    def set_recovery(self, vault: str, person: str, hashes: Collection[str], at: int) -> None:
        """In place of those before."""

    def use_recovery(self, vault: str, person: str, code_hash: str) -> bool:
        """Whether there was such a code; it is gone then."""

    def recovery_left(self, vault: str, person: str) -> int: ...

    def drop_password(self, vault: str, person: str) -> bool: ...

    def add_passkey(self, passkey: Passkey) -> None:
        """Raises `conflict` for one that somebody has already."""

    def passkeys(self, vault: str, person: str) -> list[Passkey]:
        """In the order in which they came."""

    def passkey(self, id: str) -> tuple[Passkey, Person] | None:
        """Not of a person who was removed."""

    def use_passkey(self, seen: Passkey, counter: int, at: int) -> bool:
        """It signed, and says how often by now. False when it has changed since it was read."""

    def drop_passkey(self, vault: str, person: str, id: str) -> bool: ...

    def add_step(self, step: Step, secret_hash: str) -> None:
        """In place of one of the same kind."""

    def step(self, secret_hash: str, kind: StepKind) -> Step | None: ...

    def take_step(self, secret_hash: str, kind: StepKind) -> Step | None:
        """It is gone afterwards; of several at once exactly one gets it."""

    def trim(self, now: int) -> int:
        """Forgets steps that expired; returns how many."""
