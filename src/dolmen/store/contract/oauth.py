"""Clients that ask to be let in, and the codes and tokens that they were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol

from dolmen.domain.access import Connection

if TYPE_CHECKING:
    from dolmen.domain.oauth import Client, Code, DeviceCode, Token, TokenKind

Origin = Literal["registered", "document"]
"""How a client is known: it registered itself, or its id is the address of its document."""


class OAuth(Protocol):
    """Secrets come and are looked up as hashes. What has expired is returned until it is trimmed; callers say why."""

    def put_client(self, client: Client, origin: Origin) -> None:
        """Adds it, or replaces what is known of it; whether it was approved stays."""

    def client(self, id: str) -> Client | None: ...

    def approve_client(self, id: str, at: int) -> None:
        """A person let it in for the first time: it is kept from then on."""

    def unapproved(self) -> int:
        """How many clients nobody has let in yet."""

    def evict_unapproved(self, keep: int) -> int:
        """Forgets the oldest clients that nobody has let in, so that so many are left; returns how many went."""

    def bound_to(self, vault: str, key: str) -> list[str]:
        """The connections, as far as they hold, of clients that were registered with a key."""

    def add_code(self, code: Code, secret_hash: str) -> None: ...

    def use_code(self, secret_hash: str, at: int) -> Code | None:
        """The code as it was before this use, so that a second use shows; None for one that is unknown. Of many at once
        each waits for the one before it to end, and none of them fails for that."""

    def add_token(self, token: Token, secret_hash: str) -> None: ...

    def token(self, kind: TokenKind, secret_hash: str) -> tuple[Token, Connection] | None:
        """With its connection, whose `revoked_at` and `expires_at` hold for the token too. None when it is unknown, of
        the other kind, or when the person of the connection was removed."""

    def use_refresh(self, secret_hash: str, at: int) -> bool:
        """Whether this is its first use; of several at once exactly one is."""

    def drop_tokens(self, vault: str, connection: str) -> int:
        """Forgets every token and code of a connection, and denies the device that has not come for its own; returns
        how many tokens."""

    def add_device(self, device: DeviceCode, secret_hash: str) -> bool:
        """False when another one waits with the same user code."""

    def device(self, secret_hash: str) -> DeviceCode | None: ...

    def device_of(self, user_code: str) -> DeviceCode | None: ...

    def decide_device(
        self, user_code: str, decision: Literal["allowed", "denied"], vault: str, connection: str, scope: str
    ) -> bool:
        """What a person said, and the scope that they granted; False when it was decided before."""

    def poll_device(self, secret_hash: str, at: int) -> None:
        """The machine asked. Of many at once each waits for the one before it to end."""

    def redeem_device(self, secret_hash: str) -> bool:
        """Whether an allowed one was redeemed now; of several at once exactly one is."""

    def trim(self, now: int, unapproved_before: int) -> int:
        """Forgets codes and tokens that expired, devices an hour after that, and clients that nobody let in and that
        are older than `unapproved_before`; returns how many. A connection
        ends whose code or device nobody redeemed in time."""
