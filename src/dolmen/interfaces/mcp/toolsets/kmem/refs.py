"""kmem's own words for what Dolmen calls otherwise: addresses, kinds of notes, refusals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import wraps
from typing import Any

from dolmen.domain.errors import DolmenError
from dolmen.domain.memory import KINDS, Kind
from dolmen.domain.note import memory_id, parse_ref
from dolmen.domain.values import Actor
from dolmen.interfaces.mcp.presenting import Json
from dolmen.interfaces.mcp.registry import Arguments, Handler
from dolmen.interfaces.mcp.toolsets.kmem.schemas import KINDS as NOTE_KINDS
from dolmen.interfaces.mcp.toolsets.kmem.schemas import Kind as NoteKind
from dolmen.services.runtime import Runtime

SCHEME, OURS = "kmem://", "dolmen://"
PROPOSAL = "prop_"
_MEMORY = "memory/"

_KINDS: Mapping[str, tuple[Kind, ...]] = {
    "decision": ("decision",),
    "convention": ("convention",),
    "state": ("state",),
    "reference": ("reference",),
}


def outward(ref: str) -> str:
    """A ref as every result of kmem names it: `kmem://…`; a memory that is no block, `kmem://memory/<id>` (C-233)."""
    if ref.startswith(OURS):
        return SCHEME + ref.removeprefix(OURS)
    return ref if "://" in ref else SCHEME + _MEMORY + ref


def inward(ref: str) -> str:
    """A ref as it may come, `kmem://`, `sp://`, `dolmen://` or bare, as the services read it."""
    name = ref.strip()
    for scheme in (SCHEME, "sp://", OURS):
        if name.startswith(scheme + _MEMORY) and (id := memory_id(name.removeprefix(scheme))):
            return id
    return name


def kinds_of(types: Iterable[NoteKind]) -> tuple[Kind, ...]:
    """The kinds that types of notes stand for; `note` is everything that the other four are not (C-72)."""
    others = {kind for kinds in _KINDS.values() for kind in kinds}
    plain = tuple(kind for kind in KINDS if kind not in others)
    return tuple(kind for type in types for kind in _KINDS.get(type, plain))


def kind_named(label: str, kind: Kind) -> NoteKind:
    """What kmem calls a kind: one of its five, by which recall's `types` finds it (C-72); a relation line, or a word of
    the writer's own, is a `note`."""
    for name in (label, kind):
        if name in NOTE_KINDS:
            return next(each for each in NOTE_KINDS if each == name)
    return "note"


_GONE = "Call remember to create another note, or ask a person to restore this one."
"""kmem has no tool that restores."""


class Refusal(DolmenError):
    """A refusal with the code that kmem's document gives it."""

    def __init__(self, error: DolmenError, code: str) -> None:
        fix = _GONE if error.code == "gone" else _spoken(error.fix)
        super().__init__(error.code, _spoken(error.message), fix, **_plain(error.data))
        self.said = code

    def as_dict(self) -> dict[str, object]:
        return {**super().as_dict(), "code": self.said}


def speaking(handler: Handler) -> Handler:
    """The handler, whose refusals name addresses and codes as kmem does."""

    @wraps(handler)
    def answered(rt: Runtime, actor: Actor, args: Arguments) -> Json:
        try:
            return handler(rt, actor, args)
        except DolmenError as error:
            raise Refusal(error, _code(error, args)) from error

    return answered


def _code(error: DolmenError, args: Arguments) -> str:
    """C-102: `note-not-found` for a note that is not there, or not any more."""
    ref = str(args.get("ref") or args.get("from") or args.get("supersedes") or "")
    if args.get("op") == "withdraw":
        return error.code  # its ref names no note
    if error.code == "gone" and "#blk_" in ref and "reason" in error.data:
        return "note-not-found"  # the whole note is gone, and that has one word whatever part is asked for
    about_note = parse_ref(inward(ref)) is not None and not ref.startswith(PROPOSAL) and "#blk_" not in ref
    missing = error.code in ("not-found", "gone") and about_note and not args.get("section")
    return "note-not-found" if missing else error.code


def _plain(data: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _spoken(value) if isinstance(value, str) else value for name, value in data.items()}


def _spoken(text: str) -> str:
    return text.replace(OURS, SCHEME)


def spoken(value: Mapping[str, str]) -> dict[str, str]:
    """Sentences that name addresses, with kmem's scheme."""
    return {name: _spoken(text) for name, text in value.items()}
