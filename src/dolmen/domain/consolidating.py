"""Which of two statements can go? The rules alone, for where there is no model, and the gate that no model passes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dolmen.domain.competing import competing, numbers, says_not
from dolmen.domain.extraction import details
from dolmen.domain.memory import Memory
from dolmen.domain.statements import adds_nothing, other_value, statement
from dolmen.domain.text import analyze, content_key, trigram_similarity, weight

Verdict = Literal["duplicate", "conflict"]
ALIKE = 0.6
"""Trigram similarity from which two statements that lack no word of each other count as one."""
_SAYS_SOMETHING = 0.35
"""Weight of a token above that of function words and endings."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What is between two memories, and which of them stays."""

    verdict: Verdict
    keep: Memory
    drop: Memory
    why: str


def judged(a: Memory, b: Memory) -> Judgement | None:
    """What the rules alone say of two memories of one scope, whichever comes first; None when a reader has to decide.

    A contradiction keeps the newer one. A duplicate may go only when it adds nothing to the other (C-267).
    """
    older, newer = sorted((a, b), key=lambda memory: (memory.created_at, memory.id))
    if content_key(a.text) == content_key(b.text):
        return _equals(older, newer, "the same words")
    if a.kind != b.kind:
        return None
    if reason := contradiction(a.text, b.text):
        return Judgement("conflict", newer, older, reason)
    first, second = statement(older.text), statement(newer.text)
    old_goes = adds_nothing(first, second) and not lost(older, newer)
    new_goes = adds_nothing(second, first) and not lost(newer, older)
    if old_goes and new_goes:
        return _equals(older, newer, "nearly the same words")
    if old_goes:
        return Judgement("duplicate", newer, older, "the newer one says all of it and more")
    if new_goes:
        return Judgement("duplicate", older, newer, "the older one says all of it and more")
    return None


def contradiction(a: str, b: str) -> str | None:
    """Why two statements cannot both hold, as far as words tell: all but one value, or all but a `not`, is the same."""
    if other_value(statement(a), statement(b)):
        return "different values"
    found = competing([(str(n), text, " ".join(dict.fromkeys(analyze(text)))) for n, text in enumerate((a, b))])
    return "one says not" if found and found[0][2] == "one says not" else None


def covered(text: str, by: str) -> bool:
    """Whether another statement says all that this one says, in nearly the same words."""
    return trigram_similarity(text, by) >= ALIKE and not contradiction(text, by) and not _lacking(text, by)


def lost(drop: Memory, keep: Memory) -> frozenset[str]:
    """Names, numbers and negations of a memory that would be gone with it (C-267). Empty: it may be a duplicate."""
    gone = (details(drop.text) - details(keep.text)) | (numbers(drop.text) - numbers(keep.text))
    return gone | {"not"} if says_not(drop.text) != says_not(keep.text) else gone


def _equals(older: Memory, newer: Memory, why: str) -> Judgement:
    """Of two equals: what a person wrote, then what somebody checked, then the longer, then the older one stays."""
    keep = max(newer, older, key=_standing)
    return Judgement("duplicate", keep, newer if keep is older else older, why)


def _standing(memory: Memory) -> tuple[bool, bool, bool, int, int]:
    checked = memory.verification == "verified"
    return memory.trust == "user", checked, memory.pinned, len(memory.text), -memory.created_at


def _lacking(text: str, other: str) -> set[str]:
    """What a text says that another one does not."""
    telling = {token for token in analyze(text) if weight(token) > _SAYS_SOMETHING}
    more = numbers(text) - numbers(other) | (details(text) - details(other))
    return telling - set(analyze(other)) | more | ({"not"} if says_not(text) != says_not(other) else set())
