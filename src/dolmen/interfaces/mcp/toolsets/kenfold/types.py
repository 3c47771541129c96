"""Kenfold's six memory types (C-49) and the kinds that they stand for, and back.

A type written as its first kind reads back as itself, and what other toolsets wrote reads as the type that holds its
kind, so the same statement is the same memory whichever toolset says it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, get_args

from dolmen.domain.memory import SUMMARY, Kind

Type = Literal["semantic", "episodic", "project", "preference", "codebase", "temporary"]
TYPES: tuple[Type, ...] = get_args(Type)

KINDS_OF: Mapping[Type, tuple[Kind, ...]] = {
    "semantic": ("fact", "error", "relation", "reference"),
    "episodic": ("episode",),
    "project": ("decision", "convention", "procedure"),
    "preference": ("preference",),
    "codebase": ("code",),
    "temporary": ("state",),
}
"""The kinds of each type, the one that it is written as first. Every kind belongs to exactly one type."""

_TYPE_OF: Mapping[Kind, Type] = {kind: type for type, kinds in KINDS_OF.items() for kind in kinds}


def type_of(kind: Kind) -> Type:
    """The type that a memory of this kind is shown as."""
    return _TYPE_OF[kind]


def kinds_of(types: Iterable[Type]) -> tuple[Kind, ...]:
    """Every kind of these types; none for no type, which means all."""
    return tuple(kind for type in types for kind in KINDS_OF[type])


def label_of(type: Type) -> str:
    """What an episodic memory is to everybody else: a session's summary (C-123)."""
    return SUMMARY if type == "episodic" else ""
