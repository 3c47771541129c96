"""No five copies of one fact: what adds nothing to a better ranked claim is named beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dolmen.domain.memory import Memory
from dolmen.domain.statements import Statement, adds_nothing, statement
from dolmen.services.search import Found

NAMED = 8
"""Copies that a claim names; more are left out, and counted as dropped."""


@dataclass(frozen=True, slots=True)
class Grouped:
    """The candidates without copies, best first, as far as was asked for."""

    heads: tuple[Found, ...]
    copies: Mapping[str, tuple[str, ...]]
    """Per head's ref, the refs of its copies, best first."""


def without_copies(found: Sequence[Found], memories: Mapping[str, Memory], most: int) -> Grouped:
    """The first `most` candidates that are no copies of one before them, always the same for the same candidates."""
    heads: list[Found] = []
    read: list[tuple[Memory, Statement]] = []
    copies: dict[str, list[str]] = {}
    for each in found:
        memory = memories[each.memory]
        says = statement(memory.text)
        original = next((head.id for head, said in read if _copy(memory, says, head, said)), None)
        if original is not None:
            copies.setdefault(original, []).append(each.memory)
        elif len(heads) == most:
            break
        else:
            heads.append(each)
            read.append((memory, says))
    return Grouped(tuple(heads), {ref: tuple(others) for ref, others in copies.items()})


def _copy(memory: Memory, says: Statement, head: Memory, said: Statement) -> bool:
    """Copies of different status, or of different cases, tell different things."""
    return memory.status == head.status and memory.case == head.case and adds_nothing(says, said)
