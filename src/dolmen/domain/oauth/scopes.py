"""Scopes: what a client asks for in words of any of the systems, and the mode that it gets."""

from __future__ import annotations

from collections.abc import Iterable

from dolmen.domain.oauth.errors import OAuthError
from dolmen.domain.values import Mode

_MODES: dict[str, Mode] = {
    "read": "read",
    "suggest": "suggest",
    "write": "write",
    "memory:read": "read",
    "memory:write": "write",
}
SCOPES: tuple[str, ...] = tuple(_MODES)
"""What metadata names. `memory:write` includes reading (C-294), as `write` does."""
_RANK: tuple[Mode, ...] = ("read", "suggest", "write")
_IGNORED = frozenset({"openid", "profile", "email", "offline_access"})
"""What clients ask of every server; there is nothing behind it here, and nothing is lost by its absence."""
LIMIT = 500


def mode_of(scope: str) -> Mode | None:
    """The widest mode that a scope parameter asks for; None when it asks for nothing, which leaves it to the person.

    Raises:
        OAuthError: `invalid_scope` for a word that is no scope here.
    """
    if len(scope) > LIMIT:
        raise OAuthError("invalid_scope", f"scope is longer than {LIMIT} characters.")
    asked = [word for word in scope.split(" ") if word and word not in _IGNORED]
    unknown = [word for word in asked if word not in _MODES]
    if unknown:
        raise OAuthError("invalid_scope", f"Unknown scope. This server has {' '.join(SCOPES)}.")
    return max((_MODES[word] for word in asked), key=_RANK.index, default=None)


def grant_mode(asked: Mode | None, allowed: Mode) -> Mode:
    """The mode of a grant: what the person allowed, and never more than the client asked for."""
    return allowed if asked is None else min(asked, allowed, key=_RANK.index)


def scopes_of(mode: Mode, asked: Iterable[str] = ()) -> str:
    """The scope that a token answer names: the client's own words as far as they were granted, else ours."""
    granted = _RANK.index(mode if mode in _RANK else "write")
    kept = [word for word in asked if word in _MODES and _RANK.index(_MODES[word]) <= granted]
    if not kept or max(_RANK.index(_MODES[word]) for word in kept) < granted:
        kept += [mode_ for mode_ in _RANK[: granted + 1] if mode_ not in kept]
    return " ".join(dict.fromkeys(kept))
