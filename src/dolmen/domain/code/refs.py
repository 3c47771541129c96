"""References to code: their states, what a check does to them, and when a memory is stale (C-226, C-231).

A reference is anchored to what it refers to at a commit: the hash of a file, or of a symbol's definition. From then on
a check says whether that is still so. What nobody could check says nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

RefState = Literal["pending", "current", "changed", "missing", "unresolved"]
REF_STATES: tuple[RefState, ...] = get_args(RefState)
"""`pending`: not anchored yet. `unresolved`: looked for and not found when it was to be anchored; looked for again
later. `current`, `changed`, `missing`: what the last check of an anchored one found."""

Mark = Literal["", "moved", "changed", "gone"]
"""What the code of a memory says about it: nothing, it is elsewhere now, a symbol changed, a file or symbol is gone.
The last two make it stale."""

MARK = "code"
"""The key of the mark among a memory's `attrs`, where a search reads it without another look-up."""

_COMMIT = re.compile(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class CodeRef:
    """A file or symbol that a text of a memory mentions."""

    memory: str
    statement: str
    """The `content_key` of the text that mentions it; a memory whose text changed has references of both."""
    path: str
    symbol: str
    position: int = 0
    """Counted in the order of mention."""
    state: RefState = "pending"
    anchor_commit: str = ""
    anchor_hash: str = ""
    resolved_path: str = ""
    """Where it is now, when that is not `path`: found by search, moved, renamed."""
    checked_commit: str = ""
    checked_at: int | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """What clients are asked to look at; references that share all of it are looked at once."""

    path: str
    symbol: str
    anchor_commit: str = ""
    anchor_hash: str = ""
    checked_commit: str = ""
    """The last commit at which somebody looked."""


@dataclass(frozen=True, slots=True)
class Check:
    """What a client found for a target at a commit."""

    path: str
    symbol: str
    anchor_commit: str = ""
    """The anchor that it was compared with; empty when it is to be anchored now."""
    found: bool = False
    hash: str = ""
    resolved_path: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """A reference as readers see it (C-232)."""

    path: str
    symbol: str
    state: RefState
    checked_commit: str
    resolved_path: str = ""


def valid_commit(text: str) -> bool:
    """Whether a text is a commit id: 7 to 64 lowercase hexadecimal digits."""
    return _COMMIT.fullmatch(text) is not None


def scheme(hash: str) -> str:
    """How a hash was made: `blob` of `blob:1a2b…`, nothing of a bare one. Hashes of two schemes cannot be compared."""
    name, colon, _ = hash.partition(":")
    return name if colon else ""


def checked(ref: CodeRef, check: Check, commit: str, at: int) -> CodeRef | None:
    """The reference after a check of its target at a commit; None when the check says nothing about it.

    A check without an anchor anchors what has none yet. One with an anchor is compared with that anchor only.
    """
    seen = replace(ref, checked_commit=commit, checked_at=at, resolved_path=check.resolved_path)
    if not check.anchor_commit:
        if ref.anchor_hash:
            return None
        if not check.found:
            return replace(seen, state="unresolved")
        return replace(seen, state="current", anchor_commit=commit, anchor_hash=check.hash)
    if not ref.anchor_hash or ref.anchor_commit != check.anchor_commit:
        return None
    if not check.found:
        return replace(seen, state="missing", resolved_path=ref.resolved_path)
    if check.hash == ref.anchor_hash:
        return replace(seen, state="current")
    return replace(seen, state="changed") if scheme(check.hash) == scheme(ref.anchor_hash) else None


def stale(ref: CodeRef | View) -> bool:
    """Whether what a memory says of it may no longer hold. A changed file alone is not: files change all the time."""
    return ref.state == "missing" or (ref.state == "changed" and ref.symbol != "")


def moved(ref: CodeRef | View) -> bool:
    """Whether it is no longer where the memory says. A path of which the memory said only the end says it still."""
    now = ref.resolved_path
    elsewhere = now not in ("", ref.path) and not now.endswith(f"/{ref.path}")
    return bool(ref.path) and elsewhere and ref.state in ("current", "changed")


def mark_of(refs: Iterable[CodeRef | View]) -> Mark:
    """What a memory's references say about it together: the worst of them."""
    found = {_mark(ref) for ref in refs}
    worst: tuple[Mark, ...] = ("gone", "changed", "moved")
    return next((mark for mark in worst if mark in found), "")


def _mark(ref: CodeRef | View) -> Mark:
    if stale(ref):
        return "gone" if ref.state == "missing" else "changed"
    return "moved" if moved(ref) else ""


def said(ref: CodeRef | View) -> str:
    """What a reader must know of a reference, in a few words; empty when it is as the memory says (B160)."""
    what = " in ".join(filter(None, (ref.symbol, ref.path)))
    if ref.state == "missing":
        return f"{what} is gone"
    now = f"is now in {ref.resolved_path}" if ref.symbol else f"is now {ref.resolved_path}"
    parts = (["has changed"] if stale(ref) else []) + ([now] if moved(ref) else [])
    return f"{what} {' and '.join(parts)}" if parts else ""


def with_mark(attrs: Mapping[str, Any], mark: Mark) -> dict[str, Any]:
    """A memory's `attrs` with the mark, or without one."""
    rest = {name: value for name, value in attrs.items() if name != MARK}
    return {**rest, MARK: mark} if mark else rest


def views(refs: Iterable[CodeRef]) -> tuple[View, ...]:
    """What readers see; not what nobody could find."""
    return tuple(
        View(ref.path, ref.symbol, ref.state, ref.checked_commit, ref.resolved_path)
        for ref in sorted(refs, key=lambda ref: ref.position)
        if ref.state != "unresolved"
    )
