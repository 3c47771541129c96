"""No five copies of one fact: what adds nothing to a better ranked claim is named beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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


@dataclass(slots=True)
class _Head:
    found: Found
    memory: Memory
    says: Statement
    copies: list[str]


def without_copies(found: Sequence[Found], memories: Mapping[str, Memory], most: int) -> Grouped:
    """The first `most` candidates that are no copies of one before them, always the same for the same candidates. Of a
    statement and one that says a little more, the latter stands in the place of the better ranked."""
    heads: list[_Head] = []
    for each in found:
        memory = memories[each.memory]
        says = statement(memory.text)
        if not any(_joins(head, each, memory, says) for head in heads):
            if len(heads) == most:
                break
            heads.append(_Head(each, memory, says, []))
    return Grouped(
        tuple(head.found for head in heads), {head.found.memory: tuple(head.copies) for head in heads if head.copies}
    )


def _joins(head: _Head, found: Found, memory: Memory, says: Statement) -> bool:
    """Whether it is a copy, which the head then counts. Copies of different status, or of different cases, tell
    different things."""
    if memory.status != head.memory.status or memory.case != head.memory.case:
        return False
    if adds_nothing(says, head.says):
        head.copies.append(memory.id)
        return True
    if adds_nothing(head.says, says):
        head.copies.insert(0, head.memory.id)
        head.found = replace(found, score=max(found.score, head.found.score))
        head.memory, head.says = memory, says
        return True
    return False
