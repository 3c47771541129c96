"""Refresh tokens: each is used once, and one that comes back tells of a theft.

A client whose answer was lost, or that refreshes twice at the same time, sends the same token again within seconds
(B082). For a short while that gets another token of the same family; later it ends the whole family, for then somebody
else holds a copy (OAuth 2.1 §4.3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dolmen.domain.values import SECOND

GRACE = 30 * SECOND

RefreshDecision = Literal["rotate", "again", "expired", "revoked", "reuse"]
"""`rotate`: first use, a new token replaces it. `again`: a retry within the grace, another new token. `expired`,
`revoked`: refused, nothing else happens. `reuse`: refused, and the family ends."""


@dataclass(frozen=True, slots=True)
class Refresh:
    """A refresh token as the store has it."""

    family: str
    """The id of the grant that all its successors share."""
    expires_at: int
    used_at: int | None = None
    """When it was first exchanged."""
    revoked_at: int | None = None
    """When its family ended."""


def decide_refresh(token: Refresh, now: int) -> RefreshDecision:
    """What presenting a refresh token at `now` leads to."""
    if token.revoked_at is not None:
        return "revoked"
    if token.used_at is not None:
        return "again" if now - token.used_at <= GRACE else "reuse"
    if token.expires_at <= now:
        return "expired"
    return "rotate"
