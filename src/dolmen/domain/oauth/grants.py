"""What a sign-in leaves behind: a code for a minute, then tokens for a connection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dolmen.domain.values import DAY, HOUR, MINUTE

CODE_LIFE = MINUTE
ACCESS_LIFE = HOUR
REFRESH_LIFE = 30 * DAY
"""Lifetimes (C-298)."""

TokenKind = Literal["access", "refresh"]


@dataclass(frozen=True, slots=True)
class Code:
    """An authorization code, as the store has it; the code itself is kept only as a hash."""

    client: str
    redirect: str
    challenge: str
    vault: str
    connection: str
    """The connection that the person's consent made."""
    resource: str
    scope: str
    created_at: int
    expires_at: int
    used_at: int | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """A token, as the store has it; the token itself is kept only as a hash. Its family is its connection's tokens."""

    kind: TokenKind
    client: str
    vault: str
    connection: str
    resource: str
    scope: str
    created_at: int
    expires_at: int
    used_at: int | None = None
    """When a refresh token was first exchanged."""
